package plan

import (
	"strings"
	"testing"
)

// Words leave by their size and never by their age, and a statement leaves with its correction.
func TestFitWords(t *testing.T) {
	count := func(s string) int { return len(strings.Fields(s)) }
	say := func(at int, texts ...string) spoken {
		s := spoken{at: at, turn: at + 1}
		for _, text := range texts {
			quoted, isQuoted := strings.CutPrefix(text, "> ")
			s.parts = append(s.parts, paragraph{text: quoted, quoted: isQuoted, tokens: count(quoted), short: "short…"})
		}
		return s
	}
	long := func(n int) string { return strings.Repeat("long ", n-1) + "long" }
	said := corrected([]spoken{
		say(0, "box_1 listens on port 4000 "+long(15)),
		say(1, "an old small fact", "> "+long(10)),
		say(2, long(30)),
		say(3, "box_1 listens on port 4100 "+long(15)),
		say(4, long(12)),
	})
	if said[3].corrects != 1 || said[0].corrected != 4 {
		t.Fatalf("the correction is not found: %+v", said)
	}
	left := absent{true, true, true, true, true}
	whole := func(words []spoken) (out string) {
		for i := range words {
			for j, p := range words[i].parts {
				if p.text == said[i].parts[j].text {
					out += "+"
				} else {
					out += "-"
				}
			}
		}
		return out
	}
	all := 5*turnTokens + 20 + 4 + 10 + 30 + 20 + 12
	for room, want := range map[int]string{
		all:      "++++++",
		all - 1:  "++-+++", // the paste first
		all - 10: "++--++", // then the longest
		all - 40: "-+---+", // then both sides of the correction
		all - 80: "-+----",
		1:        "------",
	} {
		if got := whole(fitWords(said, room, left, count)); got != want {
			t.Errorf("room %d of %d: %s, want %s", room, all, got, want)
		}
	}
	if whole(said) != "++++++" {
		t.Error("the words that were given have changed")
	}
}

// A file that the session removed is not under work any more.
func TestRemovedFiles(t *testing.T) {
	all := func() map[string]*tried {
		out := map[string]*tried{}
		for _, name := range []string{"/w/a.go", "/w/b/c.go", "/w/b/d.go", "/w/x/go.mod", "/w/y/go.mod"} {
			out[name] = &tried{name: name}
		}
		return out
	}
	for cmd, want := range map[string]int{
		"rm -f /w/a.go": 4, "cd /w && rm a.go": 4, "git rm -r b": 5, "rm -rf /w/b": 3, "cd /w; git mv b/c.go b/e.go": 4, "rm go.mod": 5, "rm a.go": 4, "echo rm": 5,
	} {
		files := all()
		remove(files, removedBy(cmd, ""))
		if len(files) != want {
			t.Errorf("%s: %d files are left, want %d", cmd, len(files), want)
		}
	}
	files := all()
	if remove(files, removedBy("", "*** Begin Patch\n*** Delete File: /w/a.go\n*** End Patch")); len(files) != 4 {
		t.Errorf("a patch: %d files are left", len(files))
	}
}
