package checkpoint_test

import (
	"fmt"
	"strings"
	"time"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/checkpoint"
	"github.com/memkernel/memkernel/pagevm/mask"
)

// captured brings a state up to date, with secrets masked by all rules.
func captured(s checkpoint.State, msgs []memkernel.Message) checkpoint.State {
	return checkpoint.Update(s, msgs, (*mask.Masker)(nil).Text)
}

func text(role memkernel.Role, s string) memkernel.Message {
	return memkernel.Message{Role: role, Parts: []memkernel.Part{{Kind: memkernel.PartText, Text: s, Typed: role == memkernel.RoleUser}}}
}

func user(s string) memkernel.Message { return text(memkernel.RoleUser, s) }
func says(s string) memkernel.Message { return text(memkernel.RoleAssistant, s) }

func calls(id, name, input string) memkernel.Message {
	return memkernel.Message{Role: memkernel.RoleAssistant, Parts: []memkernel.Part{
		{Kind: memkernel.PartToolUse, Call: &memkernel.ToolCall{ID: id, Name: name, Input: input}}}}
}

func answers(id, content string, failed bool) memkernel.Message {
	return memkernel.Message{Role: memkernel.RoleTool, Parts: []memkernel.Part{{Kind: memkernel.PartToolResult, Result: &memkernel.ToolResult{
		CallID: id, IsError: failed, Content: []memkernel.Part{{Kind: memkernel.PartText, Text: content}}}}}}
}

func bash(id, command string) memkernel.Message {
	return calls(id, "Bash", fmt.Sprintf(`{"command":%q}`, command))
}

func edit(id, path string) memkernel.Message {
	return calls(id, "Edit", fmt.Sprintf(`{"file_path":%q,"old_string":"%s","new_string":"b"}`, path, id))
}

// talk gives messages keys and times, a minute apart.
func talk(msgs ...memkernel.Message) []memkernel.Message {
	for i := range msgs {
		msgs[i].Key = fmt.Sprintf("m%03d", i)
		msgs[i].Time = noon.Add(time.Duration(i-len(msgs)) * time.Minute)
	}
	return msgs
}

var long = strings.Repeat("a long explanation of the choices ", 20)

// japan is the conversation of the format's own example, as a user may hold it in
// any language.
func japan() []memkernel.Message {
	return talk(
		user("I want to go to Japan in March, budget-friendly"),
		calls("1", "web_search", `{"query":"japan in march"}`),
		answers("1", "cherry blossoms", false),
		says(long+"\nI propose two weeks: Tokyo, Kyoto, Osaka. Is that fine?"),
		user("Looks good"),
		calls("2", "write_file", `{"path":"plan.md","content":"Tokyo"}`),
		answers("2", "ok", false),
		says("Written to plan.md. Which hotels do you prefer?"),
		user("现在签证怎么办？"),
		calls("3", "web_search", `{"query":"visa"}`),
	)
}
