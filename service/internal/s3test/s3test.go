// Package s3test serves buckets on this machine as Amazon's S3 does, for tests, and lets
// them inject faults between server and client. It never reaches a network.
package s3test

import (
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"
)

// Bucket is the name of the bucket that every server has.
const Bucket = "blobs"

// Server is a server of buckets.
type Server struct {
	// URL is its address.
	URL  string
	back *s3mem.Backend
	http *httptest.Server
	now  atomic.Pointer[func() time.Time]
	bad  atomic.Pointer[Fault]
}

// Fault handles a request before the server does. The server is next.
type Fault func(w http.ResponseWriter, r *http.Request, next http.Handler)

// Start serves an empty bucket.
func Start() *Server {
	s := &Server{back: s3mem.New()}
	if err := s.back.CreateBucket(Bucket); err != nil {
		panic(err) // a bucket in memory
	}
	s3 := gofakes3.New(s.back, gofakes3.WithTimeSource(clock{s}), gofakes3.WithLogger(gofakes3.DiscardLog())).Server()
	s.http = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if f := s.bad.Load(); f != nil {
			(*f)(w, r, s3)
			return
		}
		s3.ServeHTTP(w, r)
	}))
	s.http.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.http.Start()
	s.URL = s.http.URL
	return s
}

// Close ends the server.
func (s *Server) Close() {
	s.http.CloseClientConnections()
	s.http.Close()
}

// SetFault puts f in front of the server from now on; nil removes it.
func (s *Server) SetFault(f Fault) {
	if f == nil {
		s.bad.Store(nil)
		return
	}
	s.bad.Store(&f)
}

// SetClock gives the server another clock.
func (s *Server) SetClock(now func() time.Time) { s.now.Store(&now) }

// KeepVersions makes the bucket keep removed and replaced objects.
func (s *Server) KeepVersions() error {
	return s.back.SetVersioningConfiguration(Bucket, gofakes3.VersioningConfiguration{Status: gofakes3.VersioningEnabled})
}

// Versions counts the versions in the bucket, including removed ones.
func (s *Server) Versions() (int, error) {
	list, err := s.back.ListBucketVersions(Bucket, nil, nil)
	if err != nil {
		return 0, err
	}
	return len(list.Versions), nil
}

// Keys are the keys in the bucket, in order.
func (s *Server) Keys() ([]string, error) {
	list, err := s.back.ListBucket(Bucket, nil, gofakes3.ListBucketPage{})
	if err != nil {
		return nil, err
	}
	var out []string
	for _, o := range list.Contents {
		out = append(out, o.Key)
	}
	slices.Sort(out)
	return out, nil
}

// Put puts an object into the bucket, without a check of the client's rights.
func (s *Server) Put(key, content string) error {
	_, err := s.back.PutObject(Bucket, key, map[string]string{"Last-Modified": time.Now().UTC().Format(http.TimeFormat)}, strings.NewReader(content), int64(len(content)), nil)
	return err
}

// CopyTo puts all objects that the bucket has now into another server's, one after the other.
func (s *Server) CopyTo(to *Server) error {
	keys, err := s.Keys()
	if err != nil {
		return err
	}
	for _, key := range keys {
		o, err := s.back.GetObject(Bucket, key, nil)
		if err != nil {
			return err
		}
		data, err := io.ReadAll(o.Contents)
		if err = errors.Join(err, o.Contents.Close()); err == nil {
			err = to.Put(key, string(data))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Remove removes an object.
func (s *Server) Remove(key string) error {
	_, err := s.back.DeleteObject(Bucket, key)
	return err
}

// Refuse answers with an error of S3.
func Refuse(status int, code string) Fault {
	return func(w http.ResponseWriter, r *http.Request, _ http.Handler) {
		w.Header().Set("Content-Type", "application/xml")
		w.WriteHeader(status)
		fmt.Fprintf(w, `<?xml version="1.0" encoding="UTF-8"?><Error><Code>%s</Code><Message>refused in a test</Message><Region>eu-north-1</Region></Error>`, code)
	}
}

// clock is the server's clock.
type clock struct{ s *Server }

func (c clock) Now() time.Time {
	if f := c.s.now.Load(); f != nil {
		return (*f)()
	}
	return time.Now()
}

func (c clock) Since(t time.Time) time.Duration { return c.Now().Sub(t) }
