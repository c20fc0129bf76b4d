package fts5

import "github.com/memkernel/memkernel/internal/suite"

func init() { suite.Quick(10) }
