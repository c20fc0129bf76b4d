// Package canary makes texts with secrets in them, for tests of what must never
// reach a disk or a server. Its files hold no secret: the characters of tokens are
// generated, so that no scanner takes them for a leak, and by another seed others.
//
//	kinds.txt ─┐
//	more.txt  ─┴► Texts(file, seed) ──► text, and the secrets in it
//	none.txt  ───► texts that look alike and hold none
package canary

import (
	"embed"
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
)

//go:embed *.txt
var files embed.FS

// Kinds, More and None name the files: kinds of secrets, the same in other hands,
// and what is no secret.
const (
	Kinds = "kinds.txt"
	More  = "more.txt"
	None  = "none.txt"
)

// Text is one text of a file.
type Text struct {
	Kind, Text string
	Secrets    []string
}

var (
	mark = regexp.MustCompile(`‹([^›]*)›`)
	run  = regexp.MustCompile(`@(hex|lower|upper|alnum|b64|url|digit|b32|bech):(\d+)`)
	sets = map[string]string{
		"hex": "0123456789abcdef", "lower": "abcdefghijklmnopqrstuvwxyz0123456789", "digit": "0123456789",
		"upper": "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", "b32": "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567",
		"alnum": "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789",
		"b64":   "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+/",
		"url":   "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-",
		"bech":  "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L",
	}
)

// Texts reads a file; the same seed generates the same secrets. It panics if there
// is no such file.
func Texts(name string, seed uint64) (out []Text) {
	raw, err := files.ReadFile(name)
	if err != nil {
		panic(err)
	}
	rnd := rand.New(rand.NewPCG(seed, 7))
	generate := func(r string) string {
		m := run.FindStringSubmatch(r)
		set := sets[m[1]]
		n, _ := strconv.Atoi(m[2])
		b := make([]byte, n)
		for i := range b {
			b[i] = set[rnd.IntN(len(set))]
		}
		return string(b)
	}
	kind, lines := "", []string(nil)
	flush := func() {
		in := strings.Join(lines, "\n")
		lines = nil
		if strings.TrimSpace(in) == "" {
			return
		}
		t := Text{Kind: kind}
		t.Text = mark.ReplaceAllStringFunc(run.ReplaceAllStringFunc(in, generate), func(q string) string {
			v := strings.Trim(q, "‹›")
			t.Secrets = append(t.Secrets, v)
			return v
		})
		out = append(out, t)
	}
	_, body, _ := strings.Cut(string(raw), "\n\n") // after the file's own heading
	for line := range strings.Lines(body) {
		line = strings.TrimSuffix(line, "\n")
		switch {
		case strings.HasPrefix(line, "## "):
			flush()
			kind = line[3:]
		case line == "--":
			flush()
		default:
			lines = append(lines, line)
		}
	}
	flush()
	return out
}

// Left returns the secrets of which something can still be read: all of a short one, and
// any eight bytes of another in a row.
func Left(text string, secrets []string) (out []string) {
	for _, v := range secrets {
		n := min(len(v), 8)
		for i := 0; i+n <= len(v); i++ {
			if strings.Contains(text, v[i:i+n]) {
				out = append(out, v)
				break
			}
		}
	}
	return out
}
