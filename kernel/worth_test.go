package kernel_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/replay/recall"
)

// file is a believable file whose functions are called prefix1, prefix2 and so on.
func file(prefix string, functions int) string {
	var b strings.Builder
	for i := range functions {
		fmt.Fprintf(&b, "func %s%d(job string) error { return retry%s(job, %d) }\n", prefix, i, prefix, 100+i)
	}
	return b.String()
}

// afterACut lets a conversation grow by command output until a cut is made, and
// gives what the prompt shows then.
func afterACut(t *testing.T, c *conversation) string {
	t.Helper()
	k, err := kernel.Open(context.Background(), t.TempDir(), &kernel.Options{LowWater: 25_000})
	if err != nil {
		t.Fatal(err)
	}
	defer k.Close()
	var p *api.ContextPlan
	for i := 0; p == nil || p.Layout.Made == nil; i++ {
		c.ask("Bash", fmt.Sprintf(`{"command":"make step%d"}`, i), c.code(5000))
		c.say()
		c.user()
		p = mustPlan(t, k, request(c))
	}
	var b strings.Builder
	for i := range p.Messages {
		b.WriteString(recall.TextOf(p.Messages[i]) + "\n")
	}
	return b.String()
}

// reads makes the assistant read a file of functions called settleLedger, then four of
// the same size and shape.
func (c *conversation) reads() {
	for i, prefix := range []string{"settleLedger", "rotateCursor", "mergeShards", "parseHeader", "trackQuota"} {
		c.ask("Read", fmt.Sprintf(`{"file_path":"pkg/p%d/code.go"}`, i), file(prefix, 230))
	}
}

// functions counts those of the file that was read first, and of the others on average.
func functions(shown string) (first, others int) {
	for _, prefix := range []string{"rotateCursor", "mergeShards", "parseHeader", "trackQuota"} {
		others += strings.Count(shown, "func "+prefix)
	}
	return strings.Count(shown, "func settleLedger"), others / 4
}

// Of files of one size and shape a cut keeps more of the one whose functions the
// assistant goes on to speak of, though it is the oldest.
func TestACutKeepsWhatWasSpokenOf(t *testing.T) {
	c := newConversation(5)
	c.user()
	c.reads()
	var said strings.Builder
	for i := range 230 {
		fmt.Fprintf(&said, "settleLedger%d has to go, and this is why, in plain words that name nothing else at all. ", i)
	}
	for range 2 {
		c.add(memkernel.RoleAssistant, words(said.String()))
		c.user()
	}
	if a, b := functions(afterACut(t, c)); a <= b {
		t.Errorf("%d functions of the file that was spoken of stand, %d of each of the others", a, b)
	}
}

// What the user asks in plain words stays longer than the output round it.
func TestACutKeepsTheUsersWords(t *testing.T) {
	const words = "And never use mocks in these tests, whatever it costs."
	c := newConversation(6)
	c.user()
	c.loop(1, 3000)
	c.say()
	c.add(memkernel.RoleUser, memkernel.Part{Kind: memkernel.PartText, Text: words})
	if shown := afterACut(t, c); !strings.Contains(shown, words) {
		t.Error("what the user asked is gone")
	}
}

// A file of a finished task leaves before a file that was read for the next one, although it was
// edited.
func TestACutKeepsWhatIsNext(t *testing.T) {
	c := newConversation(7)
	c.user()
	c.ask("Read", `{"file_path":"pkg/p0/code.go"}`, file("settleLedger", 230))
	c.ask("Edit", `{"file_path":"pkg/p0/code.go","old_string":"a","new_string":"b"}`, "done")
	c.ask("Bash", `{"command":"git add -A && git commit -m 'settle'"}`, "[main 1a2b3c4] settle")
	c.ask("Read", `{"file_path":"pkg/p9/next.go"}`, file("rotateCursor", 230))
	shown := afterACut(t, c)
	if n := strings.Count(shown, "func rotateCursor"); n != 230 {
		t.Errorf("%d of 230 functions of the file that was read for the next task stand", n)
	}
	if n := strings.Count(shown, "func settleLedger"); n == 230 {
		t.Error("the finished task's file is shown in full")
	}
}

// Text that no longer exists leaves, even if it is among the newest: of a file that was deleted,
// written over, or read anew in full. The present text stays in full.
func TestACutDropsTextThatIsGone(t *testing.T) {
	for name, after := range map[string]func(c *conversation){
		"deleted":      func(c *conversation) { c.ask("Bash", `{"command":"rm pkg/p0/code.go"}`, "") },
		"written over": func(c *conversation) { c.ask("Write", `{"file_path":"pkg/p0/code.go","content":"package p0"}`, "done") },
		"read anew":    func(c *conversation) { c.ask("Read", `{"file_path":"pkg/p0/code.go"}`, file("mergeShards", 200)) },
	} {
		t.Run(name, func(t *testing.T) {
			c := newConversation(8)
			c.user()
			c.loop(3, 8000)
			c.ask("Read", `{"file_path":"pkg/p0/code.go"}`, file("settleLedger", 200))
			after(c)
			shown := afterACut(t, c)
			if n := strings.Count(shown, "func settleLedger"); n == 200 {
				t.Error("the old text stands in full")
			}
			if n := strings.Count(shown, "func mergeShards"); name == "read anew" && n != 200 {
				t.Errorf("%d of 200 functions of the new text stand", n)
			}
		})
	}
}
