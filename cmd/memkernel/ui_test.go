package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/memkernel/memkernel/internal/cli"
)

// opened is a window that the verb opened.
type opened struct {
	t            *testing.T
	base, cookie string
	stop         func()
}

// openUI runs the verb until the test ends, and comes in by its link.
func openUI(t *testing.T, args ...string) *opened {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	out, in := io.Pipe()
	var stderr bytes.Buffer
	ended := make(chan int, 1)
	go func() {
		ended <- run(ctx, &cli.UI{In: strings.NewReader(""), Out: in, Err: &stderr}, append([]string{"ui", "--no-open"}, args...))
		in.Close()
	}()
	o := &opened{t: t, stop: func() {
		cancel()
		if code := <-ended; code != cli.ExitOK {
			t.Errorf("ui: exit %d, %s", code, stderr.String())
		}
		ended <- 0
	}}
	t.Cleanup(o.stop)
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("ui printed %q: %v", line, err)
	}
	go io.Copy(io.Discard, out)
	base, token, ok := strings.Cut(strings.TrimSpace(line), "/#token=")
	if !ok || !strings.HasPrefix(base, "http://127.0.0.1:") {
		t.Fatalf("the first line is %q", line)
	}
	o.base = base
	body, _ := json.Marshal(map[string]string{"token": token})
	req, err := http.NewRequest(http.MethodPost, base+"/enter", bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Origin", base)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	if len(res.Cookies()) != 1 {
		t.Fatalf("entering: %s", res.Status)
	}
	o.cookie = res.Cookies()[0].String()
	return o
}

// get asks for a document.
func (o *opened) get(path string) (status int, doc map[string]any) {
	o.t.Helper()
	req, err := http.NewRequest(http.MethodGet, o.base+path, nil)
	if err != nil {
		o.t.Fatal(err)
	}
	req.Header.Set("Cookie", strings.SplitN(o.cookie, ";", 2)[0])
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		o.t.Fatal(err)
	}
	defer res.Body.Close()
	if err := json.NewDecoder(res.Body).Decode(&doc); err != nil {
		o.t.Fatalf("%s: %v", path, err)
	}
	return res.StatusCode, doc
}

// uiSchemas are the documents that the window alone has.
var uiSchemas = []string{"ui_sessions", "ui_session", "ui_talk", "ui_timeline", "ui_call", "ui_find", "ui_page"}

// Every view has its data as documents of doc/schema.json.
func TestUIDocuments(t *testing.T) {
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("../../testdata/workspace")); err != nil {
		t.Fatal(err)
	}
	o := openUI(t, "--workspace", dir, "--transcript", beginning(t, 60), "--context-window", "64k")
	contracts := documents(t)
	_, list := o.get("/api/sessions")
	id := list["sessions"].([]any)[0].(map[string]any)["id"].(string)
	var head map[string]any
	for range 600 {
		_, doc := o.get("/api/session?session=" + id)
		if head = doc["head"].(map[string]any); head["done"] == true {
			break
		}
		time.Sleep(20 * time.Millisecond)
	}
	if head["done"] != true || head["error"] != "" || head["append_late_usd"] == nil {
		t.Fatalf("the session is not planned: %v", head)
	}
	_, call := o.get("/api/call?session=" + id + "&call=9")
	page := ""
	for _, b := range call["blocks"].([]any) {
		if p := b.(map[string]any); p["type"] == "evidence" {
			page = p["page"].(string)
		}
	}
	seen := map[string]bool{}
	for _, path := range []string{"/api/sessions", "/api/session?session=" + id, "/api/timeline?session=" + id, "/api/talk?session=" + id, "/api/call?session=" + id + "&call=9",
		"/api/find?q=oversold", "/api/page?session=" + id + "&page=" + page, "/api/list", "/api/list?path=MEMORY.md", "/api/read?path=MEMORY.md",
		"/api/search?q=deploy", "/api/audit", "/api/why?entry=MEMORY.md:5", "/api/history?path=MEMORY.md", "/api/doctor"} {
		code, doc := o.get(path)
		schema, _ := doc["schema"].(string)
		if code != http.StatusOK {
			t.Errorf("%s: %d, schema %q: %v", path, code, schema, doc["error"])
			continue
		}
		seen[schema] = true
		if err := contracts.Check(doc); err != nil {
			t.Errorf("%s: %v", path, err)
		}
	}
	for _, name := range uiSchemas {
		if !seen["memkernel/"+name+"/v1"] {
			t.Errorf("no view has %s", name)
		}
	}
}

// The address is the first line, and other machines can't be let in.
func TestUIIsForThisMachine(t *testing.T) {
	code, stdout, stderr := invoke(t, "ui", "--no-open", "--workspace", t.TempDir(), "--addr", "0.0.0.0:0")
	if code != cli.ExitUsage || stdout != "" || !strings.Contains(stderr, "this machine alone") {
		t.Errorf("exit %d, %q, %q", code, stdout, stderr)
	}
	o := openUI(t, "--workspace", t.TempDir(), "--transcript", filepath.Join(t.TempDir(), "none"))
	if code, doc := o.get("/api/call?session=t0&call=1"); code != http.StatusNotFound || doc["error"] == "" {
		t.Errorf("%d %v", code, doc)
	}
}
