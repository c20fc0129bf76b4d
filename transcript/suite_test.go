package transcript

import "github.com/memkernel/memkernel/internal/suite"

func init() { suite.Quick(100) }
