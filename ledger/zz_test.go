package ledger

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
)

func rows(t *testing.T, f string) (out []map[string]any) {
	b, err := os.ReadFile(f)
	if err != nil {
		t.Skip()
	}
	for l := range strings.Lines(string(b)) {
		m := map[string]any{}
		if json.Unmarshal([]byte(l), &m) == nil {
			out = append(out, m)
		}
	}
	return
}

func TestZNothing(t *testing.T) {
	half := os.Getenv("HALF")
	n, k, all := 0, 0, 0
	for _, r := range rows(t, "/tmp/w/ledger/nothing_"+half+".jsonl") {
		all++
		l, a := false, false
		for _, s := range Read(r["text"].(string)) {
			a = true
			if s.Lasting {
				l = true
				if os.Getenv("SHOW") != "" {
					fmt.Printf("L %s | %s\n", s.Kind, s.Text)
				}
			} else if os.Getenv("SHOW") == "2" {
				fmt.Printf("- %s | %s\n", s.Kind, s.Text)
			}
		}
		if l {
			n++
		}
		if a {
			k++
		}
	}
	fmt.Printf("nothing: %d messages, lasting %d, any %d\n", all, n, k)
}

func TestZStatements(t *testing.T) {
	half := os.Getenv("HALF")
	type c struct{ n, last, any, trap, trapLast, trapAny int }
	by := map[string]*c{}
	for _, r := range rows(t, "/tmp/w/ledger/statements_"+half+".jsonl") {
		lang := r["lang"].(string)
		if by[lang] == nil {
			by[lang] = &c{}
		}
		trap := r["kind"] == "trap"
		last, any := false, false
		for _, s := range Read(r["message"].(string)) {
			hit := trap
			if acc, ok := r["accept"].([]interface{}); ok {
				for _, a := range acc {
					if re, err := regexp.Compile("(?i)" + a.(string)); err == nil && re.MatchString(s.Text) {
						hit = true
					}
				}
			}
			if hit {
				any = true
				if s.Lasting {
					last = true
				}
			}
			if trap && s.Lasting && os.Getenv("SHOW") != "" {
				fmt.Printf("TRAP %s %s | %s\n", lang, s.Kind, s.Text)
			}
		}
		x := by[lang]
		if trap {
			x.trap++
			if last {
				x.trapLast++
			}
			if any {
				x.trapAny++
			}
		} else {
			x.n++
			if last {
				x.last++
			}
			if any {
				x.any++
			}
			if !last && os.Getenv("SHOW") != "" {
				fmt.Printf("MISS %s any=%v %v | %s\n", lang, any, r["kind"], r["message"])
			}
		}
	}
	for l, x := range by {
		fmt.Printf("%s: %d, lasting %d, any %d; traps %d, lasting %d, any %d\n", l, x.n, x.last, x.any, x.trap, x.trapLast, x.trapAny)
	}
}

func TestZQuestions(t *testing.T) {
	half := os.Getenv("HALF")
	n, last, any := 0, 0, 0
	for _, r := range rows(t, "/tmp/w/ledger/questions_"+half+".jsonl") {
		n++
		l, a := false, false
		for _, s := range Read(r["quote"].(string)) {
			for _, x := range r["accept"].([]interface{}) {
				if re, err := regexp.Compile("(?i)" + x.(string)); err == nil && re.MatchString(s.Text) {
					a = true
					if s.Lasting {
						l = true
					}
				}
			}
		}
		if l {
			last++
		}
		if a {
			any++
		}
		if !l && os.Getenv("SHOW") != "" {
			fmt.Printf("Q any=%v %s | %s\n", a, r["answer"], r["quote"])
		}
	}
	fmt.Printf("questions: %d, quote read lasting %d, any %d\n", n, last, any)
}
