package tools

// MaxText is the longest text of an answer.
const MaxText = maxText

// ErrUnknownTool is the error of a call of a tool that the set doesn't have.
var ErrUnknownTool = errUnknownTool
