package kernel_test

import "github.com/memkernel/memkernel/internal/suite"

func init() { suite.Quick(8) }
