package bench

import (
	"sync"
	"testing"
	"time"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/transcript"
	"github.com/pkoukk/tiktoken-go"
	loader "github.com/pkoukk/tiktoken-go-loader"
)

const samplePath = "../testdata/session.jsonl"

// sample is the bundled session, all of it, parsed, up to the last message that a
// model could be asked to answer.
func sample(b *testing.B) []memkernel.Message {
	b.Helper()
	s, err := transcript.LoadFile(samplePath, nil)
	if err != nil {
		b.Fatal(err)
	}
	msgs := s.View(transcript.Full)
	for len(msgs) > 0 && msgs[len(msgs)-1].Role == memkernel.RoleAssistant {
		msgs = msgs[:len(msgs)-1]
	}
	return msgs
}

// texts are the strings of a conversation that a plan counts.
func texts(msgs []memkernel.Message) []string {
	var out []string
	var add func(parts []memkernel.Part)
	add = func(parts []memkernel.Part) {
		for i := range parts {
			switch p := &parts[i]; {
			case p.Call != nil:
				out = append(out, p.Call.Name, p.Call.Input)
			case p.Result != nil:
				add(p.Result.Content)
			case p.Text != "":
				out = append(out, p.Text)
			}
		}
	}
	for i := range msgs {
		add(msgs[i].Parts)
	}
	return out
}

// reference is the tokenizer that everything is measured against.
var reference = sync.OnceValues(func() (*tiktoken.Tiktoken, error) {
	tiktoken.SetBpeLoader(loader.NewOfflineLoader())
	return tiktoken.GetEncoding(tiktoken.MODEL_O200K_BASE)
})

// tokenise counts texts by the reference and returns how long that took.
func tokenise(b *testing.B, texts []string) (tokens int, took time.Duration) {
	b.Helper()
	enc, err := reference()
	if err != nil {
		b.Fatal(err)
	}
	start := time.Now()
	for _, s := range texts {
		tokens += len(enc.EncodeOrdinary(s))
	}
	return tokens, time.Since(start)
}

// perRun times f over at least d and returns the mean of one run.
func perRun(d time.Duration, f func()) time.Duration {
	n, start := 0, time.Now()
	for time.Since(start) < d {
		f()
		n++
	}
	return time.Since(start) / time.Duration(n)
}
