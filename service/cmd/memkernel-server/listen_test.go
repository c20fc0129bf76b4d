package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/memkernel/memkernel/internal/cli"
)

// listening is a server that runs in this process.
type listening struct {
	t      *testing.T
	url    string
	lines  *bufio.Scanner
	stop   func() int
	client *http.Client
}

// listen runs serve --listen until the test ends.
func listen(t *testing.T, args ...string) *listening {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	out, in := io.Pipe()
	var stderr bytes.Buffer
	ended := make(chan int, 1)
	go func() {
		ended <- command.Run(ctx, &cli.UI{In: strings.NewReader(""), Out: in, Err: &stderr}, append([]string{"serve", "--listen", "127.0.0.1:0"}, args...))
		in.Close()
	}()
	l := &listening{t: t, lines: bufio.NewScanner(out), client: http.DefaultClient}
	l.stop = func() int {
		cancel()
		go io.Copy(io.Discard, out)
		code := <-ended
		ended <- code
		return code
	}
	t.Cleanup(func() {
		if code := l.stop(); code != cli.ExitOK {
			t.Errorf("serve: exit %d, %s", code, &stderr)
		}
	})
	if !l.lines.Scan() {
		t.Fatalf("nothing is printed: %s", &stderr)
	}
	l.url = l.lines.Text()
	return l
}

func (l *listening) call(token, method, params string) (int, string) {
	l.t.Helper()
	r, err := http.NewRequest(http.MethodPost, l.url+"/rpc", strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"`+method+`","params":`+params+`}`))
	if err != nil {
		l.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Authorization", "Bearer "+token)
	res, err := l.client.Do(r)
	if err != nil {
		l.t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		l.t.Fatal(err)
	}
	return res.StatusCode, string(body)
}

// newToken makes a token, and gives its secret and its id.
func newToken(t *testing.T, args ...string) (secret, id string) {
	t.Helper()
	code, stdout, stderr := invoke(t, append([]string{"token", "create", "--json"}, args...)...)
	var doc struct{ ID, Token string }
	if err := json.Unmarshal([]byte(stdout), &doc); err != nil || code != cli.ExitOK {
		t.Fatalf("exit %d, %v, %s", code, err, stderr)
	}
	return doc.Token, doc.ID
}

// TestListen: a daemon is reached by its URL and by its socket, and tokens that are made and
// revoked while it runs hold.
func TestListen(t *testing.T) {
	ws, err := os.MkdirTemp("", "mk")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(ws) })
	l := listen(t, "--workspace", ws)
	if !strings.HasPrefix(l.url, "http://127.0.0.1:") {
		t.Fatalf("the first line is %q", l.url)
	}
	if !l.lines.Scan() || !strings.HasSuffix(l.lines.Text(), "serve.sock") {
		t.Errorf("the second line is %q", l.lines.Text())
	}
	if nc, err := net.Dial("unix", l.lines.Text()); err != nil {
		t.Error(err)
	} else {
		nc.Close()
	}
	for _, path := range []string{"/healthz", "/readyz", "/openapi.json"} {
		get(t, l.url+path)
	}
	secret, id := newToken(t, "--workspace", ws, "--access", "write")
	if status, body := l.call(secret, "remember", `{"text":"The gate closes at noon."}`); status != 200 || !strings.Contains(body, "rpc_remember") {
		t.Errorf("%d %s", status, body)
	}
	other, _ := newToken(t, "--workspace", ws, "--tenant", "acme")
	if status, body := l.call(other, "pages", `{}`); status != 403 {
		t.Errorf("a tenant's token: %d %s", status, body)
	}
	if code, _, stderr := invoke(t, "token", "revoke", id, "--workspace", ws); code != cli.ExitOK {
		t.Fatal(stderr)
	}
	if status, body := l.call(secret, "pages", `{}`); status != 401 {
		t.Errorf("revoked: %d %s", status, body)
	}
	if code, _, stderr := invoke(t, "serve", "--listen", "127.0.0.1:0", "--workspace", ws); code != cli.ExitError || !strings.Contains(stderr, "serves this state folder already") || !strings.Contains(stderr, "hint") {
		t.Errorf("a second one: exit %d, %s", code, stderr)
	}
	if code, _, stderr := invoke(t, "serve", "--listen", strings.TrimPrefix(l.url, "http://"), "--workspace", t.TempDir()); code != cli.ExitError || !strings.Contains(stderr, "hint: another program may have the port") {
		t.Errorf("a port that is taken: exit %d, %s", code, stderr)
	}
	if code := l.stop(); code != cli.ExitOK {
		t.Errorf("exit %d", code)
	}
	if res, err := http.Get(l.url + "/healthz"); err == nil {
		res.Body.Close()
		t.Error("it listens when it has ended")
	}
}

// TestListenTLS: with a certificate it speaks HTTPS and nothing else.
func TestListenTLS(t *testing.T) {
	dir := t.TempDir()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	tmpl := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true}
	der, err := x509.CreateCertificate(rand.Reader, tmpl, tmpl, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	for name, b := range map[string]*pem.Block{"cert.pem": {Type: "CERTIFICATE", Bytes: der}, "key.pem": {Type: "EC PRIVATE KEY", Bytes: raw}} {
		if err := os.WriteFile(filepath.Join(dir, name), pem.EncodeToMemory(b), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	ws := t.TempDir()
	l := listen(t, "--workspace", ws, "--tenants", "--tls-cert", filepath.Join(dir, "cert.pem"), "--tls-key", filepath.Join(dir, "key.pem"))
	if !strings.HasPrefix(l.url, "https://127.0.0.1:") {
		t.Fatalf("the first line is %q", l.url)
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
	l.client = &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}, ForceAttemptHTTP2: true}}
	defer l.client.CloseIdleConnections()
	secret, _ := newToken(t, "--workspace", ws, "--tenant", "acme", "--access", "write")
	if status, body := l.call(secret, "initialize", `{}`); status != 200 || strings.Contains(body, ws) {
		t.Errorf("%d %s", status, body)
	}
	if res, err := http.Get(strings.Replace(l.url, "https", "http", 1) + "/healthz"); err == nil {
		if res.Body.Close(); res.StatusCode == http.StatusOK {
			t.Error("it speaks plain HTTP")
		}
	}
}

// TestListenTenants: each has its own folder, and no daemon's socket is there.
func TestListenTenants(t *testing.T) {
	ws := t.TempDir()
	l := listen(t, "--workspace", ws, "--tenants")
	one, _ := newToken(t, "--workspace", ws, "--tenant", "one", "--access", "write")
	two, _ := newToken(t, "--workspace", ws, "--tenant", "Two", "--access", "write")
	for _, secret := range []string{one, two} {
		if status, body := l.call(secret, "remember", `{"text":"The gate closes at noon.","path":"memory/gate.md"}`); status != 200 || !strings.Contains(body, "rpc_remember") {
			t.Errorf("%d %s", status, body)
		}
	}
	if status, body := l.call(one, "tools.call", `{"name":"memory_update","arguments":{"path":"memory/gate.md","old":"The gate closes at noon.","text":"It is open."}}`); status != 200 || !strings.Contains(body, `"reason":"OK"`) {
		t.Errorf("%d %s", status, body)
	}
	if _, body := l.call(two, "search", `{"query":"when does the gate close"}`); !strings.Contains(body, "noon") {
		t.Errorf("%s", body)
	}
	folders, err := os.ReadDir(filepath.Join(ws, ".memkernel", "tenants"))
	if err != nil || len(folders) != 2 {
		t.Errorf("%v, %v", folders, err)
	}
	if _, err := os.Lstat(filepath.Join(ws, ".memkernel", "serve.sock")); err == nil {
		t.Error("there is a socket")
	}
	plain, _ := newToken(t, "--workspace", ws)
	if status, _ := l.call(plain, "pages", `{}`); status != 403 {
		t.Errorf("a token without a tenant: %d", status)
	}
}

// get returns the body of an address that answers with 200.
func get(t *testing.T, url string) string {
	t.Helper()
	res, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != http.StatusOK {
		t.Fatalf("%s %v", res.Status, err)
	}
	return string(text)
}

// TestSignalEndsServer: a server that is told to stop has done its work then.
func TestSignalEndsServer(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there are no signals to send")
	}
	cmd := exec.Command("memkernel-server", "serve", "--listen", "127.0.0.1:0", "--workspace", t.TempDir())
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		t.Errorf("%q, %v", line, err)
	}
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Error(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("%v, %s", err, &stderr)
	}
}
