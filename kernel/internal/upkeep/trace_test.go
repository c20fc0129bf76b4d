package upkeep

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/memkernel/memkernel/consolidation"
	"github.com/memkernel/memkernel/kernel/api"
)

var start = time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)

// did is a state of a file as a test writes it down.
func did(hour int, kind api.RunKind, id, text string, also ...string) state {
	s := state{time: start.Add(time.Duration(hour) * time.Hour), text: text, now: kind == api.RunNow}
	if kind != api.RunNow && kind != api.RunSeen {
		s.by = &logged{id: id, run: &promise{Kind: kind}}
		for _, path := range also {
			s.by.run.Steps = append(s.by.run.Steps, &step{Path: path})
		}
	}
	return s
}

// world is what is known of files.
type world map[string][]state

func (w world) tracer() *tracer {
	return &tracer{
		read: func(path string) ([]state, error) { return merged(w[path]), nil },
		origin: func(_, marker, _ string) consolidation.Origin {
			if marker != "" {
				return consolidation.OriginHand
			}
			return consolidation.OriginUnknown
		},
		successor: func(string, *consolidation.Entry) string { return "" },
	}
}

// told is a history in short: event@file:line of who, newest first.
func told(t *testing.T, w world, path string, line int) string {
	t.Helper()
	tr := w.tracer()
	vs, e := tr.entry(path, line)
	if tr.err != nil {
		t.Fatal(tr.err)
	}
	if e == nil {
		return "none"
	}
	return short(vs)
}

func short(vs []api.HistoryVersion) string {
	var out []string
	for _, v := range vs {
		s := fmt.Sprintf("%s@%s:%d %s", v.Event, v.Path, v.Line, v.Origin)
		if len(v.From) > 0 {
			s += " <" + strings.Join(v.From, ",")
		}
		if len(v.To) > 0 {
			s += " >" + strings.Join(v.To, ",")
		}
		if v.SupersededBy != "" {
			s += " ^" + v.SupersededBy
		}
		out = append(out, s)
	}
	return strings.Join(out, "; ")
}

// An entry is followed from line to line, through changes, files, runs and people's own
// ways of writing.
func TestEntriesAreFollowed(t *testing.T) {
	const a, b = "- The pump of boat 7 is repaired by Maria.\n", "- Gate 3 is opened by keeper Olsen.\n"
	for name, c := range map[string]struct {
		w    world
		path string
		line int
		want string
	}{
		"nothing but what is there": {world{"MEMORY.md": {did(1, api.RunNow, "", "# M\n\n"+a)}}, "MEMORY.md", 3, "first_known@MEMORY.md:3 unknown"},
		"no entry":                  {world{"MEMORY.md": {did(1, api.RunNow, "", "# M\n\n"+a)}}, "MEMORY.md", 2, "none"},
		"lines move": {world{"MEMORY.md": {did(1, api.RunSeen, "", a), did(2, api.RunSeen, "", b+a), did(3, api.RunNow, "", b+"\n- x is new here\n"+a)}},
			"MEMORY.md", 4, "first_known@MEMORY.md:1 unknown"},
		"a value changes": {world{"MEMORY.md": {did(1, api.RunSeen, "", b+a), did(2, api.RunNow, "", b+strings.Replace(a, "Maria", "Jens", 1))}},
			"MEMORY.md", 2, "changed@MEMORY.md:2 unknown; first_known@MEMORY.md:2 unknown"},
		"another line is no version": {world{"MEMORY.md": {did(1, api.RunSeen, "", a), did(2, api.RunNow, "", "- Lamps want oil of the better sort.\n")}},
			"MEMORY.md", 1, "written@MEMORY.md:1 unknown"},
		"an edit puts other words in a line's place": {world{"MEMORY.md": {did(1, api.RunSeen, "", a), did(2, api.RunEdit, "run-1", "- Lamps want oil of the better sort.\n", "MEMORY.md")}},
			"MEMORY.md", 1, "changed@MEMORY.md:1 agent; first_known@MEMORY.md:1 unknown"},
		"of two that are alike the nearer one": {world{"MEMORY.md": {did(1, api.RunSeen, "", "- Gate 3 is opened by keeper Olsen.\n- Gate 4 is opened by keeper Berg.\n"),
			did(2, api.RunNow, "", "- Gate 3 is opened by keeper Olsen.\n- Gate 4 is opened by keeper Lund.\n")}}, "MEMORY.md", 2, "changed@MEMORY.md:2 unknown; first_known@MEMORY.md:2 unknown"},
		"Chinese": {world{"MEMORY.md": {did(1, api.RunSeen, "", "- 数据库运行在端口 5432 上\n"), did(2, api.RunNow, "", "- 数据库运行在端口 6432 上\n")}},
			"MEMORY.md", 1, "changed@MEMORY.md:1 unknown; first_known@MEMORY.md:1 unknown"},
		"prose of several lines": {world{"MEMORY.md": {did(1, api.RunSeen, "", "The ferry calls\nat the north quay in winter.\n"), did(2, api.RunNow, "", "# Ferries\n\nThe ferry calls\nat the south quay in winter.\n")}},
			"MEMORY.md", 4, "changed@MEMORY.md:3 unknown; first_known@MEMORY.md:1 unknown"},
		"other line ends": {world{"MEMORY.md": {did(1, api.RunSeen, "", a+b), did(2, api.RunNow, "", strings.ReplaceAll(b+a, "\n", "\r\n"))}},
			"MEMORY.md", 2, "first_known@MEMORY.md:1 unknown"},
		"promoted from a log": {world{
			"MEMORY.md":            {did(1, api.RunSeen, "", b), did(2, api.RunCurate, "run-1", b+"\n- The pump is Maria's. <!-- from memory/2026-03-01.md#L3 -->\n<!-- mk:up-1 -->\n", "MEMORY.md")},
			"memory/2026-03-01.md": {did(1, api.RunNow, "", "# 2026-03-01\n\n- 10:00 Maria repairs the pump\n")}},
			"MEMORY.md", 3, "promoted@MEMORY.md:3 upkeep <memory/2026-03-01.md#L3; first_known@memory/2026-03-01.md:3 unknown"},
		"promoted from a log that is gone": {world{"MEMORY.md": {did(1, api.RunSeen, "", b), did(2, api.RunCurate, "run-1", b+"\n- The pump is Maria's. <!-- from memory/2026-03-01.md#L3 -->\n<!-- mk:up-1 -->\n", "MEMORY.md")}},
			"MEMORY.md", 3, "promoted@MEMORY.md:3 upkeep <memory/2026-03-01.md#L3"},
		"promoted, then changed by hand": {world{
			"MEMORY.md": {did(1, api.RunSeen, "", b), did(2, api.RunCurate, "run-1", b+"\n- The pump is Maria's. <!-- from memory/2026-03-01.md#L3 -->\n<!-- mk:up-1 -->\n", "MEMORY.md"),
				did(3, api.RunNow, "", b+"\n- The pump is Jens's now. <!-- from memory/2026-03-01.md#L3 -->\n<!-- mk:up-1 -->\n")}},
			"MEMORY.md", 3, "changed@MEMORY.md:3 hand <>; promoted@MEMORY.md:3 upkeep <memory/2026-03-01.md#L3"},
		"moved by a pruning": {world{
			"MEMORY.md":       {did(1, api.RunSeen, "", "# M\n\n"+a+b), did(2, api.RunPrune, "run-1", "# M\n\n"+b+"<!-- moved to memory/boats.md -->\n", "memory/boats.md", "MEMORY.md")},
			"memory/boats.md": {{time: start, absent: true}, did(2, api.RunPrune, "run-1", "# Boats\n\n"+strings.TrimSpace(a)+" <!-- from MEMORY.md -->\n<!-- mk:up-2 -->\n", "memory/boats.md", "MEMORY.md")}},
			"memory/boats.md", 3, "moved@memory/boats.md:3 upkeep <MEMORY.md:3; first_known@MEMORY.md:3 unknown"},
		"moved by an edit": {world{
			"memory/a.md": {did(1, api.RunSeen, "", a+b), did(2, api.RunEdit, "run-1", b, "memory/a.md", "memory/b.md")},
			"memory/b.md": {did(2, api.RunEdit, "run-1", "# B\n\n"+a, "memory/a.md", "memory/b.md")}},
			"memory/b.md", 3, "moved@memory/b.md:3 agent <memory/a.md:1; first_known@memory/a.md:1 unknown"},
		"taken back": {world{
			"MEMORY.md": {did(1, api.RunSeen, "", a+b), did(2, api.RunPrune, "run-1", b, "MEMORY.md", "memory/archive/x.md"), did(3, api.RunUndo, "run-2", a+b, "MEMORY.md", "memory/archive/x.md")},
			"memory/archive/x.md": {{time: start, absent: true}, did(2, api.RunPrune, "run-1", "# Taken out\n\n"+a, "MEMORY.md", "memory/archive/x.md"),
				did(3, api.RunUndo, "run-2", "", "MEMORY.md", "memory/archive/x.md")}},
			"MEMORY.md", 1, "restored@MEMORY.md:1 upkeep; removed@MEMORY.md:1 upkeep >memory/archive/x.md:3; first_known@MEMORY.md:1 unknown"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := told(t, c.w, c.path, c.line); got != strings.ReplaceAll(c.want, " <>", "") {
				t.Errorf("it is\n%s\nwant\n%s", got, c.want)
			}
		})
	}
}

// What an entry took the place of is in its history, and says by what.
func TestWhatWasSupersededIsFollowed(t *testing.T) {
	old := consolidation.Entry{Text: "- The sweeper listens on port 9100."}
	memory := old.Text + "\n\n## 2026-03-09\n\n- [decision] The sweeper listens on port 9200. <!-- supersedes " + old.Name() + " -->\n<!-- mk:up-1 -->\n"
	w := world{"MEMORY.md": {did(1, api.RunSeen, "", old.Text+"\n"), did(2, api.RunCurate, "run-1", memory, "MEMORY.md")}}
	if got, want := told(t, w, "MEMORY.md", 5), "written@MEMORY.md:5 upkeep; first_known@MEMORY.md:1 unknown ^MEMORY.md:5"; got != want {
		t.Errorf("it is\n%s\nwant\n%s", got, want)
	}
}

// States whose text is no longer kept are passed over, and what is known on both sides of
// them is joined.
func TestUnkeptStates(t *testing.T) {
	gone := did(2, api.RunCurate, "run-1", "")
	gone.hash, gone.unkept = "h", true
	w := world{"MEMORY.md": {did(1, api.RunSeen, "", "- one thing of many\n"), gone, did(3, api.RunNow, "", "- one thing of several\n")}}
	if got, want := told(t, w, "MEMORY.md", 1), "changed@MEMORY.md:1 unknown; first_known@MEMORY.md:1 unknown"; got != want {
		t.Errorf("it is\n%s\nwant\n%s", got, want)
	}
	tr := w.tracer()
	vs, err := tr.file("MEMORY.md"), tr.err
	if err != nil || len(vs) != 2 || vs[0].Added != 1 || vs[0].Removed != 1 {
		t.Errorf("%+v, %v", vs, err)
	}
}

// A file that is taken away and made again has both in its history.
func TestFilesAreFollowed(t *testing.T) {
	w := world{"memory/a.md": {did(1, api.RunSeen, "", "one\ntwo\n"), {time: start.Add(2 * time.Hour), absent: true}, did(3, api.RunSeen, "", "one\n"), did(4, api.RunNow, "", "one\n\n\n")}}
	tr := w.tracer()
	vs, err := tr.file("memory/a.md"), tr.err
	if got, want := short(vs), "written@memory/a.md:0 unknown; removed@memory/a.md:0 unknown; first_known@memory/a.md:0 unknown"; got != want || err != nil {
		t.Errorf("it is\n%s, %v\nwant\n%s", got, err, want)
	}
}

// Whatever people do to a file, the history of each of its entries ends, is in order, begins
// with what stands there and says nothing twice.
func TestHistoryOfAnything(t *testing.T) {
	line := rapid.SampledFrom([]string{"- gate one is opened by Olsen", "- gate two is opened by Olsen", "- gate two is opened by Berg", "# Gates", "## Lamps", "", "lamps want oil", "- 灯需要油", "| a | b |", "|---|---|",
		"- x <!-- from memory/a.md#L2 -->", "- y <!-- from MEMORY.md#L1, memory/a.md#L1 --> <!-- supersedes memory/a.md#L1 -->", "<!-- mk:up-1 -->", "- z <!-- supersedes k-000000000000 -->"})
	kinds := rapid.SampledFrom([]api.RunKind{api.RunCurate, api.RunPrune, api.RunEdit, api.RunUndo, api.RunSeen})
	rapid.Check(t, func(t *rapid.T) {
		w := world{}
		for _, path := range []string{"MEMORY.md", "memory/a.md"} {
			for i := range rapid.IntRange(1, 6).Draw(t, "states") {
				s := did(i, kinds.Draw(t, "kind"), fmt.Sprintf("run-%d", i), strings.Join(rapid.SliceOfN(line, 0, 8).Draw(t, "lines"), "\n"), "MEMORY.md", "memory/a.md")
				s.unkept = rapid.IntRange(0, 9).Draw(t, "unkept") == 0
				w[path] = append(w[path], s)
			}
			w[path] = append(w[path], did(9, api.RunNow, "", strings.Join(rapid.SliceOfN(line, 1, 8).Draw(t, "now"), "\n")))
		}
		for n := 1; n <= 8; n++ {
			tr := w.tracer()
			vs, e := tr.entry("MEMORY.md", n)
			if tr.err != nil || e == nil {
				continue
			}
			said := map[string]bool{}
			for i, v := range vs {
				if i > 0 && v.Time.After(vs[i-1].Time) {
					t.Fatalf("%s is not in order", short(vs))
				}
				if k := fmt.Sprint(v.Time, v.Event, v.Path, v.Line, v.Text); said[k] {
					t.Fatalf("%s says something twice", short(vs))
				} else {
					said[k] = true
				}
			}
			if e.Text != "" && len(vs) == 0 {
				t.Fatalf("of %q nothing is known", e.Text)
			}
		}
	})
}
