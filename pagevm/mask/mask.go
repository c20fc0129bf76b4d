package mask

import (
	"strings"

	"github.com/memkernel/memkernel/internal/textutil"
)

// maskOwn is one pass of the rules that are written as code: tokens with a shape of their own
// (cloud keys, access tokens, private key blocks, signed tokens), and values that look random
// where a secret is expected (after "password=", in an Authorization header, in a URL's user
// part). Hashes, UUIDs and identifiers by themselves stay. It counts the secrets in found, and
// returns s itself if there are none.
func (m *Masker) maskOwn(s string, found *Secrets) string {
	e := edit{s: s}
	var value match // found by its key, and not reached yet
	for i := 0; i < len(s); {
		i = maskStarts.next(s, i)
		var hit match
		switch {
		case value.kind != "" && i >= value.start:
			hit, value = value, match{}
		case i == len(s):
			continue
		default:
			hit = matchSecret(s, i, e.pos)
		}
		switch {
		case hit.kind == "" || m.spares(hit.kind, s, hit.start, hit.end):
			i++
			continue
		case hit.start > i:
			// There may be another secret between a key and its value.
			if value.kind == "" || hit.start < value.start {
				value = hit
			}
			i++
			continue
		case value.kind != "" && hit.end > value.start:
			value = match{}
		}
		m.mask(&e, hit, found)
		i = hit.end
	}
	return e.text()
}

// mask replaces a secret by its mark.
func (m *Masker) mask(e *edit, hit match, found *Secrets) {
	mark := "[masked:" + hit.kind + "]"
	if m != nil && m.lines {
		mark += strings.Repeat("\n", strings.Count(e.s[hit.start:hit.end], "\n"))
	}
	e.replace(hit.start, hit.end, mark)
	found.add(hit.kind)
}

// edit is a text in which stretches are replaced in order.
type edit struct {
	s   string
	out []byte
	pos int // the end of the last stretch
}

func (e *edit) replace(from, to int, with string) {
	e.out = append(append(e.out, e.s[e.pos:from]...), with...)
	e.pos = to
}

// text returns the edited text, s itself if nothing was replaced.
func (e *edit) text() string {
	if e.pos == 0 {
		return e.s
	}
	return string(append(e.out, e.s[e.pos:]...))
}

// match is a secret at s[start:end]. If kind is "", there is no secret.
type match struct {
	start, end int
	kind       string
}

// startSet holds the first three bytes of words to look for, as bits by the low five bits of each
// byte, so that case does not matter. One load per byte of text keeps the scan fast.
type startSet [1 << 10]uint32

func (p *startSet) add(w string) {
	k := startKey(w)
	p[k>>5] |= 1 << (k & 31)
}

// startKey returns the low five bits of each of the first three bytes.
func startKey(w string) uint16 {
	return uint16(w[0])&31<<10 | uint16(w[1])&31<<5 | uint16(w[2])&31
}

// next returns the first place from i on at which a word may begin, len(s) if there is no such
// place.
func (p *startSet) next(s string, i int) int {
	if len(s)-i < 3 {
		return len(s)
	}
	k := uint(s[i])&31<<5 | uint(s[i+1])&31
	for j := i + 2; j < len(s); j++ {
		k = (k<<5 | uint(s[j])&31) & 0x7fff
		if p[k>>5]&(1<<(k&31)) != 0 {
			return j - 2
		}
	}
	return len(s)
}

// maskPrefix is a token that is known by its prefix.
type maskPrefix struct {
	prefix, kind string
	set          byteSet // of the characters that follow
	min, max     int     // how many; max 0 is no limit
}

type byteSet uint8

const (
	setAlnum byteSet = iota // letters and digits
	setWord                 // and underscore
	setURL                  // and underscore and dash
	setUpper                // capitals and digits
	setDash                 // letters, digits, dash
)

func (b byteSet) has(c byte) bool {
	switch {
	case c >= '0' && c <= '9', c >= 'A' && c <= 'Z':
		return true
	case c >= 'a' && c <= 'z':
		return b != setUpper
	case c == '_':
		return b == setWord || b == setURL
	case c == '-':
		return b == setURL || b == setDash
	}
	return false
}

// maxToken is the number of characters that are examined to decide whether a token looks like
// one. It keeps the work linear on text with many prefixes.
const maxToken = 1024

// run returns the end of the characters of the set from j on, at most n.
func (b byteSet) run(s string, j, n int) int {
	for end := min(len(s), j+n); j < end && b.has(s[j]); {
		j++
	}
	return j
}

// The issuers document or use these shapes. A row's prefixes are separated by blanks.
var maskPrefixes = func() (all []maskPrefix) {
	for _, row := range [...]maskPrefix{
		{"AKIA ASIA ABIA ACCA", "aws-key", setUpper, 16, 16},
		{"ghp_ gho_ ghu_ ghs_ ghr_", "github", setAlnum, 30, 0},
		{"github_pat_", "github", setWord, 22, 0},
		{"glpat- gldt- glrt- glptt- glcbt- glsoat- glagent-", "gitlab", setURL, 20, 0},
		{"xoxb- xoxp- xoxa- xoxr- xoxs- xoxe- xoxe. xapp-", "slack", setDash, 20, 0},
		{"npm_", "npm", setAlnum, 36, 0},
		{"sk-ant-", "anthropic", setURL, 20, 0},
		{"sk-proj- sk-svcacct- sk-admin-", "openai", setURL, 20, 0},
		{"sk-or-v1-", "openrouter", setAlnum, 32, 0},
		{"sk-", "openai", setAlnum, 32, 0},
		{"AIza", "google", setURL, 35, 0},
		{"ya29.", "google", setURL, 20, 0},
		{"GOCSPX-", "google", setURL, 28, 0},
		{"sk_live_ sk_test_ rk_live_ rk_test_", "stripe", setAlnum, 16, 0},
		{"whsec_", "stripe", setAlnum, 24, 0},
		{"hf_", "huggingface", setAlnum, 34, 0},
		{"tskey-", "tailscale", setURL, 20, 0},
		{"sbp_", "supabase", setWord, 40, 0},
		{"sb_secret_", "supabase", setURL, 20, 0},
		{"npg_", "neon", setAlnum, 12, 0},
		{"napi_", "neon", setAlnum, 40, 0},
		{"lsv2_", "langsmith", setWord, 30, 0},
		{"sl.u.", "dropbox", setURL, 60, 0},
		{"sl.B", "dropbox", setURL, 100, 0},
		{"SWMTKN-1-", "docker", setDash, 50, 0},
		{"dapi", "databricks", setDash, 32, 40},
		{"CFPAT-", "contentful", setURL, 40, 0},
		{"CCIPAT_ CCIPRJ_", "circleci", setWord, 40, 0},
		{"ntn_", "notion", setAlnum, 40, 0},
		{"pcsk_", "pinecone", setWord, 40, 0},
		{"nfp_", "netlify", setAlnum, 30, 0},
		{"ATBB", "bitbucket", setAlnum, 28, 0},
		{"ATATT3 ATCTT3", "atlassian", setURL, 50, 0},
		{"oy2", "nuget", setAlnum, 43, 43},
		{"rnd_", "render", setAlnum, 24, 0},
		{"figd_", "figma", setURL, 30, 0},
		{"tvly-", "tavily", setURL, 24, 0},
		{"pplx-", "perplexity", setAlnum, 40, 0},
		{"nvapi-", "nvidia", setURL, 50, 0},
		{"csk-", "cerebras", setAlnum, 40, 0},
		{"PMAK-", "postman", setDash, 50, 0},
		{"bkua_", "buildkite", setAlnum, 40, 0},
		{"phx_", "posthog", setAlnum, 40, 0},
		{"wandb_v1_", "wandb", setWord, 40, 0},
		{"EAAG", "facebook", setAlnum, 80, 0},
		{"AQ.Ab8", "google", setURL, 40, 0},
	} {
		for _, prefix := range strings.Fields(row.prefix) {
			row.prefix = prefix
			all = append(all, row)
		}
	}
	return all
}()

// maskKeys are lower-case words. If the name of a variable or field contains one, the value is a
// secret.
var maskKeys = strings.Fields(`password passwd passphrase pwd secret token apikey api_key api-key accesskey access_key access-key
	privatekey private_key authkey auth_key credential encryption_key signing_key`)

var maskStarts = func() *startSet {
	p := new(startSet)
	for _, t := range maskPrefixes {
		p.add(t.prefix)
	}
	for _, k := range maskKeys {
		p.add(k)
	}
	for _, w := range [...]string{"eyJ", "---", "://", "bearer", "basic"} {
		p.add(w)
	}
	return p
}()

// matchSecret looks for a secret that begins at i, or for a key at i whose value is a secret. It
// does not look before floor.
func matchSecret(s string, i, floor int) match {
	switch s[i] {
	case ':':
		return matchURL(s, i)
	case '-':
		return matchPrivateKey(s, i)
	}
	if i == floor || i > 0 && !wordByte(s[i-1]) || escaped(s, i) {
		if m := matchToken(s, i); m.kind != "" {
			return m
		}
		switch s[i] | 0x20 {
		case 'b':
			return matchAuthorization(s, i)
		}
	}
	return matchAssignment(s, i)
}

// escaped reports whether an escape such as \n or \u000a is right before i. Its last letter is
// not part of a word.
func escaped(s string, i int) bool {
	switch {
	case i > 1 && s[i-2] == '\\':
		return strings.IndexByte("nrtbfv", s[i-1]) >= 0
	case i > 5 && s[i-6:i-4] == `\u`:
		return strings.Trim(s[i-4:i], hexDigits) == ""
	}
	return false
}

const hexDigits = "0123456789abcdefABCDEF"

func wordByte(c byte) bool { return setWord.has(c) }

func matchToken(s string, i int) match {
	if i >= len(s) {
		return match{}
	}
	if s[i] == 'e' {
		return matchJWT(s, i)
	}
	for k := range maskPrefixes {
		p := &maskPrefixes[k]
		if s[i] != p.prefix[0] || !strings.HasPrefix(s[i:], p.prefix) {
			continue
		}
		body := i + len(p.prefix)
		j := p.set.run(s, body, maxToken)
		if v := s[body:j]; len(v) < p.min || !varied(v) {
			continue
		}
		j = p.set.run(s, j, len(s))
		if p.max > 0 && j-body > p.max || j < len(s) && wordByte(s[j]) {
			continue
		}
		return match{i, j, p.kind}
	}
	return match{}
}

// varied reports whether v may be a token rather than a placeholder such as "ghp_xxxxxxxx".
func varied(v string) bool {
	var seen [256]bool
	n := 0
	for i := range len(v) {
		n += btoi(!seen[v[i]])
		seen[v[i]] = true
	}
	return n >= 6
}

// signedToken matches three base64url parts, of which the first two are JSON objects.
var signedToken = textutil.LazyRegexp(`^eyJ[\w-]{7,}\.eyJ[\w-]{7,}\.[\w-]{10,}`)

// matchJWT matches a signed token.
func matchJWT(s string, i int) match {
	if strings.IndexByte(s[i:min(len(s), i+maxToken+1)], '.') < 0 {
		return match{}
	}
	n := len(signedToken.FindString(s[i:]))
	if n == 0 {
		return match{}
	}
	return match{i, i + n, "jwt"}
}

// matchPrivateKey matches a PEM block of a private key, also in a listing with line numbers or
// with escaped line breaks. A block without end reaches to the last line that can be part of it.
func matchPrivateKey(s string, i int) match {
	head, ok := strings.CutPrefix(s[i:], "-----BEGIN ")
	kind, _, closed := strings.Cut(head[:min(len(head), 60)], "-----")
	if !ok || !closed || !strings.Contains(kind, "PRIVATE KEY") && !strings.Contains(kind, "Static key") {
		return match{}
	}
	body := head[len(kind)+5:]
	if key, rest, _ := strings.Cut(body, "-----"); strings.HasPrefix(rest, "END ") && keyBytes(key) >= 40 && !strings.Contains(key, "[masked:") {
		rest = strings.TrimLeft(strings.TrimLeftFunc(rest, func(r rune) bool { return r != '-' && r != '\n' }), "-")
		return match{i, len(s) - len(rest), "private-key"}
	}
	lines := body[len(keyHeaders.FindString(body)):]
	end := 0 // of the lines of a key whose end is missing
	for n := 1; n > 0; end += n {
		n = len(keyLine.FindString(lines[end:]))
	}
	if keyBytes(lines[:end]) < 40 {
		return match{}
	}
	return match{i, len(s) - len(lines) + end, "private-key"}
}

var (
	// keyHeaders matches the headers of a PGP block.
	keyHeaders = textutil.LazyRegexp(`^(?:[\r\n >]*[A-Za-z0-9-]{0,20}: [^\n]*)*`)
	// keyLine matches a line of a key after the prefix of a listing or a diff.
	keyLine = textutil.LazyRegexp(`^(?:[\x00- +\->|]|\\[nrt])*(?:\d{1,7}(?:→|\t))?[A-Za-z0-9+/=]{16,}`)
)

func base64Byte(c byte) bool { return setAlnum.has(c) || c == '+' || c == '/' || c == '=' }

// keyBytes counts the base64 characters in runs of at least 16.
func keyBytes(s string) (n int) {
	for i := nextRun(s, 0, 16, &base64Set); i < len(s); i = nextRun(s, i, 16, &base64Set) {
		end := lineEnd(s, i)
		n, i = n+end-i, end
	}
	return n
}

// userInfo matches the part of a URL with a user and a password.
var userInfo = textutil.LazyRegexp("^://([^\x00- [/\"'<>()\\\\`@:]*)(?::([^\x00- [/\"'<>()\\\\`@]*))?@")

// matchURL matches the password in scheme://user:password@host, or a token in the user's place.
func matchURL(s string, i int) match {
	text := s[i:min(len(s), i+300)]
	if i == 0 || !wordByte(s[i-1]) || strings.IndexByte(text, '@') < 0 {
		return match{}
	}
	at := userInfo.FindStringSubmatchIndex(text)
	switch {
	case at == nil:
	case at[4] < 0:
		if v := text[at[2]:at[3]]; len(v) >= 20 && random(v) && setURL.run(v, 0, len(v)) == len(v) {
			return match{i + at[2], i + at[3], "url-password"}
		}
	default:
		if v := text[at[4]:at[5]]; !placeholder(v) && !defaultPassword(v) && v != text[at[2]:at[3]] {
			return match{i + at[4], i + at[5], "url-password"}
		}
	}
	return match{}
}

// defaultPassword reports whether v is a password of manuals.
func defaultPassword(v string) bool {
	v = strings.ToLower(v)
	return sampleWords[v] || strings.Contains(v, "password")
}

// placeholder reports whether v is a placeholder to fill in.
func placeholder(v string) bool {
	return v == "" || strings.IndexByte("$<{[%*.", v[0]) >= 0 || strings.HasPrefix(v, "&lt;") || strings.HasPrefix(v, "&#") || strings.Contains(v, "${") || strings.Contains(v, "{{")
}

// authorized matches the scheme of an Authorization header, what is between it and the
// credential, and the credential.
var authorized = textutil.LazyRegexp(`^(?i:(bearer|basic))( [ '"+\\\n]*)([\w.~+/=-]*)`)

// matchAuthorization matches the credential of "Bearer x" and, after the name of the header, of
// "Basic x".
func matchAuthorization(s string, i int) match {
	at := authorized.FindStringSubmatchIndex(s[i:])
	if at == nil {
		return match{}
	}
	from, to := i+at[6], i+at[7]
	kind, gap, v := strings.ToLower(s[i:i+at[3]]), s[i+at[4]:from], s[from:to]
	joined := strings.ContainsAny(gap, "+\\") // it goes on in another string or line
	if !joined && strings.Trim(gap, " ") != "" || s[from-1] == '+' || strings.Contains(gap, "+ ") && s[from-1] == ' ' {
		return match{}
	}
	header := strings.Contains(strings.ToLower(s[max(0, i-24):i]), "authorization")
	if header && len(v) >= 8 && varied(v) && (digits(v) > 0 || entropy(v) >= 3.5 && strings.ToLower(v[1:]) != v[1:]) || kind == "bearer" && len(v) >= 20 && random(v) || joined && pair(v) {
		return match{from, to, kind}
	}
	return match{}
}

func digits(v string) int {
	_, _, n, _ := classes(v)
	return n
}
