package mask

import (
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/memkernel/memkernel/internal/suite"
	"github.com/memkernel/memkernel/internal/textutil"
)

// fake spells n characters that look random, out of those of a set.
func fake(set string, n int) string {
	var b strings.Builder
	x := uint32(n)
	for range n {
		x = x*1664525 + 1013904223
		b.WriteByte(set[int(x>>16)%len(set)])
	}
	return b.String()
}

const (
	hexSet   = "0a1b2c3d4e5f6789"
	lowerSet = "q0w1e2r3t4y5u6i7o8p9asdfghjklzxcvbnm"
	mixedSet = "aZ0bY1cX2dW3eV4fU5gT6hS7iR8jQ9kPlOmNnMoLpKqJrIsHtGuFvEwDxCyBzA"
)

// The rules that are data find what they are for: by a shape, by a name before a
// value, in a header, in an address.
func TestMaskByRules(t *testing.T) {
	for rule, in := range map[string]string{
		"digitalocean-pat":         "use dop_v1_" + fake(hexSet, 64),
		"adafruit-api-key":         `ADAFRUIT_IO = "` + fake(lowerSet, 32) + `"`,
		"age-secret-key":           "AGE-SECRET-KEY-1" + fake("QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L", 58),
		"telegram-bot-api-token":   "telegram_bot: '1234567890:A" + fake(lowerSet, 34) + "'",
		"sendgrid-api-token":       "x=SG." + fake(lowerSet, 66) + "\n",
		"shopify-access-token":     "shpat_" + fake(hexSet, 32),
		"twilio-api-key":           "sid SK" + fake(hexSet, 32) + " in use",
		"azure-ad-client-secret":   "id 'aB18Q~" + fake(mixedSet, 33) + "'",
		"slack-webhook-url":        "post to https://hooks.slack.com/services/" + fake(mixedSet, 44) + " now",
		"pypi-upload-token":        "pypi-AgEIcHlwaS5vcmc" + fake(mixedSet, 80),
		"heroku-api-key":           "heroku auth = 1a2b3c4d-5e6f-7a8b-9c0d-1e2f3a4b5c6d\n",
		"curl-auth-header":         `curl -s https://api.example.com -H "Authorization: ` + fake(lowerSet, 28) + `" -o out`,
		"sidekiq-sensitive-url":    "https://1a2b3c4d:5e6f7a8b@gems.contribsys.com/",
		"planetscale-password":     "pscale_pw_" + fake(mixedSet, 40),
		"linear-api-key":           "lin_api_" + fake(lowerSet, 40),
		"sourcegraph-access-token": "sgp_" + fake(hexSet, 40),
	} {
		out, found := (*Masker)(nil).Find(in)
		if found.Total() != 1 || found[rule] != 1 && rule != "sidekiq-sensitive-url" || strings.Count(out, "[masked:") != 1 {
			t.Errorf("%s: %q -> %q, %v", rule, in, out, found)
		}
		if off, err := NewMasker(Options{Disable: []string{rule}}); err != nil {
			t.Error(err)
		} else if _, found := off.Find(in); found[rule] != 0 {
			t.Errorf("%s is disabled and finds %v", rule, found)
		}
	}
}

// What has the form of a value and is none.
func TestMaskByRulesLeavesAlone(t *testing.T) {
	for _, in := range []string{
		"sourcegraph at commit 4df59f6aa0d2054dc174b669af231348f76ad6d0 ",
		`"heroku app": "1a2b3c4d-5e6f-7a8b-9c0d-1e2f3a4b5c6d"`,
		`facebook: "` + fake(hexSet, 32) + `"`,
		"discord_message: 123456789012345678",
		`curl -H "Authorization: Bearer YOUR_API_KEY_HERE" https://api.example.com`,
		`curl -H "Authorization: Bearer $TOKEN"`,
		"dropbox: everythinginone;",
		"travis = somethingtwentytwochar ",
		"api-" + fake("ABCDEFGHIJ", 8),
		"data:image/png;base64," + strings.Repeat(fake(mixedSet+"+/", 76), 40),
		strings.Repeat(fake(mixedSet+"+/", 76)+"\n", 40),
		fake(mixedSet, 70) + "+EAAA" + fake(mixedSet, 30) + "\n",
		fake(mixedSet, 76) + "\nEAAA" + fake(mixedSet, 72) + "\n",
		fake(mixedSet, 76) + "\nQ/EAAA" + fake(mixedSet, 70) + "\n",
		"h1:PmEvCfVI7ti9dV3s5aMZUY7sS2GxRvG3yzih7E+cS3w=",
		"sha512-" + fake(mixedSet+"+/", 86) + "==",
	} {
		if out, found := (*Masker)(nil).Find(in); out != in || found != nil {
			t.Errorf("%.80q -> %.120q, %v", in, out, found)
		}
	}
}

// A secret far into a text, and one between others, is found as it is alone.
func TestMaskWindows(t *testing.T) {
	secret := `LINEAR_SECRET="` + fake(hexSet, 32) + `"`
	filler := strings.Repeat("linear growth of the words around it; ", 200)
	for _, in := range []string{secret + filler, filler + secret, filler + secret + "\n" + filler + secret + filler} {
		out, found := (*Masker)(nil).Find(in)
		if want := strings.Count(in, "SECRET="); found.Total() != want || strings.Count(out, "[masked:") != want {
			t.Errorf("%d of %d found: %v", found.Total(), want, found)
		}
	}
}

func TestMaskerAllows(t *testing.T) {
	token := "ghp_" + alnum[:36]
	for _, tc := range []struct {
		allow []string
		in    string
		spare bool
	}{
		{nil, token, false},
		{[]string{token}, "x " + token + " y", true},
		{[]string{token[:20]}, token, false},
		{[]string{"/^ghp_aB3d/"}, token, true},
		{[]string{"/^glpat/"}, token, false},
		{[]string{"s3cr3t-Pa55"}, "DB_PASSWORD=s3cr3t-Pa55\n", true},
		{[]string{"dop_v1_" + fake(hexSet, 64)}, "dop_v1_" + fake(hexSet, 64), true},
	} {
		m, err := NewMasker(Options{Allow: tc.allow})
		if err != nil {
			t.Fatal(err)
		}
		if _, n := m.Mask(tc.in); n == 0 != tc.spare {
			t.Errorf("allow %q: %q: %d masked", tc.allow, tc.in, n)
		}
	}
	// What is spared does not hide what is beside it.
	m, _ := NewMasker(Options{Allow: []string{token}})
	if out, n := m.Mask("token=" + token + " and AKIA" + "Q3EGVZ7KTR2XLMNP"); n != 1 || !strings.Contains(out, token) {
		t.Errorf("%q, %d", out, n)
	}
	for _, bad := range []Options{{Allow: []string{"/(/"}}, {Disable: []string{"no-such-rule"}}} {
		if _, err := NewMasker(bad); err == nil {
			t.Errorf("%+v: accepted", bad)
		}
	}
}

// Every rule compiles, and its keywords are findable.
func TestMaskRulesAreSound(t *testing.T) {
	set := allRules()
	if len(set.Rules) < 150 {
		t.Errorf("%d rules", len(set.Rules))
	}
	for i := range set.Rules {
		r := &set.Rules[i]
		for _, w := range r.Keywords {
			if at := slices.IndexFunc(set.words[startKey(asciiUpper(w))], func(k indexedWord) bool { return k.word == w && slices.Contains(k.rules, i) }); at < 0 {
				t.Errorf("%s: keyword %q is not found", r.ID, w)
			}
		}
		if strings.ContainsFunc(r.ID, func(c rune) bool { return c != '-' && !unicode.IsLower(c) && !unicode.IsDigit(c) }) {
			t.Errorf("%q is no name for a mark", r.ID)
		}
	}
	textutil.CompileAll()
	if rules := Rules(); !slices.IsSorted(rules) || !slices.Contains(rules, "secret") || !slices.Contains(rules, "linear-api-key") {
		t.Error(rules)
	}
}

// Whatever is beside whatever: masking twice changes nothing, the count is
// that of the marks, and the rest of the text is unchanged.
func TestMaskByRulesTwiceIsOnce(t *testing.T) {
	pieces := rapid.SampledFrom([]string{
		"dop_v1_" + fake(hexSet, 64), "lin_api_" + fake(lowerSet, 40), `ADAFRUIT = "`, fake(lowerSet, 32), fake(hexSet, 32), fake(hexSet, 40), `"`, "'", " ", "\n", "=", ":",
		"heroku_key", "1a2b3c4d-5e6f-7a8b-9c0d-1e2f3a4b5c6d", `curl -H "Authorization: Bearer `, "twitter", "SG.", fake(lowerSet, 66), "[masked:secret]", "api-", "discord token ",
		"SK" + fake(hexSet, 32), "hooks.slack.com/services/" + fake(mixedSet, 44), "password=", "token", "é", ";", "sk-", "linear",
	})
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 24).Draw(t, "n")
		in := strings.Join(rapid.SliceOfN(pieces, n, n).Draw(t, "pieces"), "")
		once, found := (*Masker)(nil).Find(in)
		if marks := strings.Count(once, "[masked:") - strings.Count(in, "[masked:"); found.Total() < marks {
			t.Fatalf("%q: %d marks, %v", in, marks, found)
		}
		if twice, again := (*Masker)(nil).Find(once); twice != once || again != nil {
			t.Fatalf("in %q\nonce %q\ntwice %q", in, once, twice)
		}
	})
}

func TestMaskRulesStayLinear(t *testing.T) {
	for _, piece := range []string{"twitter ", "curl -H ", "discord=", "SG.", "linear: '", "sk0", "hooks.slack.com/", "eyJrIjoi"} {
		in := strings.Repeat(piece, suite.Pick(1<<15, 1<<17)/len(piece))
		if out, _ := everything.Mask(in); out != in {
			t.Errorf("%q: something was masked", piece)
		}
	}
}

func TestSecretsAdd(t *testing.T) {
	var s Secrets
	s.Add(nil)
	s.Add(Secrets{"a": 1})
	s.Add(Secrets{"a": 2, "b": 1})
	if d := cmp.Diff(Secrets{"a": 3, "b": 1}, s); d != "" || s.Total() != 4 {
		t.Error(d, s.Total())
	}
}

// A mark keeps the lines behind it at their numbers.
func TestMaskKeepsLines(t *testing.T) {
	key := "-----BEGIN RSA PRIVATE KEY-----\n" + strings.Repeat(alnum[:32]+"\n", 6) + "-----END RSA PRIVATE KEY-----"
	in := "# Notes\n\n" + key + "\npassword=s3cr3t-Pa55\nthe end"
	for _, m := range []*Masker{nil, {}} {
		got := m.Lines(in)
		if strings.Count(got, "\n") != strings.Count(in, "\n") || strings.Count(got, "[masked:") != 2 || strings.Contains(got, alnum[:20]) {
			t.Errorf("%q", got)
		}
		if again := m.Lines(got); again != got {
			t.Errorf("a second time: %q", again)
		}
	}
}

// The rules find next to nothing in the sources of Go itself, where there is code,
// base64, hashes and test keys, and no secret of anybody's: those that are data next
// to nothing at all, those of this package's table no more than the passwords that
// its tests of .netrc files, Git's credentials and cookies make up.
func TestMaskRulesOnGoSources(t *testing.T) {
	if testing.Short() {
		t.Skip("reads a hundred megabytes")
	}
	root, err := exec.Command("go", "env", "GOROOT").Output()
	src := filepath.Join(strings.TrimSpace(string(root)), "src")
	if _, serr := os.Stat(src); err != nil || serr != nil {
		t.Skip("no sources of Go beside the go command")
	}
	var found, own Secrets
	named := map[string]bool{}
	for i := range allRules().Rules {
		if r := &allRules().Rules[i]; r.judge != nil {
			named[r.ID] = true
		}
	}
	size, files := 0, 0
	err = filepath.WalkDir(src, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && (d.Name() == "crypto" || d.Name() == "smtp" || d.Name() == "testcert") {
			return filepath.SkipDir // keys for tests, which are keys
		}
		if files++; err != nil || d.IsDir() || files%40 != 0 && !suite.Long() {
			return err
		}
		b, err := os.ReadFile(path)
		(*Masker)(nil).maskRules(string(b), &found)
		size += len(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for rule, n := range found {
		if named[rule] {
			own.Add(Secrets{rule: n})
		}
	}
	t.Logf("%d bytes: %v", size, found)
	if found.Total()-own.Total() > 5 || own.Total() > 25 {
		t.Errorf("%d bytes of Go's sources: %v", size, found)
	}
}

func asciiUpper(w string) string {
	return strings.Map(func(r rune) rune {
		if r < unicode.MaxASCII {
			return unicode.ToUpper(r)
		}
		return r
	}, w)
}

// What a masker remembers is what it would find, also where lines are to be kept and
// where several ask at once.
func TestRemembering(t *testing.T) {
	long := strings.Repeat("nothing to see here. ", 20)
	texts := []string{"", "short password=Zk3-9qLmW8x", long, long + "password=Zk3-9qLmW8xT2", `{"a":"` + long + `\npassword=Zk3-9qLmW8xT2\n"}`}
	odd, err := NewMasker(Options{Allow: []string{"Zk3-9qLmW8xT2"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range []*Masker{nil, odd} {
		r := m.Remembering()
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				for _, s := range texts {
					want, found := m.Find(s)
					if got, n := r.Find(s); got != want || !maps.Equal(n, found) {
						t.Errorf("%.40q…: %q, %v, want %q, %v", s, got, n, want, found)
					}
					if got, want := r.Lines(s), m.Lines(s); got != want {
						t.Errorf("%.40q… by lines: %q, want %q", s, got, want)
					}
				}
			})
		}
		wg.Wait()
	}
}
