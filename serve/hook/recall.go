package hook

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"slices"
	"strconv"
	"strings"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/internal/choice"
	"github.com/memkernel/memkernel/internal/textutil"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/markdownstore"
	"github.com/memkernel/memkernel/pagevm/represent"
	"github.com/memkernel/memkernel/retrieval"
	"github.com/memkernel/memkernel/transcript"
)

// recallPool is the number of hits that are considered for a prompt.
const recallPool = 24

// recall returns the notes on the user's words that were not shown since the last compaction, in
// the same fenced block as in plans. It records that they were shown.
func (h *handler) recall(ctx context.Context, r *record) string {
	packed, res, err := h.notes(ctx, r.shows, false)
	if err != nil || res == nil {
		h.fail(err)
		return ""
	}
	if told := string(res.Reason); r.Told != told {
		r.Told = told
		switch {
		case res.Err != nil, res.Reason == retrieval.Disabled, res.Reason == retrieval.StaleIndex, res.Reason == retrieval.Indexing:
			h.fail(errors.New(told + ": " + res.Detail)) // once, until it is otherwise
		}
	}
	for _, it := range packed.Items {
		r.Shown = append(r.Shown, it.Hits...)
		h.lines = append(h.lines, Lines{it.Path, it.StartLine, it.EndLine})
	}
	r.Shown = r.Shown[max(len(r.Shown)-maxShown, 0):]
	return retrieval.Render(packed.Items)
}

// notes searches memory for the user's words, and packs what fits. The result is nil if nothing is
// searched. With peek it writes nothing.
func (h *handler) notes(ctx context.Context, shown func(retrieval.Hit) bool, peek bool) (packed retrieval.Packed, res *retrieval.Result, err error) {
	s := h.setup
	prompt := memkernel.Message{Parts: memkernel.Text(h.e.Prompt)}
	query := transcript.Words(prompt) // hosts put notices of their own into prompts, too
	if s.RecallTokens < 0 || query == "" || choice.Agrees(query) {
		return packed, nil, nil
	}
	res, err = s.Kernel.Search(ctx, api.SearchRequest{Query: query, Prompt: true, SessionKey: h.key, Folder: h.e.Cwd, Private: s.Private, MaxResults: recallPool, Lines: true, MinBest: retrieval.DefaultMinBest, Loaded: h.Host.row().loads, Now: h.Now(), Peek: peek})
	if err != nil {
		return packed, nil, err
	}
	return retrieval.Pack(res.Hits, &retrieval.PackOptions{Tokens: s.RecallTokens, Shown: shown}), res, nil
}

// Preview returns the text that a host's hook would put into a prompt of a new session, and its
// parts and tokens. If there is none, why says so. It writes nothing, and closes s.
func Preview(ctx context.Context, host Host, s *Setup, folder, prompt string) (text string, packed retrieval.Packed, why string, err error) {
	h := &handler{Options: Options{Host: host}, e: &event{Prompt: prompt, Cwd: folder}, setup: s}
	h.setDefaults()
	defer func() { err = errors.Join(err, s.close()) }()
	packed, res, err := h.notes(ctx, nil, true)
	switch {
	case err != nil:
	case res == nil:
		why = "the hook searches nothing for such words"
	case len(packed.Items) == 0:
		why = cmp.Or(res.Detail, "no note fits well enough")
	}
	return retrieval.Render(packed.Items), packed, why, err
}

// intro explains memory. The rules and the descriptions of the tools say when to search it and
// which facts to keep.
const intro = `Memory of this project: MEMORY.md, memory/*.md. memory_search or "memkernel search QUESTION" searches it.`

// memory returns the text about memory for a session that begins. The text says that there is a
// memory, and shows the files that represent it. If there is no memory, memory returns "".
//
// The text leaves out a log that has only entries of the session `from`, because the checkpoint
// of that session follows. So the newest entry of that session counts as shown.
func (h *handler) memory(ctx context.Context, r *record, from string) string {
	s := h.setup
	if s.Store == nil || s.RecallTokens < 0 {
		return ""
	}
	room := cmp.Or(s.RecallTokens, retrieval.DefaultPackTokens)
	hits, missing := h.startFiles(r, room*3, from) // three bytes a token, as Pack counts
	if len(hits) == 0 && !h.anyMemory(ctx) {
		return ""
	}
	packed := retrieval.Pack(hits, &retrieval.PackOptions{Tokens: room, Items: len(hits) + 1})
	for _, it := range packed.Items {
		l := Lines{it.Path, it.StartLine, it.EndLine}
		r.Lines, h.lines = append(r.Lines, l), append(h.lines, l)
	}
	return join(intro, retrieval.WithheldLine(s.Kernel.Hooks().Withheld(s.Private)), retrieval.Render(packed.Items), missing)
}

// startFiles returns the beginnings and the newest parts of curated memory, and the ends of the
// newest logs. missing says which lines of memory hits does not have.
func (h *handler) startFiles(r *record, room int, from string) (hits []retrieval.Hit, missing string) {
	s := h.setup
	restored := false
	shown := curatedLines{}
	add := func(path, date string, share int) {
		f, err := s.Store.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			return
		}
		if err != nil {
			h.fail(err)
			return
		}
		if date != "" && from != "" {
			first, last, only := entriesOf(f.Text, from)
			if last > 0 && !restored {
				r.Lines, restored = append(r.Lines, Lines{path, first, last}), true
			}
			if only {
				return
			}
		}
		if date == "" {
			parts, what := represent.Ends(path, s.Mask.Lines(f.Text), share)
			for _, p := range parts {
				hits = append(hits, hitOf(path, "", p))
				shown.add(p.Text)
			}
			missing = join(missing, what)
		} else if p, ok := represent.End(s.Mask.Lines(shown.without(path, markdownstore.ProjectLog(f.Text, ""))), share); ok {
			hits = append(hits, hitOf(path, date, p))
		}
	}
	if s.Private {
		add("MEMORY.md", "", room*4/10)
		add("USER.md", "", room*15/100)
	}
	today, yesterday := s.Store.DailyLogs(h.Now())
	add(today.Path, today.Date, room*2/10)
	add(yesterday.Path, yesterday.Date, room*15/100)
	return hits, missing
}

// curatedLines are the lines of logs that shown lines of curated memory quote, by the log's path.
type curatedLines map[string][]int

// quotation matches a mark of a curated line, quotedLines a place that the mark names.
var (
	quotation   = textutil.LazyRegexp(`<!-- from ([^<>]+) -->`)
	quotedLines = textutil.LazyRegexp(`([^\s,]+)#L(\d+)(?:-L(\d+))?`)
)

func (q curatedLines) add(curated string) {
	for _, mark := range quotation.FindAllString(curated, -1) {
		for _, m := range quotedLines.FindAllStringSubmatch(mark, -1) {
			from, _ := strconv.Atoi(m[2])
			to, _ := strconv.Atoi(cmp.Or(m[3], m[2]))
			for n := from; n <= min(to, from+mostQuoted); n++ {
				q[m[1]] = append(q[m[1]], n)
			}
		}
	}
}

// mostQuoted bounds the lines of one quotation, our choice.
const mostQuoted = 100

// without blanks the quoted lines of a log, so that the others keep their numbers. It returns "" if
// nothing but headings and comments is left.
func (q curatedLines) without(path, log string) string {
	lines, left := strings.SplitAfter(log, "\n"), false
	for i, l := range lines {
		l = strings.TrimSpace(l)
		switch {
		case slices.Contains(q[path], i+1):
			lines[i] = "\n"
		case l != "" && !strings.HasPrefix(l, "#") && !strings.HasPrefix(l, "<!--"):
			left = true
		}
	}
	if !left {
		return ""
	}
	return strings.Join(lines, "")
}

// entriesOf finds the entries of one session's checkpoints in a log. It returns the lines of the
// newest entry, with the day's heading if nothing else precedes them, 0 if there is none. only
// reports whether the log has nothing but such entries after the day's heading.
func entriesOf(text, session string) (first, last int, only bool) {
	n, others, only := 0, false, true
	for line := range strings.Lines(text) {
		n++
		goesOn := strings.HasPrefix(line, "- ") || strings.HasPrefix(line, "<!-- ") || strings.HasPrefix(line, "  ")
		switch {
		case strings.HasPrefix(line, "Session "+session+", cp_"):
			if first, last = n, n; !others {
				first = 1
			}
			others = true
		case strings.TrimSpace(line) == "":
		case strings.HasPrefix(line, "# "):
			only = only && last == 0
		case goesOn && last > 0:
			if last == n-1 {
				last = n
			}
		default:
			others, only = true, false
		}
	}
	return first, last, only && last > 0
}

// anyMemory reports whether the workspace has any file of memory.
func (h *handler) anyMemory(ctx context.Context) bool {
	for f, err := range h.setup.Store.Walk(ctx) {
		if err == nil && f.Memory {
			return true
		}
	}
	return false
}

// hitOf is a part of a file as recall shows it.
func hitOf(path, date string, p represent.Part) retrieval.Hit {
	return retrieval.Hit{Kind: retrieval.Memory, ID: path, Path: path, StartLine: p.From, EndLine: p.To, Date: date, Score: 1, Citation: path, Text: p.Text}
}
