package transcript

import (
	"errors"
	"fmt"
	"strings"

	"github.com/memkernel/memkernel"
)

// Body is a request body whose conversation can be replaced. Everything else keeps the bytes that
// the client wrote, including unknown members, their order and white space.
//
//	{"model":…, "messages": [ system… , message, message … ], "stream":true}
//	 `----- kept -----------´ `lead´  `---- replaced ----´ `---- kept ------´
//
// Every message's Raw is the exact text of its elements. Markers that the client set for the
// cache stay in Raw until [Body.Write] replaces them.
type Body struct {
	Format Format
	Model  string
	Tools  []memkernel.Tool
	// System is the system prompt. In chat completions it is the system messages that open the
	// conversation, which Messages does not repeat.
	System   []memkernel.Part
	Messages []memkernel.Message

	raw     string
	members []bodyMember
	list    span // the elements of the conversation, without brackets
	lead    int  // end of the elements that are the system prompt
	api     *api
	markers markers
}

// bodyMember is a member of the body.
type bodyMember struct {
	name  string
	value span
}

// errNoConversation is returned for a body that has no list of messages.
var errNoConversation = errors.New("the body holds no list of messages")

// split finds the members, and the elements of the conversation.
func (b *Body) split() (elements []span, err error) {
	c, err := scanObject(b.raw)
	if err != nil {
		return nil, err
	}
	c.Names = b.api.Names
	seen := map[string]bool{}
	for name := range c.Fields {
		if seen[name] {
			return nil, fmt.Errorf("member %q stands twice", name)
		}
		seen[name] = true
		from := c.Start()
		if c.Peek() == '[' && name == b.api.List {
			elements = c.Spans()
			b.list = span{Start: from + 1, End: c.i - 1}
			b.lead = b.list.Start
		} else {
			c.Skip()
		}
		if c.Err == nil {
			b.members = append(b.members, bodyMember{name, span{Start: from, End: c.i}})
		}
	}
	return elements, c.End()
}

// Member returns the JSON of a member's value, "" if the body has no such member. If an API
// accepts two spellings of a name, callers must pass the one in camel case. The result is a copy,
// which does not keep the body in memory.
func (b *Body) Member(name string) string {
	for _, m := range b.members {
		if m.name == name {
			return strings.Clone(b.raw[m.value.Start:m.value.End])
		}
	}
	return ""
}

// Text returns the value of a member if it is a string, and "" otherwise.
func (b *Body) Text(name string) string {
	c := scan(b.Member(name))
	return c.Str()
}

// fill reads the members that a plan uses, except the conversation.
func (b *Body) fill() error {
	if b.Member("model") != "" && !b.api.ModelAside {
		b.Model = b.Text("model")
	}
	tools := scan(b.Member("tools"))
	switch {
	case tools.S == "":
	case b.api.Definitions != nil:
		b.Tools = b.api.Definitions(&tools)
	default:
		b.Tools = readTools(&tools)
	}
	system := cursor{S: b.Member(b.api.System), Names: b.api.Names}
	if b.api.System != "" && system.Peek() != 0 {
		b.System = b.api.Instructions(&system)
	}
	if err := errors.Join(tools.Err, system.Err); err != nil {
		return err
	}
	if b.list.Start == 0 {
		return errNoConversation
	}
	return nil
}

// readList reads the conversation. System messages that open a chat completions request are its
// system prompt. All items of the assistant up to the next output or user message form one answer,
// whose bytes are the bytes of all its items.
func (b *Body) readList(r *BodyReader, elements []span) error {
	pair := b.api.Pair()
	b.Messages = make([]memkernel.Message, 0, len(elements))
	var answer *memkernel.Message // still takes items, nil if none does
	var bytes span                // of the answer
	end := func() {
		if answer != nil {
			answer.Key = ""
			if answer.Raw == "" { // joined of several
				answer.Raw = r.text(b.raw[bytes.Start:bytes.End])
			}
		}
		answer = nil
	}
	for n, at := range elements {
		m, err := r.message(b, b.raw[at.Start:at.End])
		if err != nil {
			return fmt.Errorf("%s[%d]: %w", b.api.List, n, err)
		}
		pair(b.Messages, &m)
		said := m.Role == memkernel.RoleAssistant
		if said && m.Model == "" {
			m.Model = b.Model
		}
		switch {
		case b.api.Lead && len(b.Messages) == 0 && isSystemRole(m.Role):
			b.lead = at.End
			var tools []memkernel.Tool
			if b.api.Offers != nil {
				tools = b.api.Offers(m.Raw)
			}
			if b.Tools = append(b.Tools, tools...); tools == nil {
				b.System = append(b.System, m.Parts...)
			}
		case said && answer != nil:
			b.api.Join(answer, &m)
			bytes.End = at.End
		default:
			end()
			if b.Messages = append(b.Messages, m); said && b.api.Join != nil {
				answer, bytes = &b.Messages[len(b.Messages)-1], at
			}
		}
	}
	end()
	return nil
}

// Source returns the dialect of the body's blocks.
func (b *Body) Source() Dialect { return b.Format.Dialect() }
