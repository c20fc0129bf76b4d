package toolcall

// Act is what a page is the trace of.
type Act uint8

const (
	// ActOther is the result of any other tool.
	ActOther Act = iota
	// ActUser are a user's words, ActSay the assistant's with the inputs of its
	// calls, ActEdit the same where a call changes files.
	ActUser
	ActSay
	ActEdit
	// ActRead is the content of a file, ActEdited what a change of one returned.
	ActRead
	ActEdited
	// ActSearch is what a search for files or text returned, ActShell a command's
	// output.
	ActSearch
	ActShell
)

var actNames = [...]string{"other result", "user", "say", "edit", "read result", "edit result", "search result", "shell result"}

func (a Act) String() string { return actNames[a] }

// Dialogue reports whether the act is words or a tool input rather than a result.
func (a Act) Dialogue() bool { return a == ActUser || a == ActSay || a == ActEdit }

var searchTools = Names("grep glob find search search_files search_code list list_files list_directory ls ripgrep")

// ActOf returns what the result of a call is the trace of.
func ActOf(tool, input string) Act {
	switch k, _ := Classify(tool, input); {
	case k == CallRead:
		return ActRead
	case k == CallEdit:
		return ActEdited
	case searchTools[baseTool(tool)]:
		return ActSearch
	case shellTools[baseTool(tool)]:
		return ActShell
	}
	return ActOther
}
