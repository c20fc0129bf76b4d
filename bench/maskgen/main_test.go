package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp/syntax"
	"strings"
	"testing"
)

// The embedded rules are what this program makes of the module's, if that has been
// downloaded before.
func TestRulesAreCurrent(t *testing.T) {
	path, version, _ := strings.Cut(Source, "@")
	cache, err := exec.Command("go", "env", "GOMODCACHE").Output()
	if err != nil {
		t.Skip("the go command can't be asked for its module cache")
	}
	raw, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(cache)), path+"@"+version, "config", "gitleaks.toml"))
	if err != nil {
		t.Skip("the module with the rules is not in the module cache; make mask-rules downloads it")
	}
	got, err := Generate(raw)
	if err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile("../../pagevm/mask/data/gitleaks.json")
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != string(want) {
		t.Error("pagevm/mask/data/gitleaks.json is not what the review makes of the rules; make mask-rules writes it anew")
	}
}

func TestGenerateRefuses(t *testing.T) {
	for name, in := range map[string]string{
		"no TOML":                 "[[rules",
		"bad regex":               "[[rules]]\nid = 'a'\nregex = '('\nkeywords = ['abc']\n",
		"no keyword":              "[[rules]]\nid = 'a'\nregex = 'abc'\n",
		"short keyword":           "[[rules]]\nid = 'a'\nregex = 'abc'\nkeywords = ['ab']\n",
		"upper case":              "[[rules]]\nid = 'a'\nregex = 'abc'\nkeywords = ['ABC']\n",
		"reviewed rules are gone": "[[rules]]\nid = 'a'\nregex = 'abc'\nkeywords = ['abc']\n",
		"unknown exception":       "[[rules]]\nid = 'a'\nregex = 'abc'\nkeywords = ['abc']\n[[rules.allowlists]]\nregexTarget = 'line'\n",
	} {
		if out, err := Generate([]byte(in)); err == nil {
			t.Errorf("%s: %s", name, out)
		}
	}
}

func TestLongest(t *testing.T) {
	for expr, want := range map[string]int{"abc": 12, "[a-z]{3}": 3, "a?b": 8, "(?:ab|c)x": 12, "[^a]": 4, `\bx$`: 4, "a*": -1, "a{2,}": -1, "(a|b+)": -1} {
		re, err := syntax.Parse(expr, syntax.Perl)
		if err != nil {
			t.Fatal(err)
		}
		if n, ok := longest(re); ok != (want >= 0) || ok && n != want {
			t.Errorf("%s: %d, %v, want %d", expr, n, ok, want)
		}
	}
}
