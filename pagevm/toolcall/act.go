package toolcall

import "github.com/memkernel/memkernel/internal/textutil"

// Act is the kind of act that produced a page.
type Act uint8

const (
	// ActOther is the result of any other tool.
	ActOther Act = iota
	// ActUser is a user's words. ActSay is the assistant's words with the inputs of its calls.
	// ActEdit is the assistant's words if one of the calls changes files.
	ActUser
	ActSay
	ActEdit
	// ActRead is the content of a file. ActEdited is the result of changing a file.
	ActRead
	ActEdited
	// ActSearch is the result of a search for files or text. ActShell is a command's output.
	ActSearch
	ActShell
)

var searchTools = textutil.Set("grep glob find search search_files search_code list list_files list_directory list_dir ls ripgrep " +
	"search_file_content grep_search grep_files file_search semantic_search codebase_search list_code_definition_names")

// actOf returns the act that produced the result of a call.
func actOf(base string, k kind) Act {
	switch {
	case k == CallRead:
		return ActRead
	case k == CallEdit:
		return ActEdited
	case among(searchTools, base):
		return ActSearch
	case among(shellTools, base):
		return ActShell
	}
	return ActOther
}
