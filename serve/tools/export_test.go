package tools

// MaxText is the longest text of an answer.
const MaxText = maxText

// The names that the tests from outside the package use.
var (
	ErrUnknownTool = errUnknownTool
)

// Formats lists all formats.
func Formats() []Format { return formats }
