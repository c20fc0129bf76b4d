package verbs

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/memkernel/memkernel/internal/cli"
	"github.com/memkernel/memkernel/internal/display"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/serve/hook"
	"github.com/memkernel/memkernel/serve/install"
)

// pastLimits limits the reading of past sessions: the number of files, the bytes of one file, the
// bytes of all files, and the time after which no further file is begun. A zero means no limit.
type pastLimits struct {
	files      int
	each, all  int64
	longEnough time.Duration
}

var defaultPast = pastLimits{files: 50, each: 32 << 20, all: 200 << 20, longEnough: time.Minute}

// pastJSON is the result of reading past sessions.
type pastJSON struct {
	// Found counts the sessions of this folder. Read counts the sessions that are read in. Bytes
	// is the size of the sessions that are read in.
	Found int   `json:"found"`
	Read  int   `json:"read"`
	Bytes int64 `json:"bytes"`
	// Left are the sessions that are left out, or parts of sessions.
	Left []api.SkippedFile `json:"left"`

	todo []pastFile
}

type pastFile struct {
	host hook.Host
	path string
	size int64
	at   time.Time
}

// lookPast chooses the sessions to read in, the newest first.
func lookPast(stateDir string, found []install.Host, most pastLimits) *pastJSON {
	p := &pastJSON{Left: []api.SkippedFile{}}
	var all []pastFile
	for _, h := range found {
		for _, path := range h.Transcripts {
			if st, err := os.Stat(path); err == nil && st.Size() > 0 {
				all = append(all, pastFile{hook.Host(h.Name), path, st.Size(), st.ModTime()})
			}
		}
	}
	p.Found = len(all)
	slices.SortFunc(all, func(a, b pastFile) int {
		return cmp.Or(b.at.Compare(a.at), cmp.Compare(a.path, b.path))
	})
	for _, f := range all {
		switch {
		case !hook.Unread(stateDir, f.host, f.path, f.size):
		case most.each > 0 && f.size > most.each:
			p.leave(f, fmt.Sprintf("it has over %s", display.Size(most.each)))
		case most.files > 0 && len(p.todo) >= most.files:
			p.leave(f, fmt.Sprintf("there are %d newer ones", most.files))
		case most.all > 0 && p.Bytes+f.size > most.all:
			p.leave(f, fmt.Sprintf("newer ones have %s", display.Size(p.Bytes)))
		default:
			p.todo = append(p.todo, f)
			p.Bytes += f.size
		}
	}
	p.Read = len(p.todo)
	return p
}

func (p *pastJSON) leave(f pastFile, why string) {
	p.Left = append(p.Left, api.SkippedFile{Path: f.path, Reason: why})
}

// take reads the chosen sessions in. If it can't read a session, it adds the session to Left and
// continues.
func (p *pastJSON) take(ctx context.Context, a *cli.App, most pastLimits) error {
	p.Read, p.Bytes = 0, 0
	if len(p.todo) == 0 {
		return nil
	}
	k, err := a.Kernel(ctx, cli.Needs{Silent: true})
	if err != nil {
		return err
	}
	defer k.Close()
	defer a.ProgressDone()
	began := time.Now()
	for i, f := range p.todo {
		if i > 0 && most.longEnough > 0 && time.Since(began) > most.longEnough {
			p.leave(f, fmt.Sprintf("the others took %s", most.longEnough))
			continue
		}
		a.Step("reading past sessions", i, len(p.todo), "session")
		messages, lost, err := hook.TakeIn(ctx, k, a.StateDir, f.host, f.path)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			p.leave(f, cli.PlainError(err))
		} else if messages > 0 {
			p.Read++
			p.Bytes += f.size
			for _, err := range lost {
				p.leave(f, "a part of it: "+cli.PlainError(err))
			}
		}
	}
	return nil
}

// line returns what init prints about past sessions before it asks for consent.
func (p *pastJSON) line() string {
	left := ""
	if len(p.Left) > 0 {
		left = fmt.Sprintf("; %d left out", len(p.Left))
	}
	switch {
	case p.Found == 0:
		return "no past sessions of this folder"
	case len(p.todo) == 0:
		return display.Say("{past session}, nothing new{}", p.Found, left)
	}
	return display.Say("{past session} to read in, {bytes}{}", len(p.todo), p.Bytes, left)
}

// showLeft prints the sessions that were left out. The parameter all is the command that reads in all
// sessions.
func (p *pastJSON) showLeft(s *display.Sheet, all string) {
	for i, l := range p.Left {
		if i == 10 {
			s.Line("  and {%d} more", len(p.Left)-i)
			break
		}
		s.Line("Not read in: {}\n  {}", l.Reason, shellWord(l.Path))
	}
	if len(p.Left) > 0 {
		s.Line("  All, however many and large:  {}", all)
	}
}
