package mask

import "github.com/memkernel/memkernel/internal/suite"

func init() { suite.Quick(10) }

// everything has all rules and no exceptions.
var everything *Masker
