package scriptedhost

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/transcript"
)

// Work is one call of a recorded session with its results, without ids of its own.
type Work struct {
	Call    memkernel.Message
	Results []memkernel.Message
}

// Sizes of the work that is taken over, in bytes of text: very short calls show
// nothing, and what overflows a window is a script's own event.
const minWork, maxWork = 200, 24_000

// Material reads the work of a transcript, the first that is there of the paths.
func Material(paths ...string) (name string, work []Work, err error) {
	for _, path := range paths {
		if _, err := os.Stat(path); err != nil {
			continue
		}
		s, err := transcript.LoadFile(path, nil)
		if err != nil {
			return "", nil, err
		}
		work = workOf(s.View(transcript.Full))
		if len(work) < 20 {
			return "", nil, fmt.Errorf("transcript %s has %d calls to use, want 20: take another", path, len(work))
		}
		return filepath.Base(path), work, nil
	}
	return "", nil, fmt.Errorf("none of the transcripts %s is there", strings.Join(paths, ", "))
}

func workOf(msgs []memkernel.Message) []Work {
	var out []Work
	for _, a := range transcript.Atoms(msgs) {
		if !a.Assistant || a.Pending > 0 || !transcript.HasCalls(msgs[a.Start]) {
			continue
		}
		w, ok := bare(msgs[a.Start:a.End])
		if ok {
			out = append(out, w)
		}
	}
	return out
}

// bare takes calls and results out of an atom of one assistant message. What writes
// a plan or asks the user would speak for the script, so it is left out.
func bare(msgs []memkernel.Message) (w Work, ok bool) {
	size := 0
	for i := range msgs {
		m := memkernel.Message{Role: msgs[i].Role}
		for _, p := range msgs[i].Parts {
			switch {
			case p.Call != nil && i == 0 && !speaks(p.Call):
				call := *p.Call
				m.Parts = append(m.Parts, memkernel.Part{Kind: p.Kind, Call: &call})
				size += len(call.Input)
			case p.Result != nil && i > 0 && !p.Result.Opaque:
				r := *p.Result
				r.Content = texts(r.Content)
				m.Parts = append(m.Parts, memkernel.Part{Kind: p.Kind, Result: &r})
				size += length(r.Content)
			case p.Call != nil || p.Result != nil:
				return w, false
			}
		}
		switch {
		case len(m.Parts) == 0:
			return w, false
		case i == 0:
			w.Call = m
		default:
			w.Results = append(w.Results, m)
		}
	}
	return w, len(w.Results) > 0 && size >= minWork && size <= maxWork
}

// speaks reports whether a call writes the agent's plan, commits, or asks the user.
func speaks(c *memkernel.ToolCall) bool {
	low := strings.ToLower(c.Name)
	for _, s := range [...]string{"todo", "task", "plan", "ask", "question"} {
		if strings.Contains(low, s) {
			return true
		}
	}
	return c.Custom || c.Server || strings.Contains(c.Input, "git commit")
}

func texts(parts []memkernel.Part) []memkernel.Part {
	out := []memkernel.Part{}
	for _, p := range parts {
		if p.Kind == memkernel.PartText {
			out = append(out, memkernel.Part{Kind: p.Kind, Text: p.Text})
		}
	}
	return out
}

func length(parts []memkernel.Part) (n int) {
	for i := range parts {
		n += len(parts[i].Text)
	}
	return n
}

// again returns the work under ids of its own, which begin with id.
func (w Work) again(id string) (call memkernel.Message, results []memkernel.Message) {
	ids := map[string]string{}
	call = memkernel.Message{Role: w.Call.Role}
	for i, p := range w.Call.Parts {
		c := *p.Call
		ids[c.ID] = fmt.Sprintf("%s_%d", id, i)
		c.ID = ids[c.ID]
		call.Parts = append(call.Parts, memkernel.Part{Kind: p.Kind, Call: &c})
	}
	for _, m := range w.Results {
		r := memkernel.Message{Role: m.Role}
		for _, p := range m.Parts {
			res := *p.Result
			res.CallID = ids[res.CallID]
			r.Parts = append(r.Parts, memkernel.Part{Kind: p.Kind, Result: &res})
		}
		results = append(results, r)
	}
	return call, results
}
