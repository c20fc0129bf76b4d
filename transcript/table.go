package transcript

import "github.com/memkernel/memkernel"

// table lists all dialects. The dialects of files are in the order in which [Dialects] returns
// them.
var table = []dialectRow{claudeDialect, piDialect, codexDialect, copilotDialect, geminiCLIDialect, openCodeDialect, anthropicDialect, openAIDialect, geminiDialect}

// dialectRow describes a dialect.
type dialectRow struct {
	// Name is the dialect's name, as users write it.
	Name Dialect
	// Lines are signs that a line of a session log is in the dialect. The dialect with the heaviest
	// sign wins, and among equal ones the first in the table.
	Lines []sign
	// Signs is a regular expression for the members and values of a JSON document that point to
	// the dialect. A dialect has either Signs, and its files are one document each, or Lines, and
	// its files have a record a line.
	Signs string
	// Spread reports whether a file may also be one record that spans many lines.
	Spread bool
	// Parse reads a record, or a value of a document.
	Parse func(*Record) error
	// Assemble assembles the entries of a file. finish may be nil. A dialect without Assemble is one
	// of requests alone: hosts neither write files in it nor hand over single messages in it.
	Assemble func(*Session) (add func(*Record), finish func())
	// Blocks names the dialect whose content blocks it uses, "" for its own.
	Blocks Dialect
	// Known are the types, separated by blanks, of blocks and items that are understood, in addition to texts, calls,
	// results and media. A block of another type stays in every prompt.
	Known string
	// Notices are beginnings of lines. From such a line on, nothing in a text is a person's words.
	Notices []string
	// Items is nil for a dialect of files alone, API for a dialect that no provider takes.
	Items *items
	API   *api
}

// sign identifies lines of a dialect. A line has the sign if it has all the members, which are
// separated by blanks, and one of the types. If types is nil, any type fits.
type sign struct {
	weight  int
	members string
	types   map[string]bool
}

// items describes how a host hands over its messages value by value, and how it gets them back.
type items struct {
	// Read makes a message of a value. It returns nil for a value that the host doesn't send.
	Read func(value string) (*memkernel.Message, error)
	// Assemble is as for a file.
	Assemble func(*Session) (add func(*Record), finish func())
	// Write returns a message as values. raw is the host's own value, "" if the message has none or
	// several. calls is the result of Reworded.
	Write func(m memkernel.Message, raw string, calls map[string]bool) []string
	// Reworded returns the ids of the calls that must be sent, together with their results, in
	// other words than the host's because one of the two is. It may be nil.
	Reworded func(planned, host []memkernel.Message) map[string]bool
}

// api describes how a provider takes a conversation.
type api struct {
	// Format is the name of the request's format.
	Format Format
	// List is the member of a request that holds the conversation. System is the member that
	// holds the system prompt, "" if there is none. With Lead, system messages that open the
	// conversation belong to the system prompt.
	List, System string
	Lead         bool
	// Names are other spellings that the API takes of members' names. It may be nil.
	Names map[string]string
	// Instructions reads the system prompt.
	Instructions func(*cursor) []memkernel.Part
	// Definitions reads the tools. Nil means [readTools].
	Definitions func(*cursor) []memkernel.Tool
	// Offers reads the tools that an item of the conversation defines. It may be nil.
	Offers func(raw string) []memkernel.Tool
	// ModelAside reports whether a request names the model outside its body.
	ModelAside bool
	// Element reads an element of the conversation.
	Element func(raw string) (*memkernel.Message, error)
	// Pair returns a function that pairs the results in the next message with calls in earlier
	// ones.
	Pair func() func(before []memkernel.Message, m *memkernel.Message)
	// Join adds an element to the preceding message of the assistant. It is nil unless an answer of
	// the API may be several elements.
	Join func(into, m *memkernel.Message)
	// Render writes the members of a request except the cache's key and the closing brace. Append
	// writes one block without markers, or nothing if the API has no form for it.
	Render func(*renderer)
	Append func(dst []byte, role memkernel.Role, p *memkernel.Part) []byte
	// Takes reports whether the API takes a block of an unknown type. Refuses returns why
	// thinking can't be sent, "" if it can.
	Takes   func(p *memkernel.Part) bool
	Refuses func(r *renderer, msg int, p *memkernel.Part) string
	Tools   toolShape
	// Rewrite writes another conversation into a client's request. It returns the list and the
	// members that are replaced.
	Rewrite func(*renderer, *Body) (list string, members map[string]string)
	// Markers finds the client's cache markers. It may be nil.
	Markers func(*Body) markers
}

// markers are the cache markers that a client set.
type markers struct {
	// Fixed are those on tools and system prompt, Messages those in the conversation.
	Fixed, Messages int
	// Automatic reports whether the provider is asked to mark the last block itself.
	Automatic bool
	// Short reports whether a fixed or automatic marker requests the shorter lifetime. Long
	// reports whether a marker in the messages, or an automatic marker, requests an hour.
	Short, Long bool
}

// Any reports whether the client sets markers at all.
func (m markers) Any() bool { return m.Automatic || m.Fixed+m.Messages > 0 }

// readOne returns a function that reads a message by itself.
func readOne(parse func(*Record) error) func(raw string) (*memkernel.Message, error) {
	return func(raw string) (*memkernel.Message, error) {
		e := Record{Raw: raw}
		err := parse(&e)
		return e.Message, err
	}
}

// pairByID pairs calls and results by their ids alone.
func pairByID() func(before []memkernel.Message, m *memkernel.Message) { return adopt }

// Document reports whether a file is one JSON document.
func (d *dialectRow) Document() bool { return d.Signs != "" }

// Rank orders dialects: requests first, then other forms that providers take, then the rest.
func (d *dialectRow) Rank() int {
	switch {
	case d.Document():
		return 0
	case d.API != nil:
		return 1
	}
	return 2
}
