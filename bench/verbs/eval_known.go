package verbs

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"time"

	"github.com/memkernel/memkernel/bench/draw"
	"github.com/memkernel/memkernel/bench/relevance"
	"github.com/memkernel/memkernel/bench/turns"
	"github.com/memkernel/memkernel/internal/cli"
	"github.com/memkernel/memkernel/internal/fail"
	"github.com/memkernel/memkernel/internal/setup"
)

// knownJSON is the document of eval --known-items.
type knownJSON struct {
	Schema string `json:"schema"`
	draw.KnownItems
}

// junkJSON is the document of eval --junk.
type junkJSON struct {
	Schema string `json:"schema"`
	Sealed bool   `json:"sealed"`
	turns.Report
}

// workspace indexes the workspace for the judge, and says when it is asked: two days
// after its newest note, when no daily log belongs to the session.
func (e *evalFlags) workspace(ctx context.Context, a *cli.App) (*relevance.Bench, time.Time, error) {
	if len(e.sets) > 0 || e.questions != "" || e.headings || e.ablate || e.leaveOut || e.compared {
		return nil, time.Time{}, fail.Usagef("--known-items and --junk judge --workspace: leave out what is about sets")
	}
	if e.n < 1 {
		return nil, time.Time{}, fail.Usagef("--n %d: give a number from 1 on", e.n)
	}
	if err := setup.NotInRows(&a.Settings, "--known-items and --junk judge the notes of a folder"); err != nil {
		return nil, time.Time{}, err
	}
	dir, err := filepath.Abs(a.Workspace)
	if err != nil {
		return nil, time.Time{}, err
	}
	b, err := relevance.Open(ctx, relevance.Set{Name: filepath.Base(dir), Dir: dir})
	if err != nil {
		return nil, time.Time{}, fail.Hint(err, "name a folder with notes with --workspace")
	}
	now := e.now.Time
	if now.IsZero() {
		if now, err = b.Moment(ctx); err != nil {
			b.Close()
			return nil, now, err
		}
		now = now.AddDate(0, 0, 1)
	}
	return b, now, nil
}

// knownItems looks for what stands in the workspace.
func (e *evalFlags) knownItems(ctx context.Context, a *cli.App) error {
	run := newEvalRun(a, e.now.Time)
	if err := run.set(e.with, e.without); err != nil {
		return err
	}
	if e.mode.Value != modeWords {
		return fail.Usagef("--known-items searches by words: leave out --mode")
	}
	b, now, err := e.workspace(ctx, a)
	if err != nil {
		return err
	}
	defer b.Close()
	run.ofHits(b)
	ours, plain, err := b.AskKnown(ctx, b.KnownItems(e.seed, e.n), &run.opts, now)
	if err != nil {
		return err
	}
	doc := knownJSON{"memkernel/eval_known/v1", draw.KnownItems{Workspace: b.Name, Seed: e.seed, Known: relevance.SumKnown(ours), Plain: relevance.SumKnown(plain)}}
	if e.ranks {
		for i := range ours {
			doc.Ranks = append(doc.Ranks, draw.KnownRank{Kind: ours[i].Kind, Query: ours[i].Query, Rank: ours[i].Rank, Share: ours[i].Share, Plain: plain[i].Rank})
		}
	}
	if a.JSON {
		return a.WriteJSON(doc)
	}
	return draw.Known(a.Out, &doc.KnownItems, a.Style())
}

// judgeJunk plans turns over the workspace, with a state folder that is removed.
func (e *evalFlags) judgeJunk(ctx context.Context, a *cli.App) error {
	prompts, err := turns.Prompts(e.sealed)
	if err != nil {
		return err
	}
	b, now, err := e.workspace(ctx, a)
	if err != nil {
		return err
	}
	defer b.Close()
	s, config := a.Settings, *a.Config
	config.Index.Backend = "sqlite"
	s.Config = &config
	if s.StateDir, err = os.MkdirTemp("", "memkernel-turns-"); err != nil {
		return err
	}
	defer os.RemoveAll(s.StateDir)
	k, err := s.Kernel(ctx, setup.Needs{})
	if err != nil {
		return err
	}
	defer k.Close()
	if _, err := k.Reindex(ctx, nil); err != nil {
		return err
	}
	items := b.Asked(e.seed, e.n)
	r, err := turns.Judge(ctx, k, prompts, items, b.HeldBy, now)
	if err = cmp.Or(err, k.Close()); err != nil {
		return err
	}
	if a.JSON {
		return a.WriteJSON(junkJSON{"memkernel/eval_junk/v1", e.sealed, r})
	}
	return draw.Junk(a.Out, &r, a.Style())
}
