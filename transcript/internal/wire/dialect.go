// Package wire is what dialects have in common: the row that describes one, JSON read and
// written in place, parts with their raw bytes, calls and their results, the log that
// records come to, the request that is written. It knows no dialect by name, and leaves
// files, views and validity to package transcript.
package wire

import (
	"strings"

	"github.com/memkernel/memkernel"
)

// Dialect is what a dialect knows of itself.
type Dialect struct {
	// Name is how the dialect is called.
	Name string
	// Sniff returns how sure it is of a line of a session log by its keys and its type: 0 is
	// not at all. The surest wins, and of equals the first in the table.
	Sniff func(typ string, has map[string]bool) int
	// Words are signs of the dialect in a JSON document, separated by blanks, by the place where
	// they occur. A dialect has either Words, and its files are one document each, or Sniff, and
	// its files have a record a line.
	Words map[Place]string
	// Spread: a file may also be one record over many lines.
	Spread bool
	// Parse reads a record, or a value of a document.
	Parse func(*Entry) error
	// Assemble puts the entries of a file together; finish may be nil.
	Assemble func(*Log) (add func(*Entry), finish func())
	// Blocks names the dialect of which it writes the content blocks, "" for its own.
	Blocks string
	// Known are the types of blocks and items that are understood, in addition to texts, calls,
	// results and media. One of another type stays in every prompt.
	Known []string
	// Notices begin lines by which the hosts end what a person typed.
	Notices []string
	// Items is nil for a dialect of files alone, API for one that no provider takes.
	Items *Items
	API   *API
}

// Items is how a host hands over its messages value by value, and gets them back.
type Items struct {
	// Read makes a message of a value, nil if the host doesn't send it.
	Read func(value string) (*memkernel.Message, error)
	// Assemble is as for a file.
	Assemble func(*Log) (add func(*Entry), finish func())
	// Apart reports whether no message depends on those before it.
	Apart bool
	// Write spells a message as values; raw is the host's own, "" if it is none or of
	// several. calls are those of Reworded.
	Write func(m memkernel.Message, raw string, calls map[string]bool) []string
	// Reworded returns the calls of which both halves go out in other words than the host's,
	// since one does. It may be nil.
	Reworded func(planned, host []memkernel.Message) map[string]bool
}

// API is how a provider takes a conversation.
type API struct {
	// Format is how the shape of its requests is called.
	Format string
	// List is the member of a request that holds the conversation, System that of the
	// system prompt, "" if there is none. With Lead, system messages that open the
	// conversation belong to the system prompt.
	List, System string
	Lead         bool
	// Names are other spellings that the API takes of members' names. It may be nil.
	Names map[string]string
	// Instructions reads the system prompt.
	Instructions func(*Cursor) []memkernel.Part
	// Definitions reads the tools; nil is [ReadTools].
	Definitions func(*Cursor) []memkernel.Tool
	// Offers reads the tools that an item of the conversation defines. It may be nil.
	Offers func(raw string) []memkernel.Tool
	// ModelAside: the model is no member of a request.
	ModelAside bool
	// Element reads an element of the conversation.
	Element func(raw string) (*memkernel.Message, error)
	// Pair makes a function that ties the next message to those before it.
	Pair func() func(before []memkernel.Message, m *memkernel.Message)
	// Join adds an element to the assistant's message before it, where an answer comes in
	// several. It may be nil.
	Join func(into, m *memkernel.Message)
	// Render writes the members of a request but for further parameters and the closing
	// brace, Append one block without markers; nothing if the API has no place for it.
	Render func(*Renderer)
	Append func(dst []byte, role memkernel.Role, p *memkernel.Part) []byte
	// Takes judges a block of an unknown type, Refuses returns why thinking can't be sent.
	Takes   func(p *memkernel.Part) bool
	Refuses func(r *Renderer, msg int, p *memkernel.Part) string
	Tools   ToolShape
	// Rewrite writes another conversation into a client's request: the list, and members
	// to replace.
	Rewrite func(*Renderer, *Envelope) (list string, members map[string]string)
	// Markers finds the client's cache markers. It may be nil.
	Markers func(*Envelope) Markers
}

// Envelope is what a client's request holds beside what is sent in its place.
type Envelope struct {
	// Raw is all of it, Lead the elements of the list that are the system prompt.
	Raw, Lead string
	// Member returns the JSON of a member, "" if there is none.
	Member   func(name string) string
	Messages []memkernel.Message
	// Markers are the client's own.
	Markers Markers
}

// Markers are the cache markers that a client set.
type Markers struct {
	// Fixed are those on tools and system prompt, Messages those in the conversation.
	Fixed, Messages int
	// Automatic reports whether the provider is asked to mark the last block itself.
	Automatic bool
	// Short reports whether one of the fixed or the automatic asks for the shorter
	// lifetime, Long that one in the messages or the automatic asks for an hour.
	Short, Long bool
}

// Any reports whether the client sets markers at all.
func (m Markers) Any() bool { return m.Automatic || m.Fixed+m.Messages > 0 }

// One reads a message by itself.
func One(parse func(*Entry) error) func(raw string) (*memkernel.Message, error) {
	return func(raw string) (*memkernel.Message, error) {
		e := Entry{Raw: raw}
		err := parse(&e)
		return e.Message, err
	}
}

// Answers ties calls to their results by [Adopt]: a message needs no more.
func Answers() func(before []memkernel.Message, m *memkernel.Message) { return adopt }

// Document reports whether a file is one JSON document.
func (d *Dialect) Document() bool { return d.Words != nil }

// Rank puts requests before other forms that providers take, and these before the rest.
func (d *Dialect) Rank() int {
	switch {
	case d.Document():
		return 0
	case d.API != nil:
		return 1
	}
	return 2
}

// Weigh returns how strongly a word at a place points to the dialect. A model's name is such a sign if
// the word is a part of it.
func (d *Dialect) Weigh(at Place, word string) int {
	for _, sign := range strings.Fields(d.Words[at]) {
		if sign == word || at == AtModel && strings.Contains(word, sign) {
			return weights[at]
		}
	}
	return 0
}

// Place is where a word of a document occurs.
type Place int

const (
	AtMember  Place = iota // the name of a member of the document
	AtModel                // the model
	AtTool                 // the name of a member of a tool definition
	AtMessage              // the name of a member of a message
	AtRole                 // the role of a message that is not the first
	AtFirst                // the role of the first message
	AtBlock                // the name of a member of a content block
	AtType                 // the type of a content block
)

// weights is how strong the signs at a place are.
var weights = [...]int{AtMember: 2, AtModel: 1, AtTool: 4, AtMessage: 4, AtRole: 4, AtFirst: 4, AtBlock: 4, AtType: 4}
