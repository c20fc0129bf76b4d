package transcript

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/memkernel/memkernel"
)

// readCodexElement reads an element of a request.
func readCodexElement(raw string) (*memkernel.Message, error) {
	typed := raw
	if rawType(raw) == "" { // a message may leave its type out
		typed = withType(raw)
	}
	m, err := readCodexMessage(typed)
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

// codexOffers returns the tools that an item defines. The tools of a namespace are listed one by
// one.
func codexOffers(raw string) (tools []memkernel.Tool) {
	if rawType(raw) != additionalTools {
		return nil
	}
	list := scan(memberOf(raw, "tools"))
	for _, t := range readTools(&list) {
		if rawType(t.Raw) == "namespace" {
			inner := scan(memberOf(t.Raw, "tools"))
			tools = append(tools, readTools(&inner)...)
		} else {
			tools = append(tools, t)
		}
	}
	return tools
}

// withType returns a message item with the member "type":"message" added.
func withType(raw string) string {
	i := strings.IndexByte(raw, '{')
	if i < 0 || strings.TrimLeft(raw[i+1:], " \t\r\n") == "}" {
		return raw
	}
	return raw[:i+1] + `"type":"message",` + raw[i+1:]
}

// readCodexValue reads an item, or a message in the short form that requests may have.
func readCodexValue(value string) (*memkernel.Message, error) {
	if c := (scan(value)); c.Peek() != '{' {
		return nil, errNoObject
	}
	m, err := readCodexMessage(value)
	if err == nil && m != nil && (m.Role == "" || rawType(value) == "" && m.Parts != nil && m.Parts[0].Kind == memkernel.PartOther) {
		err = errors.New("item has neither a type nor a role")
	}
	return m, err
}

// codexFunctions returns the ids of calls that must be sent as function calls: their results are
// shown in other words than the host's, and the host's item has no member for such text.
func codexFunctions(planned, host []memkernel.Message) map[string]bool {
	out := codexReworded(planned, isResult)
	calls := codexReworded(planned, isCall)
	maps.Copy(out, calls)
	for i := range host {
		for _, p := range host[i].Parts {
			if isResult(&p) && (codexPlain[rawType(p.Raw)] || strings.HasPrefix(memberOf(p.Raw, "output"), `"`) && !calls[p.Result.CallID]) {
				delete(out, p.Result.CallID)
			}
		}
	}
	return out
}

// writeCodexItems returns a message as items. If raw is the host's own result, only its output
// changes.
func writeCodexItems(m memkernel.Message, raw string, calls map[string]bool) []string {
	if form := (&codexOutputs{reworded: calls}); holdsCall(&m, calls) {
		m.Parts = slices.Clone(m.Parts)
		for i := range m.Parts {
			m.Parts[i] = *form.form(&m.Parts[i])
		}
		raw = ""
	}
	return writtenItems(codexAPI, m, raw, "output")
}
