// Package hostile holds difficult inputs for tests: texts with secrets that must never reach a disk
// or a server, paths that try to leave their folder, and texts that tools returned in recorded
// sessions. Only tests use it.
package hostile

import (
	"embed"
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
)

//go:embed *.txt
var files embed.FS

// The names of the embedded files. The files hold no complete secret: [Texts] generates the characters
// of tokens from a seed, so that no scanner reports a leak. SecretKinds has each kind of secret.
// MoreSecrets has the same kinds in other surroundings. NoSecrets has similar texts without secrets.
const (
	SecretKinds = "kinds.txt"
	MoreSecrets = "more.txt"
	NoSecrets   = "none.txt"
)

// Secretive is one text of a file, with the secrets that it holds.
type Secretive struct {
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

// Texts returns the texts of an embedded file. The same seed generates the same secrets. Texts panics
// if there is no such file.
func Texts(name string, seed uint64) (out []Secretive) {
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
		t := Secretive{Kind: kind}
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

// SecretsLeft returns the secrets that can still be read in text. A short secret counts if text
// contains all of it. A longer secret counts if text contains any eight bytes of it in a row.
func SecretsLeft(text string, secrets []string) (out []string) {
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
