package codex

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/transcript/internal/wire"
)

// readElement reads an element of a request.
func readElement(raw string) (*memkernel.Message, error) {
	typed := raw
	if wire.RawType(raw) == "" { // a message may leave its type out
		typed = withType(raw)
	}
	m, err := readMessage(typed)
	switch {
	case err != nil:
		return nil, err
	case m == nil:
		return nil, fmt.Errorf("an item that is of no request")
	case m.Role == "":
		return nil, fmt.Errorf("item has no role")
	}
	return m, nil
}

// additionalTools is the type of an item that defines tools.
const additionalTools = "additional_tools"

// offers reads the tools that an item defines, those of a namespace one by one.
func offers(raw string) (tools []memkernel.Tool) {
	if wire.RawType(raw) != additionalTools {
		return nil
	}
	list := wire.Scan(wire.MemberOf(raw, "tools"))
	for _, t := range wire.ReadTools(&list) {
		if wire.RawType(t.Raw) == "namespace" {
			inner := wire.Scan(wire.MemberOf(t.Raw, "tools"))
			tools = append(tools, wire.ReadTools(&inner)...)
		} else {
			tools = append(tools, t)
		}
	}
	return tools
}

// withType returns a message item with its type.
func withType(raw string) string {
	i := strings.IndexByte(raw, '{')
	if i < 0 || strings.TrimLeft(raw[i+1:], " \t\r\n") == "}" {
		return raw
	}
	return raw[:i+1] + `"type":"message",` + raw[i+1:]
}

// readValue reads an item, or a message in the short form that requests may have.
func readValue(value string) (*memkernel.Message, error) {
	if c := (wire.Scan(value)); c.Peek() != '{' {
		return nil, wire.ErrNoObject
	}
	m, err := readMessage(value)
	if err == nil && m != nil && (m.Role == "" || wire.RawType(value) == "" && m.Parts != nil && m.Parts[0].Kind == memkernel.PartOther) {
		err = errors.New("item has neither a type nor a role")
	}
	return m, err
}

// functions returns the calls whose results are shown in other words than the host's, while the
// host's item has no member for these. They go out as a function's.
func functions(planned, host []memkernel.Message) map[string]bool {
	out := reworded(planned, wire.IsResult)
	calls := reworded(planned, wire.IsCall)
	maps.Copy(out, calls)
	for i := range host {
		for _, p := range host[i].Parts {
			if wire.IsResult(&p) && (plain[wire.RawType(p.Raw)] || strings.HasPrefix(wire.MemberOf(p.Raw, "output"), `"`) && !calls[p.Result.CallID]) {
				delete(out, p.Result.CallID)
			}
		}
	}
	return out
}

// writeItems spells a message as items. If the message is one of the host's results, only its
// output changes.
func writeItems(m memkernel.Message, raw string, calls map[string]bool) []string {
	form := outputs{reworded: calls}
	function := wire.HoldsCall(&m, calls)
	if function {
		m.Parts = slices.Clone(m.Parts)
		for i := range m.Parts {
			m.Parts[i] = *form.form(&m.Parts[i])
		}
		raw = ""
	}
	return wire.Written(api, m, raw, "output")
}
