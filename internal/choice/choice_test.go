package choice

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"unicode/utf8"
)

// answerCase is one reply to what an agent said.
type answerCase struct {
	line         int
	agent, reply string
	want, text   string
}

func answerCases(t *testing.T, file string) []answerCase {
	t.Helper()
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var out []answerCase
	agent, replies := "", false
	for i, l := range strings.Split(string(raw), "\n") {
		switch {
		case strings.HasPrefix(l, "===="):
			agent, replies = "", false
		case l == "----":
			replies = true
		case !replies:
			agent += l + "\n"
		case strings.Contains(l, " => "):
			reply, want, _ := strings.Cut(l, " => ")
			want, text, _ := strings.Cut(want, " | ")
			out = append(out, answerCase{i + 1, agent, strings.ReplaceAll(reply, `\n`, "\n"), want, text})
		}
	}
	return out
}

func (a Answer) places() string {
	var out []string
	for _, c := range a.Chosen {
		out = append(out, fmt.Sprint(c+1))
	}
	for _, c := range a.Rejected {
		out = append(out, fmt.Sprint(-c-1))
	}
	if out == nil {
		return "words"
	}
	return strings.Join(out, " ")
}

func TestAnswers(t *testing.T) {
	for _, file := range []string{"testdata/tuned.txt", "testdata/kept.txt", "testdata/wild.txt", "testdata/last.txt"} {
		cases := answerCases(t, file)
		wrong, missed, made := 0, 0, 0
		for _, c := range cases {
			o := Offered(c.agent)
			a := o.Answer(c.reply)
			got, text := a.places(), ""
			for _, i := range append(a.Chosen, a.Rejected...) {
				text += o.Options[i].Text + "\n"
			}
			if got != c.want {
				switch {
				case c.want == "words":
					made++
				case got == "words":
					missed++
				default:
					wrong++
				}
			}
			if got != c.want || !strings.Contains(text, c.text) {
				t.Errorf("%s:%d: %q is %s, want %s; %q asks %v: %q", file, c.line, c.reply, got, c.want, o.Question, o.Asks, o.Options)
			}
		}
		t.Logf("%s: %d of %d right; %d missed, %d another, %d made up", file, len(cases)-wrong-missed-made, len(cases), missed, wrong, made)
	}
}

func TestStatements(t *testing.T) {
	for _, file := range []string{"testdata/statements_tuned.txt", "testdata/statements_kept.txt"} {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		n, right := 0, 0
		for i, l := range strings.Split(string(raw), "\n") {
			text, want, ok := strings.Cut(l, " => ")
			if !ok || strings.HasPrefix(l, "#") && !strings.HasPrefix(l, "## ") {
				continue
			}
			n++
			got := strings.Join(Statements(strings.ReplaceAll(text, `\n`, "\n")), " / ")
			if got == "" {
				got = "none"
			}
			if got != want {
				t.Errorf("%s:%d: %q says %q, want %q", file, i+1, text, got, want)
				continue
			}
			right++
		}
		t.Logf("%s: %d of %d right", file, right, n)
	}
}

// No text breaks the reader, cut and joined anywhere, and what it gives is bounded, valid
// and on one line.
func TestHostileTexts(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	cases := answerCases(t, "testdata/tuned.txt")
	texts := []string{"", "\x00", "\xff\xfe 1. \xff\n2. \xff", strings.Repeat("1. a\n", 4000), strings.Repeat("1. a\n2. b\n", 2000), strings.Repeat("- a\n", 5000), strings.Repeat("| a ", 5000), strings.Repeat("(1) ", 5000),
		strings.Repeat("or ", 6000) + "?", strings.Repeat("#", 9000), strings.Repeat("选", 6000) + "？", strings.Repeat("we decided ", 1500) + ".", strings.Repeat("```\n", 4000), strings.Repeat("Option ", 3000), strings.Repeat("'", 16000)}
	for range 400 {
		a, b := cases[rng.IntN(len(cases))], cases[rng.IntN(len(cases))]
		text := a.agent[:rng.IntN(len(a.agent))] + b.agent[rng.IntN(len(b.agent)):]
		texts = append(texts, text, text+strings.Repeat(b.reply, 3))
	}
	for _, text := range texts {
		o := Offered(text)
		reply := cases[rng.IntN(len(cases))].reply
		for _, r := range []string{reply, text, text[:len(text)/2]} {
			a := o.Answer(r)
			if a.Empty() {
				continue
			}
			if d := o.Decision(a, r); !utf8.ValidString(strings.ToValidUTF8(d, "?")) || strings.Contains(d, "\n") || utf8.RuneCountInString(d) > 460 {
				t.Errorf("%q to %.80q: %q", r, text, d)
			}
		}
		for _, s := range Statements(text) {
			if strings.Contains(s, "\n") || utf8.RuneCountInString(s) > StatementRunes {
				t.Errorf("%.80q says %q", text, s)
			}
		}
		Agrees(text)
		Settles(text)
	}
}

func TestSettles(t *testing.T) {
	for reply, want := range map[string]bool{"ok go": true, "no, remove it": true, "2": true, "#2": true, "nimm das zweite": true, "用第一个方案": true, "نعم": true, "так и сделаем": true, "はい": true, "skip 5, 7 and 8": true,
		"mise run build is failing": false, "can you rename it": false, "we have a cycle now": false, "1. lint fails\n2. new comments": false, "but what of the index": false, "fatal: bad object": false, "die Tests schlagen fehl": false,
		"тесты падают": false, "测试失败了": false, "": false} {
		if got := Settles(reply); got != want {
			t.Errorf("%q begins an answer: %v", reply, got)
		}
	}
}
