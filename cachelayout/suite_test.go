package cachelayout

import "github.com/memkernel/memkernel/internal/suite"

func init() { suite.Quick(10) }
