package scriptedhost

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/checkpoint"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/kernel/fault"
	"github.com/memkernel/memkernel/transcript"
)

// Sight is all that a model can know of a session.
type Sight struct {
	// Plan is the next call's, Prompt what it shows with the calls' arguments.
	Plan   *api.ContextPlan
	Prompt string
	// Restore is the text to go on from, Pointed what it and the prompt point to.
	Restore, Pointed string
	// Markdown is the content of all the workspace's files.
	Markdown string
	// Workspace is the folder that was looked at, a copy.
	Workspace string
}

// Check looks for everything in the ledger, in a copy of all that is on disk,
// so that looking changes nothing. A step that was under way when the process was
// killed may be named: what it adds may be there or not.
func (h *Host) Check(ctx context.Context, underWay *Step) error {
	dir, err := h.copied()
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	c := *h
	c.Dir, c.k, c.Faults = dir, nil, map[fault.Code]int{}
	if err := c.Open(ctx); err != nil {
		return err
	}
	defer c.Close()
	if underWay == nil {
		underWay = &Step{Now: h.now.Now}
	}
	c.hear(underWay)
	return c.check(ctx, underWay)
}

func (h *Host) check(ctx context.Context, underWay *Step) error {
	// What is wrong on disk is to be seen before a write mends it.
	whole := h.whole(ctx)
	s, err := h.look(ctx)
	if err != nil {
		return errors.Join(whole, err)
	}
	return errors.Join(whole, h.fits(s.Plan), h.pins(s, &underWay.Gain), h.said(s, underWay), h.inMarkdown(s, underWay),
		h.counted(ctx, underWay), h.restores(ctx, s.Plan), h.onDisk(ctx, underWay), h.asked(s))
}

// asked runs the host's own check, if it has one.
func (h *Host) asked(s *Sight) error {
	if h.Hooks.Look == nil {
		return nil
	}
	return h.Hooks.Look(s)
}

// onDisk: a host that has lost its messages gets a checkpoint of all that was
// observed, but for the question that looking has answered.
func (h *Host) onDisk(ctx context.Context, underWay *Step) error {
	if underWay.Kind == Reset || underWay.Kind == Turn || underWay.Kind == Result {
		return nil // may have been captured already
	}
	c, err := h.k.Checkpoint(ctx, api.Boundary{SessionKey: session, Model: model, Now: h.now.Now})
	if err != nil || c == nil {
		return err
	}
	id := string(c.Meta.CheckpointID)
	text, err := h.follow(ctx, "get "+id+".decisions get "+id+".open_items")
	if err != nil {
		return err
	}
	var errs []error
	all := squeeze(text)
	for what, list := range map[string][]string{"decision": h.Ledger.Observed.Decisions, "open item": h.Ledger.Observed.Open} {
		for _, item := range list {
			if !strings.Contains(all, item) && !exchanged(all, item) {
				errs = append(errs, fmt.Errorf("%s %q is not in %s, made without the host's messages", what, item, id))
			}
		}
	}
	return errors.Join(errs...)
}

// copied returns a copy of the host's folder, without the trace of decisions, which is
// large and which nothing needs.
func (h *Host) copied() (string, error) {
	dir, err := os.MkdirTemp("", "scriptedhost-")
	if err != nil {
		return "", err
	}
	return dir, filepath.WalkDir(h.Dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(h.Dir, path)
		to := filepath.Join(dir, rel)
		switch {
		case err != nil:
			return err
		case d.IsDir():
			return os.MkdirAll(to, 0o700)
		case !d.Type().IsRegular() || strings.HasPrefix(d.Name(), "trace"):
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(to, text, 0o600)
	})
}

// look plans the next call, reads the workspace, and reads what both name.
func (h *Host) look(ctx context.Context) (*Sight, error) {
	s := &Sight{Workspace: h.Workspace()}
	req := h.request(h.now)
	if n := len(h.msgs); n == 0 || h.msgs[n-1].Role == memkernel.RoleAssistant {
		req.Messages = append(req.Messages[:n:n], memkernel.Message{Key: "asked-now", Role: memkernel.RoleUser, Time: h.now.Now,
			Parts: []memkernel.Part{{Kind: memkernel.PartText, Text: "Where do we stand?", Typed: true}}})
	}
	var err error
	if s.Plan, err = h.k.PlanContext(ctx, req); err != nil {
		return nil, err
	}
	for _, m := range s.Plan.Messages {
		s.Prompt += transcript.Text(m) + "\n"
		for _, p := range m.Parts {
			if p.Call != nil {
				s.Prompt += p.Call.Input + "\n"
			}
		}
	}
	r, err := h.k.Restore(ctx, api.RestoreRequest{SessionKey: session, Occasion: checkpoint.AfterCompaction, Resolver: resolver})
	if err != nil {
		return nil, err
	}
	if len(r.Damaged) > 0 {
		return nil, fmt.Errorf("restore names damage: %v", r.Damaged)
	}
	s.Restore = r.Text
	if s.Pointed, err = h.follow(ctx, s.Prompt+"\n"+s.Restore); err != nil {
		return nil, err
	}
	s.Markdown, err = markdown(h.Workspace())
	return s, err
}

// pointer is what follows "get" in prompts and restore texts.
var pointer = regexp.MustCompile(`get ((?:cp_\d+|su-[0-9a-z]+)(?:\.[a-z_]+)?)`)

// follow reads every pointer in a text.
func (h *Host) follow(ctx context.Context, text string) (string, error) {
	var b strings.Builder
	seen := map[string]bool{}
	for _, m := range pointer.FindAllStringSubmatch(text, -1) {
		if seen[m[1]] {
			continue
		}
		seen[m[1]] = true
		c, err := h.k.Get(ctx, session, m[1])
		if err != nil {
			return "", err
		}
		if c.Reason != api.GetOK {
			return "", fmt.Errorf("the prompt names %s, which is %s: %s", m[1], c.Reason, c.Detail)
		}
		b.WriteString(c.Text)
		b.WriteByte('\n')
	}
	return b.String(), nil
}

// markdown returns the content of all the workspace's files.
func markdown(dir string) (string, error) {
	var b strings.Builder
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && strings.HasPrefix(d.Name(), "."):
			return fs.SkipDir
		case filepath.Ext(path) != ".md", d.Name() == "SESSION-STATE.md", d.Name() == "working-buffer.md":
			return nil // those two state how far the work is, again and again
		}
		text, err := os.ReadFile(path)
		b.Write(text)
		return err
	})
	return b.String(), err
}

// pins: rules verbatim and once, the plan page's newest goal and step.
func (h *Host) pins(s *Sight, also *Gain) error {
	var errs []error
	for _, rule := range h.Ledger.Pinned {
		if n := strings.Count(s.Prompt, rule); n != 1 {
			errs = append(errs, fmt.Errorf("pinned rule %q stands %d times in the prompt", rule, n))
		}
	}
	for field, is := range map[string][2]string{"goal: ": {h.Ledger.Goal, also.Goal}, "step: ": {h.Ledger.Step, also.Step}} {
		at := strings.LastIndex(s.Prompt, "[plan work, of this session, version ")
		if at < 0 {
			return errors.Join(append(errs, errors.New("the plan page does not stand in the prompt"))...)
		}
		if page := s.Prompt[at:]; is[0] != "" && !strings.Contains(page, field+is[0]) && (is[1] == "" || !strings.Contains(page, field+is[1])) {
			errs = append(errs, fmt.Errorf("the plan page that stands last says no %q", field+is[0]))
		}
	}
	return errors.Join(errs...)
}

// said: what was told, settled and left open in conversation can be reached.
func (h *Host) said(s *Sight, underWay *Step) error {
	var errs []error
	l := h.Ledger
	all := s.Prompt + "\n" + s.Restore + "\n" + s.Pointed
	if underWay.Kind == Reset {
		all += s.Markdown // the epoch may have ended
	}
	if underWay.Gain.Items != nil {
		l.Items = nil // the plan may be another one
	}
	all = squeeze(all)
	for what, list := range map[string][]string{"told rule": l.Told, "decision": l.recent(), "open item": l.open(), "item left open": l.Left} {
		for _, text := range list {
			if !strings.Contains(all, text) && !exchanged(all, text) {
				errs = append(errs, fmt.Errorf("%s %q is neither in the prompt nor behind a pointer", what, text))
			}
		}
	}
	return errors.Join(errs...)
}

// exchanged reports whether both sides of the exchange that a decision came of are there.
func exchanged(all, decision string) bool {
	parts := strings.Split(decision, " → ")
	for _, p := range parts {
		if !strings.Contains(all, p) {
			return false
		}
	}
	return len(parts) > 1
}

func squeeze(s string) string { return strings.Join(strings.Fields(s), " ") }

// inMarkdown: every memory once, what a boundary has logged once, nothing twice.
func (h *Host) inMarkdown(s *Sight, underWay *Step) error {
	var errs []error
	stands := entries(s.Markdown)
	for what, list := range map[string][]string{"memory": h.Ledger.Memories, "what a boundary had to log": h.Ledger.Logged} {
		for _, m := range list {
			if n := stands[squeeze(m)]; n != 1 {
				errs = append(errs, fmt.Errorf("%s, %q, stands %d times in Markdown", what, m, n))
			}
		}
	}
	for text, n := range stands {
		if n > 1 {
			errs = append(errs, fmt.Errorf("entry %q stands %d times in Markdown (step %s was under way)", text, n, underWay.Key))
		}
	}
	return errors.Join(errs...)
}

// tag is what a log has before an entry's own words: why it matters, that an agent wrote it, and its status.
var tag = regexp.MustCompile(`^(?:- )?(?:\[[a-z]+\] )*(?:agent: )?(?:unanswered: |in_progress: |pending: )?`)

// entries counts the entries of the logs by their words.
func entries(markdown string) map[string]int {
	out := map[string]int{}
	for line := range strings.SplitSeq(markdown, "\n") {
		line = squeeze(line)
		if line == "" || line[0] == '#' || strings.HasPrefix(line, "<!--") || strings.HasSuffix(line, ":") {
			continue
		}
		out[tag.ReplaceAllString(line, "")]++
	}
	return out
}

// counted: every turn once, and the last one again is a duplicate.
func (h *Host) counted(ctx context.Context, underWay *Step) error {
	st, err := h.k.Status(ctx, nil)
	if err != nil {
		return err
	}
	turns := 0
	for _, s := range st.Sessions {
		if s.Key == session {
			turns = s.Turns
		}
	}
	if want := h.Ledger.Turns; turns != want && (underWay.Kind != Turn || turns != want+1) {
		return fmt.Errorf("%d turns stand, %d were acknowledged", turns, want)
	}
	if len(h.ended) == 0 || underWay.Kind == Reset || underWay.Kind == Turn {
		return nil
	}
	o, err := h.k.ObserveTurn(ctx, api.Turn{SessionKey: session, Model: model, Messages: h.ended, Now: h.now.Now})
	if err == nil && o.Outcome != api.Duplicate {
		err = fmt.Errorf("the last turn delivered again is %s, %d turns", o.Outcome, o.Turns)
	}
	return err
}

// whole: the files check.
func (h *Host) whole(ctx context.Context) error {
	if h.Shallow {
		return nil
	}
	findings, err := h.k.Check(ctx)
	if err == nil && len(findings) > 0 {
		err = fmt.Errorf("check finds %+v", findings)
	}
	return err
}

// samples is how many reduced pages are restored by a check.
const samples = 4

// restores: what the prompt leaves out can be read.
func (h *Host) restores(ctx context.Context, p *api.ContextPlan) error {
	for i := 0; i < len(p.Reduced); i += max(1, len(p.Reduced)/samples) {
		r := p.Reduced[i]
		for _, id := range [...]string{r.Page, r.Handle} {
			c, err := h.k.Get(ctx, session, id)
			if err != nil {
				return err
			}
			if c.Reason != api.GetOK {
				return fmt.Errorf("reduced page %s does not restore by %s: %s %s", r.Page, id, c.Reason, c.Detail)
			}
		}
	}
	return nil
}
