package mask

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/memkernel/memkernel/internal/hostile"
	"github.com/memkernel/memkernel/internal/suite"
	"pgregory.net/rapid"
)

// Secrets are put together at run time so that no scanner takes this file for
// a leak.
const alnum = "aB3dE5gH7jK9mN1pQ2rS4tU6vW8xY0zA1bC2dE3f"

func TestMask(t *testing.T) {
	pem := func(kind, body string) string {
		return "-----BEGIN " + kind + "-----\n" + body + "\n-----END " + kind + "-----"
	}
	key := strings.Repeat(alnum[:32]+"\n", 4)
	for name, tc := range map[string]struct{ in, want string }{
		"aws":                {"id AKIA" + "IOSFODNN7EXAMPLE done", "id [masked:aws-key] done"},
		"github":             {"x ghp_" + alnum[:36] + ".", "x [masked:github]."},
		"github fine":        {"github_pat_" + alnum[:22] + "_" + alnum[:30], "[masked:github]"},
		"gitlab":             {"glpat-" + alnum[:20], "[masked:gitlab]"},
		"slack":              {"xoxb-" + "123456789012-" + alnum[:24], "[masked:slack]"},
		"npm":                {"//registry/:_authToken=npm_" + alnum[:36], "//registry/:_authToken=[masked:npm]"},
		"anthropic":          {"sk-ant-" + "api03-" + alnum, "[masked:anthropic]"},
		"openai project":     {"sk-proj-" + alnum, "[masked:openai]"},
		"openai":             {"key sk-" + alnum, "key [masked:openai]"},
		"google":             {"AIza" + alnum[:35], "[masked:google]"},
		"stripe":             {"sk_live_" + alnum[:24], "[masked:stripe]"},
		"jwt":                {"a eyJ" + alnum[:20] + ".eyJ" + alnum[:20] + "." + alnum + " b", "a [masked:jwt] b"},
		"pem":                {"k:\n" + pem("RSA PRIVATE KEY", key) + "\nend", "k:\n[masked:private-key]\nend"},
		"pem escaped":        {strings.ReplaceAll(pem("PRIVATE KEY", key), "\n", `\n`), "[masked:private-key]"},
		"pem cut off":        {"-----BEGIN PRIVATE KEY-----\n" + key + "and so on in words", "[masked:private-key]\nand so on in words"},
		"bearer":             {"Authorization: Bearer " + alnum, "Authorization: Bearer [masked:bearer]"},
		"bearer bare":        {"curl -H bearer " + alnum + " x", "curl -H bearer [masked:bearer] x"},
		"basic":              {`"Authorization": "Basic ` + alnum[:20] + `=="`, `"Authorization": "Basic [masked:basic]"`},
		"url":                {"postgres://app:hunter22@db:5432/x", "postgres://app:[masked:url-password]@db:5432/x"},
		"env":                {"DB_PASSWORD=s3cr3t-Pa55\nX=1", "DB_PASSWORD=[masked:secret]\nX=1"},
		"env aws":            {"AWS_SECRET_ACCESS_KEY=" + alnum, "AWS_SECRET_ACCESS_KEY=[masked:secret]"},
		"json":               {`{"apiKey": "` + alnum[:24] + `", "a": 1}`, `{"apiKey": "[masked:secret]", "a": 1}`},
		"json in a string":   {`{\"client_secret\":\"` + alnum[:24] + `\",\"a\":1}`, `{\"client_secret\":\"[masked:secret]\",\"a\":1}`},
		"yaml":               {"  token: " + alnum[:24] + "\n", "  token: [masked:secret]\n"},
		"hash as token":      {"token=9f86d081884c7d659a2feaa0c55ad015a3bf4f1b", "token=[masked:secret]"},
		"two":                {"ghp_" + alnum[:36] + " AKIA" + "IOSFODNN7EXAMPLE", "[masked:github] [masked:aws-key]"},
		"at the end of text": {"PASSWORD=Tr0ub4dor", "PASSWORD=[masked:secret]"},
	} {
		t.Run(name, func(t *testing.T) {
			got, n := everything.Mask(tc.in)
			if got != tc.want || n == 0 {
				t.Errorf("Mask(%q)\n got %q (%d)\nwant %q", tc.in, got, n, tc.want)
			}
			if again, n := everything.Mask(got); again != got || n != 0 {
				t.Errorf("second pass: %q (%d)", again, n)
			}
		})
	}
}

func TestMaskLeavesAlone(t *testing.T) {
	for name, in := range map[string]string{
		"sha256":         "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
		"git log":        "commit 4df59f6aa0d2054dc174b669af231348f76ad6d0\nAuthor: A <a@b.example>",
		"uuid":           "id: 123e4567-e89b-12d3-a456-426614174000",
		"base64 image":   "data:image/png;base64," + strings.Repeat("iVBORw0KGgoAAAANSUhEUgAAAAUA", 20),
		"go code":        "token := lexer.NextToken2(src)\nvar password string\nsecret, err := load(ctx)",
		"counts":         "max_tokens: 1000000000, input_tokens=12345678 total_tokens=99999999",
		"tokenizer":      `tokenizer: "o200k_base_2024x"`,
		"names":          `secret_name: prod-db-2024-main token_path=/var/run/tok3n9x`,
		"placeholders":   `password=${DB_PASSWORD1} token: <your-token-123> api_key="{{ .Key1 }}" ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx`,
		"pem in code":    `if strings.Contains(s, "-----BEGIN RSA PRIVATE KEY-----") { return "-----END RSA PRIVATE KEY-----" }`,
		"public key":     "-----BEGIN PUBLIC KEY-----\n" + strings.Repeat(alnum, 4) + "\n-----END PUBLIC KEY-----",
		"url port":       "http://localhost:8080/a@b and https://example.com/x:y@z git@github.com:a/b.git",
		"prose":          "The password must have 12 characters. Token: see above. secret: none",
		"bearer prose":   "Bearer authentication_is_used_here",
		"sentence":       `"password": "must be at least 8 characters"`,
		"css":            ".sk-circle-fade-dot-wrapper-element-inside-container { }",
		"masked already": "token=[masked:secret] Bearer [masked:bearer] a://b:[masked:url-password]@c",
	} {
		if got, n := everything.Mask(in); n != 0 || got != in {
			t.Errorf("%s: %q -> %q (%d)", name, in, got, n)
		}
	}
}

// The letter of an escape before a secret is no part of a word.
func TestMaskBehindEscapes(t *testing.T) {
	for _, secret := range []string{"AKIA" + "IOSFODNN7EXAMPLE", "ghp_" + alnum[:36], "eyJ" + alnum + ".eyJ" + alnum + "." + alnum, "xoxb-" + "123456789012-" + alnum[:24]} {
		for _, before := range []string{`\n`, `x\t`, `said \"\r\n`, `a\u000a`, `"\n`, `log: {\"k\":1}\n`} {
			in := before + secret + `" and`
			out, n := everything.Mask(in)
			if n != 1 || strings.Contains(out, secret) || !strings.HasPrefix(out, before) {
				t.Errorf("%q -> %q (%d)", in, out, n)
			}
		}
	}
	for _, in := range []string{`C:\u123AKIA` + "IOSFODNN7EXAMPLE", `mnAKIA` + "IOSFODNN7EXAMPLE"} {
		if out, n := everything.Mask(in); n != 0 {
			t.Errorf("%q -> %q (%d)", in, out, n)
		}
	}
}

func TestMaskTwiceIsOnce(t *testing.T) {
	pieces := rapid.SampledFrom([]string{
		"AKIA" + "IOSFODNN7EXAMPLE", "ghp_" + alnum[:36], "eyJ" + alnum + ".eyJ" + alnum + "." + alnum, "password", "=", ":", " ", "\n",
		"token", `"`, `\"`, "'", "Bearer ", "Authorization: ", "https://", "u:", "@", "-----BEGIN PRIVATE KEY-----", "-----END PRIVATE KEY-----",
		alnum, alnum[:17], "x", "é", "-", "_", ".", "secret_key", "[masked:secret]", "\\n", "9f86d081884c7d65", "sk-", "{", "}", "$", "  12→", "/",
	})
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 30).Draw(t, "n")
		in := strings.Join(rapid.SliceOfN(pieces, n, n).Draw(t, "pieces"), "")
		once, _ := everything.Mask(in)
		if twice, n := everything.Mask(once); twice != once || n != 0 {
			t.Fatalf("in %q\nonce %q\ntwice %q", in, once, twice)
		}
	})
}

// Text full of beginnings must not cost the square of its length. There is no
// clock here: a quadratic scan of these would run into the test's time limit.
func TestMaskStaysLinear(t *testing.T) {
	for _, piece := range []string{"xoxb-", "eyJ-", "sk-ant-", "-----BEGIN PRIVATE KEY-----", "password=", "a://", "token", "Bearer ", "eyJaaaaaaaaaaa.eyJaaaaaaaaaa "} {
		in := strings.Repeat(piece, suite.Pick(1<<16, 1<<18)/len(piece))
		once, _ := everything.Mask(in)
		if twice, _ := everything.Mask(once); twice != once {
			t.Errorf("%q: masking twice differs", piece)
		}
	}
}

// BenchmarkMask masks a mebibyte of recorded tool results in which no secret is
// left: by this package's own rules alone, and by all.
func BenchmarkMask(b *testing.B) {
	var sb strings.Builder
	for _, text := range hostile.Recorded(b) {
		if sb.Len() < 1<<20 {
			sb.WriteString(text)
		}
	}
	s, _ := everything.Mask(sb.String()[:1<<20])
	for name, mask := range map[string]func(string){
		"own": func(s string) { (*Masker)(nil).maskOwn(s, new(Secrets)) },
		"all": func(s string) { everything.Mask(s) },
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(s)))
			b.ReportAllocs()
			for b.Loop() {
				mask(s)
			}
		})
	}
}

// What is masked in recorded sessions, by rule: run it with -v.
func TestMaskOfRecordedSessions(t *testing.T) {
	var found Secrets
	size := 0
	results := hostile.Recorded(t)
	for _, text := range suite.Some(results, len(results)/5) {
		_, n := (*Masker)(nil).Find(text)
		found.Add(n)
		size += len(text)
	}
	for _, rule := range slices.Sorted(maps.Keys(found)) {
		t.Logf("%-32s %d", rule, found[rule])
	}
	if perMiB := float64(found.Total()) / (float64(size) / (1 << 20)); perMiB > 30 {
		t.Errorf("%.0f values per MiB of %d are masked: a rule takes what is no secret", perMiB, size)
	}
}

// TestNameRegion shows that the part of a text in which names are looked for has all of them.
func TestNameRegion(t *testing.T) {
	names := []string{"Token", "SECRET", "credential", "passwd", "Password", "passphrase", "api key", "licence.key", "signing_key", "x-KEY",
		"Stripe key", "invalid key", "myKeys", "gh_pat", "a PAT", "密钥", "トークン", "キー", "Schlüssel", "GEHEIMNIS", "jeton", "Pepper", "토큰", "klucz", "anahtar",
		"nyckel", "nøgle", "klíč", "kulcs", "مفتاح", "main keys are", `key" =`, `auth":`, "clave", "LLAVE", "clé", "chave", "chiave", "sleutel", "ключ", "ТОКЕН",
		"to\u212aen", "\u017fecret"}
	for _, name := range names {
		if !secretName.MatchString(name+" ") && !secretName.MatchString("a "+name) {
			t.Errorf("%q is no name", name)
		}
	}
	between := []string{"", " ", "a", "B", "_", "-", ".", ":", "\n", "1", "é", "\xff", "word", " x ", `"`, "=", "app", "Key", "keys", "s"}
	rapid.Check(t, func(t *rapid.T) {
		parts := rapid.SliceOfN(rapid.OneOf(rapid.SampledFrom(between), rapid.SampledFrom(between), rapid.SampledFrom(names)), 0, 16).Draw(t, "parts")
		text := strings.Join(parts, "")
		from, to := nameRegion(text)
		got := secretName.FindAllStringSubmatchIndex(text[from:to], -1)
		for i := range got {
			got[i][0], got[i][1] = got[i][0]+from, got[i][1]+from
		}
		if want := secretName.FindAllStringSubmatchIndex(text, -1); !slices.EqualFunc(got, want, slices.Equal) {
			t.Fatalf("%q: names at %v of [%d:%d], want %v", text, got, from, to, want)
		}
	})
}
