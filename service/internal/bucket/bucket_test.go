package bucket_test

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/memkernel/memkernel/service/internal/bucket"
	"github.com/memkernel/memkernel/service/internal/s3test"
)

func TestMain(m *testing.M) {
	bucket.NoPauses()
	os.Exit(m.Run())
}

const secret = "s3cr3t-of-the-bucket"

func served(t *testing.T) (*s3test.Server, bucket.Options) {
	t.Helper()
	s := s3test.Start()
	t.Cleanup(s.Close)
	return s, bucket.Options{Endpoint: s.URL, Bucket: s3test.Bucket, Prefix: "team/memory", AccessKey: "me", SecretKey: secret}
}

func open(t *testing.T, o bucket.Options) *bucket.Bucket {
	t.Helper()
	b, err := bucket.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func keys(t *testing.T, s *s3test.Server) string {
	t.Helper()
	k, err := s.Keys()
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(k, " ")
}

func TestPutGetListRemove(t *testing.T) {
	s, o := served(t)
	b := open(t, o)
	big := bytes.Repeat([]byte("0123456789abcdef"), 2<<20) // beyond what clients cut into parts
	for key, data := range map[string][]byte{"root/ab/x-1": []byte("hello"), "root/cd/y-2": big, "other/z": {}} {
		if err := b.Put(t.Context(), key, data); err != nil {
			t.Fatal(err)
		}
		got, err := b.Get(t.Context(), key, int64(len(data)))
		if err != nil || !bytes.Equal(got, data) {
			t.Fatalf("%s: %d bytes, %v", key, len(got), err)
		}
	}
	if k := keys(t, s); k != "team/memory/other/z team/memory/root/ab/x-1 team/memory/root/cd/y-2" {
		t.Errorf("keys are %s", k)
	}
	listed := map[string]int64{}
	if err := b.List(t.Context(), "root/", func(key string, size int64) error { listed[key] = size; return nil }); err != nil || len(listed) != 2 || listed["root/ab/x-1"] != 5 {
		t.Errorf("listed %v, %v", listed, err)
	}
	for range 2 {
		if err := b.Remove(t.Context(), "root/ab/x-1"); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := b.Get(t.Context(), "root/ab/x-1", 5); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("what was removed: %v", err)
	}
}

// A bucket that keeps versions has none left of what was removed.
func TestVersionsGo(t *testing.T) {
	s, o := served(t)
	if err := s.KeepVersions(); err != nil {
		t.Fatal(err)
	}
	b := open(t, o)
	for _, key := range []string{"a", "ab"} {
		if err := b.Put(t.Context(), key, []byte("words")); err != nil {
			t.Fatal(err)
		}
	}
	if err := b.Put(t.Context(), "a", []byte("other words")); err != nil {
		t.Fatal(err)
	}
	if err := s.Remove("team/memory/a"); err != nil { // as somebody does who knows nothing of versions
		t.Fatal(err)
	}
	if err := b.Remove(t.Context(), "a"); err != nil {
		t.Fatal(err)
	}
	if n, err := s.Versions(); n != 1 || err != nil {
		t.Errorf("%d versions are left, %v", n, err)
	}
}

// What a server does for a moment is tried again; what it goes on doing is said, with the way
// out and without the secret.
func TestFaults(t *testing.T) {
	refuse := func(status int, code string) s3test.Fault { return s3test.Refuse(status, code) }
	for name, c := range map[string]struct {
		fault s3test.Fault
		kind  error
		hint  string
	}{
		"denies":       {refuse(403, "AccessDenied"), bucket.ErrDenied, "the right to"},
		"unknown key":  {refuse(403, "InvalidAccessKeyId"), bucket.ErrDenied, "access_key_env"},
		"wrong secret": {refuse(403, "SignatureDoesNotMatch"), bucket.ErrDenied, "secret_key_env"},
		"no bucket":    {refuse(404, "NoSuchBucket"), bucket.ErrNoBucket, "store.blobs.s3.bucket"},
		"region":       {refuse(400, "AuthorizationHeaderMalformed"), bucket.ErrRegion, "store.blobs.s3.region to the bucket's, eu-north-1"},
		"moved":        {refuse(301, "PermanentRedirect"), bucket.ErrRegion, "store.blobs.s3.region"},
		"clock":        {refuse(403, "RequestTimeTooSkewed"), bucket.ErrClock, "clock"},
		"full":         {refuse(403, "QuotaExceeded"), bucket.ErrFull, "make room"},
		"out of order": {refuse(503, "SlowDown"), bucket.ErrBusy, "try again"},
		"hangs up": {func(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
			panic(http.ErrAbortHandler)
		}, bucket.ErrUnreachable, "endpoint"},
		"is no S3": {func(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
			http.Error(w, "<html>welcome", http.StatusTeapot)
		}, bucket.ErrBusy, "try again"},
	} {
		t.Run(name, func(t *testing.T) {
			s, o := served(t)
			b := open(t, o)
			if err := b.Put(t.Context(), "was", []byte("here")); err != nil {
				t.Fatal(err)
			}
			s.SetFault(c.fault)
			check := func(what string, err error) {
				t.Helper()
				if !errors.Is(err, c.kind) || !strings.Contains(err.Error(), c.hint) || strings.Contains(err.Error(), secret) || strings.Contains(err.Error(), "\n") {
					t.Errorf("%s: %v", what, err)
				}
			}
			check("put", b.Put(t.Context(), "new", []byte("content")))
			// An answer to HEAD has no code that says why.
			if err := b.Remove(t.Context(), "was"); name != "no bucket" && (err == nil || strings.Contains(err.Error(), secret)) {
				t.Errorf("remove: %v", err)
			}
			_, err := b.Get(t.Context(), "was", 4)
			check("get", err)
			check("list", b.List(t.Context(), "", func(string, int64) error { return nil }))
			s.SetFault(nil)
			if k := keys(t, s); k != "team/memory/was" {
				t.Errorf("the bucket has %s", k)
			}
		})
	}
}

// Faults that pass are not noticed.
func TestTriedAgain(t *testing.T) {
	s, o := served(t)
	b := open(t, o)
	content := bytes.Repeat([]byte("line\n"), 100_000)
	var n atomic.Int64
	s.SetFault(func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		switch n.Add(1) % 3 {
		case 1:
			s3test.Refuse(503, "InternalError")(w, r, next)
		case 2:
			if r.Method == http.MethodGet { // half an answer
				rec := httptest.NewRecorder()
				next.ServeHTTP(rec, r)
				for k, v := range rec.Header() {
					w.Header()[k] = v
				}
				w.WriteHeader(rec.Code)
				w.Write(rec.Body.Bytes()[:rec.Body.Len()/2])
				panic(http.ErrAbortHandler)
			}
			io.CopyN(io.Discard, r.Body, 1000) // and half a request
			panic(http.ErrAbortHandler)
		default:
			next.ServeHTTP(w, r)
		}
	})
	if err := b.Put(t.Context(), "k", content); err != nil {
		t.Fatal(err)
	}
	if got, err := b.Get(t.Context(), "k", int64(len(content))); err != nil || !bytes.Equal(got, content) {
		t.Fatalf("%d bytes, %v", len(got), err)
	}
	if err := b.Remove(t.Context(), "k"); err != nil {
		t.Fatal(err)
	}
}

// An endpoint that nobody is at, one that never answers, one that stops in the middle, and a
// clock that is an hour off end in time.
func TestEndsInTime(t *testing.T) {
	s, o := served(t)
	b := open(t, o)
	if err := b.Put(t.Context(), "k", []byte("content")); err != nil {
		t.Fatal(err)
	}
	o.Timeout = 200 * time.Millisecond
	hasty := open(t, o)
	for name, f := range map[string]s3test.Fault{
		"never answers": func(_ http.ResponseWriter, r *http.Request, _ http.Handler) {
			io.Copy(io.Discard, r.Body) // who has read it hears of the end
			<-r.Context().Done()
		},
		"stops": func(w http.ResponseWriter, r *http.Request, _ http.Handler) {
			w.Header().Set("Content-Length", "7")
			w.Header().Set("Last-Modified", "Tue, 24 Nov 2026 00:00:00 GMT")
			w.Header().Set("ETag", `"x"`)
			w.Write([]byte("con"))
			w.(http.Flusher).Flush()
			io.Copy(io.Discard, r.Body)
			<-r.Context().Done()
		},
	} {
		s.SetFault(f)
		if _, err := hasty.Get(t.Context(), "k", 7); !errors.Is(err, bucket.ErrUnreachable) || !strings.Contains(err.Error(), "took too long") {
			t.Errorf("%s: get: %v", name, err)
		}
		if name == "never answers" {
			if err := hasty.Put(t.Context(), "new", bytes.Repeat([]byte("x"), 10<<10)); !errors.Is(err, bucket.ErrUnreachable) {
				t.Errorf("%s: put: %v", name, err)
			}
		}
	}
	s.SetFault(nil)
	s.SetClock(func() time.Time { return time.Now().Add(time.Hour) })
	if err := b.Put(t.Context(), "late", []byte("x")); !errors.Is(err, bucket.ErrClock) {
		t.Errorf("a clock that is an hour off: %v", err)
	}
	s.Close()
	if err := b.Put(t.Context(), "new", []byte("x")); !errors.Is(err, bucket.ErrUnreachable) || !strings.Contains(err.Error(), "endpoint") {
		t.Errorf("nobody there: %v", err)
	}
}

func TestOptions(t *testing.T) {
	for _, c := range []struct{ endpoint, key, prefix, say string }{
		{"http://s3.example.com", "k", "", "unencrypted"},
		{"s3.example.com", "k", "", "https://host"},
		{"https://me:pass@s3.example.com", "k", "", "https://host"},
		{"https://s3.example.com/bucket", "k", "", "without bucket"},
		{"https://s3.example.com", "", "", "no access key"},
		{"https://s3.example.com", "k", "../up", "the prefix"},
	} {
		_, err := bucket.New(bucket.Options{Endpoint: c.endpoint, Bucket: "b", Prefix: c.prefix, AccessKey: c.key, SecretKey: secret})
		if err == nil || !strings.Contains(err.Error(), c.say) || strings.Contains(err.Error(), "pass") || strings.Contains(err.Error(), secret) {
			t.Errorf("%s, prefix %q: %v", c.endpoint, c.prefix, err)
		}
	}
	b := open(t, bucket.Options{Bucket: "Not A Bucket", AccessKey: "k", SecretKey: secret})
	if err := b.Put(t.Context(), "k", nil); !errors.Is(err, bucket.ErrNoBucket) {
		t.Errorf("a name that is none: %v", err)
	}
}
