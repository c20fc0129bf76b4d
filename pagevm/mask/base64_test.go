package mask

import (
	"encoding/base64"
	"math/rand"
	"strings"
	"testing"

	"github.com/memkernel/memkernel/internal/hostile"
	"pgregory.net/rapid"
)

// binary is n bytes that look random, the same for the same n.
func binary(n int) string {
	b := make([]byte, n)
	rand.New(rand.NewSource(int64(n))).Read(b)
	return string(b)
}

// broken breaks a text into lines.
func broken(s string, width int, with string) string {
	var b strings.Builder
	for ; len(s) > width; s = s[width:] {
		b.WriteString(s[:width] + with)
	}
	return b.String() + s
}

func TestLiftBase64(t *testing.T) {
	data := binary(5000)
	text := base64.StdEncoding.EncodeToString([]byte(data))
	for name, tc := range map[string]struct{ before, run, behind, typ string }{
		"alone":         {run: text},
		"data URL":      {before: "img src=\"data:image/png;base64,", run: text, behind: "\" />", typ: "image/png"},
		"JSON":          {before: `{"type":"image","data":"`, run: text, behind: `"}`},
		"lines":         {before: "$ base64 logo.png\n", run: broken(text, 76, "\n"), behind: "\ndone"},
		"CRLF":          {before: "x\r\n", run: broken(text, 64, "\r\n"), behind: "\r\n"},
		"escaped lines": {before: `{"out":"`, run: broken(text, 76, `\n`), behind: `"}`},
		"no padding":    {before: "x ", run: strings.TrimRight(text, "="), behind: " y"},
	} {
		t.Run(name, func(t *testing.T) {
			out, found := (*Masker)(nil).LiftBase64(tc.before + tc.run + tc.behind)
			if len(found) != 1 || found[0].Data != data || found[0].Type != tc.typ {
				t.Fatalf("%d found in %.100q", len(found), out)
			}
			if want := tc.before + found[0].note() + tc.behind; out != want {
				t.Errorf("got %q, want %q", out, want)
			}
			if again, more := (*Masker)(nil).LiftBase64(out); again != out || more != nil {
				t.Errorf("a second time: %q", again)
			}
		})
	}
	cut, found := (*Masker)(nil).LiftBase64(text[:4001] + " … [cut]")
	if len(found) != 1 || !strings.HasPrefix(data, found[0].Data) || !strings.HasSuffix(cut, " … [cut]") {
		t.Errorf("cut off: %d, %q", len(found), cut)
	}
	secret := "ghp_" + alnum[:36]
	out, found := (*Masker)(nil).LiftBase64(base64.StdEncoding.EncodeToString([]byte(strings.Repeat("A line of Text, with 42 things in it; ", 60) + secret)))
	if len(found) != 1 || strings.Contains(found[0].Data, secret) || !strings.Contains(out, found[0].Hash) {
		t.Errorf("a text with a secret: %q", out)
	}
	two, found := (*Masker)(nil).LiftBase64(text + " and " + text)
	if len(found) != 2 || strings.Count(two, "[base64 of 5000 bytes") != 2 {
		t.Errorf("two: %q", two)
	}
}

func TestLiftBase64LeavesAlone(t *testing.T) {
	hex := strings.Repeat("9f86d081884c7d659a2feaa0c55ad015", 200)
	for name, s := range map[string]string{
		"short":       base64.StdEncoding.EncodeToString([]byte(binary(1000))),
		"hex":         hex,
		"one letter":  strings.Repeat("A", 9000),
		"words":       strings.Repeat("internal/kato/mito", 400),
		"code":        strings.Repeat("func (w *Worker) step(ctx context.Context) error {\n", 200),
		"hashes":      strings.Repeat("sha512-"+base64.StdEncoding.EncodeToString([]byte(binary(64)))+"\n", 100),
		"URL-safe":    strings.Repeat("ab-cd_ef", 500),
		"certificate": "-----BEGIN CERTIFICATE-----\n" + broken(base64.StdEncoding.EncodeToString([]byte(binary(1200))), 64, "\n") + "\n-----END CERTIFICATE-----",
	} {
		if out, found := (*Masker)(nil).LiftBase64(s); out != s || found != nil {
			t.Errorf("%s: %.120q", name, out)
		}
	}
}

// Whatever surrounds it, a payload comes out whole or stays, and the rest is unchanged.
func TestLiftBase64Property(t *testing.T) {
	text := base64.StdEncoding.EncodeToString([]byte(binary(3000)))
	pieces := rapid.SampledFrom([]string{text, broken(text, 76, "\n"), text[:1999], "\n", " ", `"`, "=", "data:a/b;base64,", "word", "é", ",", `\n`, "+"})
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 8).Draw(t, "n")
		in := strings.Join(rapid.SliceOfN(pieces, n, n).Draw(t, "pieces"), "")
		once, found := (*Masker)(nil).LiftBase64(in)
		if strings.Count(once, "[base64 of ") != len(found) {
			t.Fatalf("%d found in %.200q", len(found), once)
		}
		if twice, more := (*Masker)(nil).LiftBase64(once); twice != once || more != nil {
			t.Fatalf("a second time: %.200q", twice)
		}
	})
}

func BenchmarkLiftBase64(b *testing.B) {
	var sb strings.Builder
	for _, text := range hostile.Recorded(b) {
		if sb.Len() < 1<<20 {
			sb.WriteString(text)
		}
	}
	s := sb.String()[:1<<20]
	b.SetBytes(int64(len(s)))
	b.ReportAllocs()
	for b.Loop() {
		(*Masker)(nil).LiftBase64(s)
	}
}

// What recorded results hold as base64: run it with -v.
func TestLiftBase64OfRecordedSessions(t *testing.T) {
	runs, bytes, all := 0, 0, 0
	for _, text := range hostile.Recorded(t) {
		out, found := (*Masker)(nil).LiftBase64(text)
		if again, _ := (*Masker)(nil).LiftBase64(out); again != out {
			t.Errorf("lifting twice changes %.80q", out)
		}
		runs, bytes, all = runs+len(found), bytes+len(text)-len(out), all+len(text)
	}
	t.Logf("%d payloads, %d of %d bytes", runs, bytes, all)
}
