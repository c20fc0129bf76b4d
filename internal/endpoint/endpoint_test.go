package endpoint

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"
)

func TestBaseURL(t *testing.T) {
	for _, c := range []struct {
		raw, want string // want is the base, or begins with "!" and is in the error
		insecure  bool
	}{
		{raw: "", want: "!https://"},
		{raw: " https://A.Example:8443/v1// ", want: "https://a.example:8443/v1"},
		{raw: "https://a.example", want: "https://a.example"},
		{raw: "https://a.example/x%2Fy/", want: "https://a.example/x%2Fy"},
		{raw: "http://localhost:8080/", want: "http://localhost:8080"},
		{raw: "HTTP://LocalHost/v1", want: "http://localhost/v1"},
		{raw: "http://127.9.9.9/v1", want: "http://127.9.9.9/v1"},
		{raw: "http://[::1]:1/v1", want: "http://[::1]:1/v1"},
		{raw: "http://10.0.0.1/v1", want: "!set allow_insecure"},
		{raw: "http://10.0.0.1/v1", want: "http://10.0.0.1/v1", insecure: true},
		{raw: "http://0.0.0.0/v1", want: "!set allow_insecure"},
		{raw: "http://127.0.0.1.example/v1", want: "!set allow_insecure"},
		{raw: "http://localhost.example", want: "!set allow_insecure"},
		{raw: "ftp://a.example", want: "!https://"},
		{raw: "a.example/v1", want: "!https://"},
		{raw: "localhost:8080", want: "!https://"},
		{raw: "https:///v1", want: "!no host"},
		{raw: "https://a.example/v1?key=x", want: "!behind ?"},
		{raw: "https://a.example/v1#x", want: "!behind ?"},
		{raw: "https://user:sk-secret@a.example/v1", want: "!api_key_env"},
		{raw: "https://user:sk-secret@a.ex ample/v1", want: "!api_key_env"},
	} {
		u, err := Parse("embedding", c.raw, c.insecure)
		want, fails := strings.CutPrefix(c.want, "!")
		switch {
		case fails && (err == nil || !strings.Contains(err.Error(), want)):
			t.Errorf("%q: error %v, want %q in it", c.raw, err, want)
		case fails && strings.Contains(err.Error(), "sk-secret"):
			t.Errorf("%q: the password is in %v", c.raw, err)
		case !fails && (err != nil || u.String() != want):
			t.Errorf("%q: got %v, %v, want %q", c.raw, u, err, want)
		}
	}
}

func TestRetryAfter(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for value, want := range map[string]time.Duration{
		"":                              0,
		"0":                             0,
		"120":                           2 * time.Minute,
		"-1":                            0,
		"1.5":                           0,
		"Thu, 01 Jan 2026 00:00:30 GMT": 30 * time.Second,
		"Wed, 31 Dec 2025 23:59:30 GMT": 0,
	} {
		if got := RetryAfter(http.Header{"Retry-After": {value}}, now); got != want {
			t.Errorf("%q: %v, want %v", value, got, want)
		}
	}
}

// A key is in no message, not even half of it at the place where the message is
// cut.
func TestClean(t *testing.T) {
	const key = "sk-test-0123456789abcdef"
	half := strings.Repeat("x", maxSaidBytes-len(key)/2)
	for in, want := range map[string]string{
		"a\r\n b\x1b[31m\u202ec\xff": "a b [31m c",
		"bad key " + key:             "bad key [key]",
		half + key:                   half + "[key]",
		strings.Repeat("漢", 200):     strings.Repeat("漢", 100) + "…",
	} {
		if got := Clean(in, key); got != want {
			t.Errorf("%q became %q", in, got)
		}
	}
}

func TestKey(t *testing.T) {
	for value, want := range map[string]string{"": "", " sk-1\n": "sk-1", "a b": "!", "sk-\x00": "!", "schlüssel": "!"} {
		t.Setenv("ENDPOINT_TEST_KEY", strings.ReplaceAll(value, "\x00", "\x01"))
		got, err := Key("ENDPOINT_TEST_KEY")
		if want == "!" && (err == nil || !strings.Contains(err.Error(), "ENDPOINT_TEST_KEY") || strings.Contains(err.Error(), "sk-")) || want != "!" && (err != nil || got != want) {
			t.Errorf("%q: %q, %v", value, got, err)
		}
	}
}

func TestOwn(t *testing.T) {
	for raw, want := range map[string]bool{"https://api.openai.com/v1": true, "https://EU.api.openai.com": true, "http://api.openai.com": false,
		"https://xapi.openai.com": false, "https://api.openai.com.example": false} {
		u, err := url.Parse(raw)
		if err != nil || Own(u, "api.openai.com") != want || Own(u, "") {
			t.Errorf("%s: want %v, %v", raw, want, err)
		}
	}
}
