package consolidation

// The functions that the tests from outside the package judge.
var (
	Important = important
	Present   = present
	MakeTags  = makeTags
	TagEntry  = tagEntry
	AsAgent   = asAgent
)

const (
	Decision = decision
	Lesson   = lesson
)
