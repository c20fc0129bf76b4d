package kernel_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf16"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/embed"
	"github.com/memkernel/memkernel/embed/embedtest"
	"github.com/memkernel/memkernel/internal/hostile"
	"github.com/memkernel/memkernel/internal/suite"
	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/pagevm/journal"
)

// escapedASCII spells a string as JSON without a byte beyond ASCII, as many hosts do.
func escapedASCII(s string) string {
	raw, _ := json.Marshal(s)
	var b strings.Builder
	for _, r := range string(raw) {
		if r < 0x80 {
			b.WriteRune(r)
			continue
		}
		for _, u := range utf16.Encode([]rune{r}) {
			fmt.Fprintf(&b, `\u%04x`, u)
		}
	}
	return b.String()
}

func quoted(s string) string {
	raw, _ := json.Marshal(s)
	return string(raw)
}

// holdsNone looks through every byte of a text for secrets of eight bytes and more,
// as they are and as JSON has them.
func holdsNone(t *testing.T, where, text string, texts []hostile.Secretive) {
	t.Helper()
	for _, c := range texts {
		for _, s := range c.Secrets {
			if len(s) < 8 {
				continue
			}
			for _, form := range []string{s, strings.Trim(quoted(s), `"`), strings.Trim(escapedASCII(s), `"`)} {
				if i := strings.Index(text, form); i >= 0 {
					t.Errorf("%s holds a secret, %s: …%q", where, c.Kind, text[max(0, i-120):min(len(text), i+len(form)+20)])
					break
				}
			}
		}
	}
}

// holdsNoneBelow is holdsNone for all files below a folder but those that a person wrote.
func holdsNoneBelow(t *testing.T, dir string, texts []hostile.Secretive, written ...string) {
	t.Helper()
	files := 0
	for _, f := range tree(t, dir) {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		rel, _ := filepath.Rel(dir, f)
		person := false
		for _, w := range written {
			person = person || rel == filepath.FromSlash(w)
		}
		if files++; !person {
			holdsNone(t, rel, string(b), texts)
		}
	}
	if files < 3 {
		t.Errorf("there are %d files: nothing was written", files)
	}
}

// doors are the ways in which a text comes into a conversation.
var doors = map[string]func(c *conversation, id, text string){
	"words of the user":      func(c *conversation, _, text string) { c.add(memkernel.RoleUser, words(text)); c.say() },
	"words of the assistant": func(c *conversation, _, text string) { c.user(); c.add(memkernel.RoleAssistant, words(text)) },
	"words, as a host wrote them": func(c *conversation, _, text string) {
		p := words(text)
		p.Raw = `{"type":"text","text":` + escapedASCII(text) + `}`
		c.add(memkernel.RoleUser, p)
		c.say()
	},
	"thinking": func(c *conversation, id, text string) {
		c.user()
		c.add(memkernel.RoleAssistant, memkernel.Part{Kind: memkernel.PartThinking, Text: text, Signature: "sig" + id}, words("Done."))
	},
	"a system prompt": func(c *conversation, _, text string) { c.add(memkernel.RoleSystem, words(text)); c.user(); c.say() },
	"a command": func(c *conversation, id, text string) {
		c.called(id, "Bash", `{"command":`+quoted(text)+`}`, "ok")
	},
	"a command in ASCII": func(c *conversation, id, text string) {
		c.called(id, "Bash", `{"command":`+escapedASCII(text)+`,"description":"x"}`, "error: it failed")
	},
	"a command as a list": func(c *conversation, id, text string) {
		c.called(id, "shell", `{"command":["bash","-lc",`+quoted(text)+`]}`, "ok")
	},
	"arguments in a string": func(c *conversation, id, text string) {
		p := call(id, "shell", `{"cmd":`+quoted(text)+`}`)
		p.Raw = `{"type":"function_call","call_id":"` + id + `","name":"shell","arguments":` + quoted(`{"cmd":`+quoted(text)+`}`) + `}`
		c.user()
		c.add(memkernel.RoleAssistant, p)
		c.add(memkernel.RoleUser, result(id, words("ok")))
		c.say()
	},
	"a file that is written": func(c *conversation, id, text string) {
		c.called(id, "Write", `{"file_path":"conf/`+id+`.txt","content":`+quoted(text)+`}`, "written")
	},
	"an edit": func(c *conversation, id, text string) {
		c.called(id, "Edit", `{"file_path":"conf/`+id+`.txt","old_string":`+quoted(text)+`,"new_string":"x"}`, "error: not found:\n"+text)
	},
	"a plan": func(c *conversation, id, text string) {
		c.called(id, "TodoWrite", `{"todos":[{"content":`+quoted(text)+`,"status":"in_progress"}]}`, "ok")
	},
	"a path": func(c *conversation, id, text string) {
		c.called(id, "Read", `{"file_path":`+quoted(text)+`}`, "error: no such file: "+text)
	},
	"a result": func(c *conversation, id, text string) { c.called(id, "Read", `{"file_path":"x.txt"}`, text) },
	"a long result": func(c *conversation, id, text string) {
		c.called(id, "Read", `{"file_path":"x.txt"}`, c.code(2000)+"\n"+text+"\n"+c.code(2000))
	},
	"a failed check": func(c *conversation, id, text string) {
		c.called(id, "Bash", `{"command":"go test ./..."}`, "FAIL\n"+text+"\nexit status 1")
	},
	"a block of another type": func(c *conversation, _, text string) {
		c.add(memkernel.RoleUser, memkernel.Part{Kind: memkernel.PartOther, Raw: `{"type":"env","value":` + escapedASCII(text) + `}`}, words("see this"))
		c.say()
	},
	"a document": func(c *conversation, _, text string) {
		c.add(memkernel.RoleUser, memkernel.Part{Kind: memkernel.PartDocument, Text: text, Media: &memkernel.Media{Type: "text/plain"}}, words("see this"))
		c.say()
	},
}

func (c *conversation) called(id, tool, input, text string) {
	c.user()
	c.add(memkernel.RoleAssistant, words("I do that."), call(id, tool, input))
	c.add(memkernel.RoleUser, result(id, words(text)))
	c.say()
}

// TestNoDoorLetsASecretIn brings secrets of all kinds into a conversation by every
// door and goes through its whole life with it: plans, turns, checkpoints, cuts, a
// compaction, the end. Nothing that is written below the workspace holds one.
func TestNoDoorLetsASecretIn(t *testing.T) {
	texts := suite.Some(hostile.Texts(hostile.SecretKinds, 11), 6)
	for door, through := range doors {
		t.Run(door, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			k := fallback{}.open(t, dir)
			defer k.Close()
			c := newConversation(5)
			c.user()
			c.say()
			for i, text := range texts {
				through(c, fmt.Sprintf("call_%d", i), text.Text)
				if i%60 == 59 {
					spoken(t, k, c)
				}
			}
			spoken(t, k, c)
			if _, err := k.Checkpoint(context.Background(), api.Boundary{SessionKey: "s", Messages: c.msgs, Private: true, Now: c.now}); err != nil {
				t.Errorf("checkpoint: %v", err)
			}
			pass(t, k.Compact, api.Boundary{Messages: c.msgs, Private: true, Now: c.now})
			c.user()
			c.say()
			spoken(t, k, c)
			pass(t, k.EndSession, api.Boundary{Messages: c.msgs, Private: true, Now: c.now})
			reindex(t, k)
			if err := k.Close(); err != nil {
				t.Fatal(err)
			}
			holdsNoneBelow(t, dir, texts)
		})
	}
}

// TestNoCallKeepsASecret is the same for what is written by calls of their own.
func TestNoCallKeepsASecret(t *testing.T) {
	texts := suite.Some(hostile.Texts(hostile.SecretKinds, 12), 24)
	ctx, now := context.Background(), time.Date(2026, 11, 3, 9, 0, 0, 0, time.UTC)
	for name, do := range map[string]func(t *testing.T, k *kernel.Kernel, text string, i int) error{
		"remember": func(_ *testing.T, k *kernel.Kernel, text string, _ int) error {
			_, err := k.Remember(ctx, api.RememberRequest{SessionKey: "s", Text: text, Now: now})
			return err
		},
		"an update": func(t *testing.T, k *kernel.Kernel, text string, i int) error {
			u := pin(fmt.Sprint("r", i), "x")
			u.Value = json.RawMessage(strings.Replace(string(u.Value), `"x"`, escapedASCII(text), 1))
			_, err := k.Write(ctx, api.WriteRequest{SessionKey: "s", Updates: []journal.Update{u}})
			return err
		},
		"a flush": func(_ *testing.T, k *kernel.Kernel, text string, _ int) error {
			_, err := k.ObserveFlush(ctx, api.FlushReply{SessionKey: "s", Text: "- " + text, Now: now})
			return err
		},
		"a reason": func(_ *testing.T, k *kernel.Kernel, text string, i int) error {
			_, err := k.Checkpoint(ctx, api.Boundary{SessionKey: "s", Key: fmt.Sprint("b", i), Reason: text, Now: now,
				Messages: []memkernel.Message{{Key: "u1", Role: memkernel.RoleUser, Parts: []memkernel.Part{words("Go on.")}}}})
			return err
		},
		"an ask": func(_ *testing.T, k *kernel.Kernel, text string, i int) error {
			_, err := k.PlanContext(ctx, api.PlanRequest{SessionKey: "s", Model: model, ContextWindow: 64_000, Prompt: text, Now: now, Private: true})
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			k := openKernel(t, dir)
			defer k.Close()
			for i, text := range texts {
				if err := do(t, k, text.Text, i); err != nil {
					t.Errorf("%s: %v", text.Kind, err)
				}
			}
			reindex(t, k)
			k.Close()
			holdsNoneBelow(t, dir, texts)
		})
	}
}

// TestSecretsOfPeopleStayTheirs: what a person wrote into a file stands there, and
// neither the index nor a server of vectors has it; nor has a question's.
func TestSecretsOfPeopleStayTheirs(t *testing.T) {
	texts := suite.Some(hostile.Texts(hostile.SecretKinds, 13), 60)
	dir := t.TempDir()
	var file strings.Builder
	for i, c := range texts {
		fmt.Fprintf(&file, "# Note %d\n\n%s\n\n", i, c.Text)
	}
	put(t, dir, "memory/keys.md", file.String())
	s := embedtest.NewServer("openai", "")
	defer s.Close()
	k := withEmbedder(t, dir, kernel.MemoryOptions{Embedder: provider(t, s, func(c *embed.Config) { c.BatchSize = suite.Pick(16, 64) })})
	reindex(t, k)
	for _, c := range texts {
		if _, err := k.Search(context.Background(), api.SearchRequest{Query: c.Text, Private: true}); err != nil {
			t.Errorf("%s: %v", c.Kind, err)
		}
	}
	k.Close()
	holdsNoneBelow(t, dir, texts, "memory/keys.md")
	if b, err := os.ReadFile(filepath.Join(dir, "memory", "keys.md")); err != nil || string(b) != file.String() {
		t.Errorf("the person's file was changed: %v", err)
	}
	for _, a := range s.Asked() {
		holdsNone(t, "a request for vectors", strings.Join(a.Texts, "\n"), texts)
	}
	if len(s.Asked()) < 3 {
		t.Errorf("the server was asked %d times", len(s.Asked()))
	}
}

// TestPastSessionsHoldNoSecret is the same for transcripts of hosts.
func TestPastSessionsHoldNoSecret(t *testing.T) {
	texts := suite.Some(hostile.Texts(hostile.SecretKinds, 14), 60)
	p := openPast(t, kernel.PastOptions{})
	var lines strings.Builder
	for _, c := range texts {
		lines.WriteString(line("user", c.Text) + line("assistant", c.Text))
	}
	put(t, p.host, "keys.jsonl", lines.String())
	if r := reindex(t, p.k); r.Sessions.Read < 2 {
		t.Fatalf("%+v", r)
	}
	p.k.Close()
	holdsNoneBelow(t, p.dir, texts)
}

// TestModelsNotesHoldNoSecret is the same for what a model is asked and answers.
func TestModelsNotesHoldNoSecret(t *testing.T) {
	texts := suite.Some(hostile.Texts(hostile.SecretKinds, 15), 45)
	for _, door := range []string{"words of the user", "a command", "a result"} {
		t.Run(door, func(t *testing.T) {
			t.Parallel()
			var ops []map[string]any
			for _, c := range texts[:40] {
				ops = append(ops, map[string]any{"op": "add", "field": "decisions", "text": c.Text, "evidence": "m1"}, map[string]any{"op": "remember", "text": c.Text, "evidence": "m1"})
			}
			raw, _ := json.Marshal(map[string]any{"ops": ops})
			s := serveNotes(t, says(string(raw)))
			dir := t.TempDir()
			c := newConversation(6)
			for i, text := range texts {
				doors[door](c, fmt.Sprintf("call_%d", i), text.Text)
			}
			observeNoted(t, dir, askedModel(t, s, "openai", time.Minute), newClock(), c.msgs)
			if len(s.asked()) == 0 {
				t.Fatal("nothing was asked")
			}
			holdsNone(t, "a prompt", strings.Join(s.asked(), "\n"), texts)
			holdsNoneBelow(t, dir, texts)
		})
	}
}
