package embed

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestRefusalsSayWhatToDo(t *testing.T) {
	for _, c := range []struct {
		status     int
		body, want string
		hint       string
		texts      bool
	}{
		{401, `{"error":{"message":"Incorrect API key","code":"invalid_api_key"}}`, "401 Unauthorized: Incorrect API key [invalid_api_key]", "TEST_KEY", false},
		{403, `{"error":"no access"}`, "403 Forbidden: no access", "api_key_env", false},
		{404, `{"message":"model not found"}`, "404 Not Found: model not found", "base_url", false},
		{404, ``, "404 Not Found", "/v1", false},
		{400, `{"detail":"too many tokens"}`, "400 Bad Request: too many tokens", "chunking.tokens", true},
		{413, `<html>large</html>`, "413 Request Entity Too Large: <html>large</html>", "chunking.tokens", true},
		{422, `{"detail":[{"msg":"dimensions"}]}`, `422 Unprocessable Entity: {"detail":[{"msg":"dimensions"}]}`, "dimensions", true},
		{402, `{"error":{"message":"pay","code":402}}`, "402 Payment Required: pay", "account", false},
		{500, `{"error":{"code":500,"message":"input is too large to process. increase the physical batch size","type":"server_error"}}`, "too large to process", "chunking.tokens", true},
	} {
		s := serve(t, func(w http.ResponseWriter, _ asked, _ int) {
			w.WriteHeader(c.status)
			io.WriteString(w, c.body)
		})
		_, err := openAt(t, s.URL, nil).EmbedQuery(t.Context(), "a")
		var e *Error
		if !errors.As(err, &e) || e.Status != c.status || e.Texts != c.texts || e.Tries != 1 {
			t.Errorf("%d: got %+v", c.status, e)
			continue
		}
		if !strings.Contains(e.Err.Error(), c.want) || !strings.Contains(e.Hint, c.hint) || !strings.Contains(err.Error(), s.URL) {
			t.Errorf("%d: got %q, want %q and a hint with %q", c.status, err, c.want, c.hint)
		}
	}
}

func TestUnauthorizedWithoutAKeySaysSo(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, a asked, _ int) {
		if a.auth != "" {
			t.Errorf("header %q was sent without a key", a.auth)
		}
		w.WriteHeader(http.StatusUnauthorized)
	})
	t.Setenv(defaultAPIKeyEnv, testKey)
	p, err := FromConfig(Config{Provider: "openai", BaseURL: s.URL, Model: "m"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err = p.EmbedQuery(t.Context(), "a"); err == nil || !strings.Contains(err.Error(), "set api_key_env") {
		t.Errorf("got %v", err)
	}
}

// everything is all that can be seen of a value by printing or marshalling it.
func everything(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	out := fmt.Sprintf("%s %v %+v %#v %q %x", b, v, v, v, v, v)
	if err, ok := v.(error); ok {
		for ; err != nil; err = errors.Unwrap(err) {
			out += fmt.Sprintf(" %v %+v %#v", err, err, err)
		}
	}
	return out
}

// maxSaid is the longest message of a server in an error.
const maxSaid = 300

func TestTheKeyIsInNoError(t *testing.T) {
	half := strings.Repeat("x", maxSaid-len(testKey)/2)
	for name, answer := range map[string]func(http.ResponseWriter){
		"as JSON":   func(w http.ResponseWriter) { refuse(w, 401, `{"error":{"message":"bad key `+testKey+`"}}`) },
		"as code":   func(w http.ResponseWriter) { refuse(w, 401, `{"error":{"message":"bad","code":"`+testKey+`"}}`) },
		"as text":   func(w http.ResponseWriter) { refuse(w, 400, "Authorization: Bearer "+testKey) },
		"at a cut":  func(w http.ResponseWriter) { refuse(w, 500, half+testKey) },
		"in a path": func(w http.ResponseWriter) { w.Header().Set("Location", "/x/"+testKey); refuse(w, 302, "") },
		"in a query": func(w http.ResponseWriter) {
			w.Header().Set("Location", "https://user:"+testKey+"@b.example/x?k="+testKey)
			refuse(w, 307, "")
		},
		"in bad JSON": func(w http.ResponseWriter) { io.WriteString(w, testKey) },
		"in a value":  func(w http.ResponseWriter) { io.WriteString(w, `{"data":"`+testKey+`"}`) },
		"no HTTP":     func(w http.ResponseWriter) { raw(t, w, testKey+"\r\n\r\n") },
		"bad header":  func(w http.ResponseWriter) { raw(t, w, "HTTP/1.1 200 OK\r\n"+testKey+"\r\n\r\n") },
		"bad status":  func(w http.ResponseWriter) { raw(t, w, "HTTP/1.1 "+testKey+"\r\n\r\n") },
	} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, func(w http.ResponseWriter, _ asked, _ int) { answer(w) })
			o := openAt(t, s.URL, func(c *Config) { c.MaxTries = 1 })
			_, err := o.EmbedQuery(t.Context(), "a")
			if err == nil {
				t.Fatal("no error")
			}
			for start := 0; start+12 <= len(testKey); start++ {
				if seen := everything(t, err); strings.Contains(seen, testKey[start:start+12]) {
					t.Fatalf("part of the key is in %s", seen)
				}
			}
			if seen := everything(t, o); strings.Contains(seen, testKey) {
				t.Errorf("the key is in %s", seen)
			}
		})
	}
}

func refuse(w http.ResponseWriter, status int, body string) {
	w.WriteHeader(status)
	io.WriteString(w, body)
}

// raw writes bytes to the connection in place of an answer.
func raw(t *testing.T, w http.ResponseWriter, bytes string) {
	conn, _, err := w.(http.Hijacker).Hijack()
	if err != nil {
		t.Error(err)
		return
	}
	defer conn.Close()
	io.WriteString(conn, bytes)
}

func TestRedirectsAreNotFollowed(t *testing.T) {
	for _, status := range []int{301, 302, 303, 307, 308} {
		other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			t.Errorf("%d: the other host got %s with %q", status, r.Method, r.Header.Get("Authorization"))
		}))
		defer other.Close()
		s := serve(t, func(w http.ResponseWriter, _ asked, _ int) {
			w.Header().Set("Location", other.URL+"/v1/embeddings?x=1")
			w.WriteHeader(status)
		})
		_, err := openAt(t, s.URL, nil).EmbedQuery(t.Context(), "a")
		if err == nil || !strings.Contains(err.Error(), "redirects to "+other.URL+"/v1/embeddings:") || len(s.asked) != 1 {
			t.Errorf("%d: %d requests, %v", status, len(s.asked), err)
		}
	}
}

func TestServersWordsAreOneShortLine(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, _ asked, _ int) {
		refuse(w, 400, "a\r\nb\x1b[31m\u202ec\xff "+strings.Repeat("漢", 1000))
	})
	_, err := openAt(t, s.URL, nil).EmbedQuery(t.Context(), "a")
	var e *Error
	if !errors.As(err, &e) {
		t.Fatal(err)
	}
	said := strings.TrimPrefix(e.Err.Error(), "400 Bad Request: ")
	if !strings.HasPrefix(said, "a b [31m c 漢") || len(said) > maxSaid+len("…") || !strings.HasSuffix(said, "漢…") {
		t.Errorf("got %d bytes %q", len(said), said)
	}
}
