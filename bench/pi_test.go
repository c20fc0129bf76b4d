package bench

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/memkernel/memkernel"
)

// piSession is the sample session in the JSONL of Pi, which has a message of its
// own for every tool result.
func piSession(b *testing.B) []byte {
	b.Helper()
	out := []object{{"type": "session", "version": 3, "id": "sample", "cwd": "/w"}}
	parent := ""
	add := func(m memkernel.Message, message object) {
		id := fmt.Sprintf("e%d", len(out))
		message["timestamp"] = m.Time.UnixMilli()
		o := object{"type": "message", "id": id, "timestamp": m.Time, "message": message}
		if parent != "" {
			o["parentId"] = parent
		}
		out, parent = append(out, o), id
	}
	for _, m := range sample(b) {
		if content := piContent(m.Parts); len(content) > 0 {
			add(m, object{"role": m.Role, "content": content})
		}
		for i := range m.Parts {
			if r := m.Parts[i].Result; r != nil {
				add(m, object{"role": "toolResult", "toolCallId": r.CallID, "content": piContent(r.Content), "isError": r.IsError})
			}
		}
	}
	return lines(b, out...)
}

func piContent(parts []memkernel.Part) []object {
	var out []object
	for i := range parts {
		switch p := &parts[i]; {
		case p.Call != nil:
			out = append(out, object{"type": "toolCall", "id": p.Call.ID, "name": p.Call.Name, "arguments": json.RawMessage(p.Call.Input)})
		case p.Kind == memkernel.PartThinking:
			out = append(out, object{"type": "thinking", "thinking": p.Text, "thinkingSignature": p.Signature})
		case p.Kind == memkernel.PartText:
			out = append(out, object{"type": "text", "text": p.Text})
		}
	}
	return out
}
