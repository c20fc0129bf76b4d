package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/memkernel/memkernel/internal/cli"
	"github.com/memkernel/memkernel/serve"
)

// served runs a daemon of a workspace in this process, and gives a client's end.
func served(t *testing.T, workspace string) (send io.WriteCloser, receive *bufio.Scanner) {
	t.Helper()
	in, send := io.Pipe()
	out, answers := io.Pipe()
	var stderr strings.Builder
	ended := make(chan int, 1)
	go func() {
		ended <- run(context.Background(), &cli.UI{In: in, Out: answers, Err: &stderr}, []string{"serve", "--stdio", "--workspace", workspace})
		answers.Close()
	}()
	t.Cleanup(func() {
		send.Close()
		go io.Copy(io.Discard, out)
		if code := <-ended; code != cli.ExitOK {
			t.Errorf("serve: exit %d, %s", code, &stderr)
		}
	})
	receive = bufio.NewScanner(out)
	receive.Buffer(nil, 16<<20)
	return send, receive
}

// TestSignalsEndServers: a verb that runs until it is told to stop has done its work then.
func TestSignalsEndServers(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there are no signals to send")
	}
	for _, c := range []struct {
		args   string
		signal os.Signal
	}{
		{"serve", syscall.SIGTERM}, {"serve", os.Interrupt},
		{"proxy --listen 127.0.0.1:0 --upstream http://127.0.0.1:9", syscall.SIGTERM},
		{"ui --no-open --addr 127.0.0.1:0", syscall.SIGTERM}, {"mcp", syscall.SIGTERM},
	} {
		cmd := exec.Command("memkernel", append(strings.Fields(c.args), "--workspace", t.TempDir())...)
		var stderr strings.Builder
		cmd.Stderr = &stderr
		in, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if c.args == "mcp" {
			io.WriteString(in, `{"jsonrpc":"2.0","id":1,"method":"ping"}`+"\n")
		}
		if line, err := bufio.NewReader(out).ReadString('\n'); err != nil {
			t.Errorf("%s printed %q, %v", c.args, line, err)
		}
		if err := cmd.Process.Signal(c.signal); err != nil {
			t.Error(err)
		}
		if err := cmd.Wait(); err != nil {
			t.Errorf("%s after %v: %v, %s", c.args, c.signal, err, stderr.String())
		}
		in.Close()
	}
}

// converse runs a conversation: lines of a client behind "C: ", and behind "S: " the
// answers, of which only what is written has to be there. Lines are answered in order. Calls that
// are carried out, and their results, are as doc/schema.json has them.
func converse(t *testing.T, script string) {
	t.Helper()
	send, receive := served(t, t.TempDir())
	seen := map[string]string{}
	calls := map[string]map[string]any{}
	for i, line := range strings.Split(script, "\n") {
		said, client := strings.CutPrefix(line, "C: ")
		want, server := strings.CutPrefix(line, "S: ")
		switch {
		case client:
			for name, v := range seen {
				said = strings.ReplaceAll(said, `"<`+name+`>"`, v)
			}
			if _, err := io.WriteString(send, said+"\n"); err != nil {
				t.Fatal(err)
			}
			var call map[string]any
			if json.Unmarshal([]byte(said), &call) == nil {
				calls[fmt.Sprint(call["id"])] = call
			}
		case server:
			if !receive.Scan() {
				t.Fatalf("line %d: there is no answer: %v", i+1, receive.Err())
			}
			var got, expected any
			if err := json.Unmarshal(receive.Bytes(), &got); err != nil {
				t.Fatal(err)
			}
			if err := json.Unmarshal([]byte(want), &expected); err != nil {
				t.Fatalf("line %d: %v", i+1, err)
			}
			if problem := holds(got, expected, "", seen); problem != "" {
				t.Fatalf("line %d: %s\nwant %s\ngot  %s", i+1, problem, want, receive.Text())
			}
			answer, _ := got.(map[string]any)
			if call := calls[fmt.Sprint(answer["id"])]; answer["result"] != nil && call != nil {
				if err := documents(t).CheckCall(call["method"].(string), call["params"], answer["result"]); err != nil {
					t.Errorf("line %d: %v", i+1, err)
				}
			}
		}
	}
}

var anyValue = regexp.MustCompile(`^<(?:(\w+):)?any>$`)

// holds says where got does not hold what is wanted, "" if it does.
func holds(got, want any, path string, seen map[string]string) string {
	switch want := want.(type) {
	case string:
		if m := anyValue.FindStringSubmatch(want); m != nil {
			raw, _ := json.Marshal(got)
			seen[m[1]] = string(raw)
			return ""
		}
	case map[string]any:
		g, ok := got.(map[string]any)
		for k, w := range want {
			v, there := g[k]
			if !ok || !there {
				return path + "." + k + " is missing"
			}
			if problem := holds(v, w, path+"."+k, seen); problem != "" {
				return problem
			}
		}
		return ""
	case []any:
		g, ok := got.([]any)
		if !ok || len(g) != len(want) {
			return fmt.Sprintf("%s is %v, want %d elements", path, got, len(want))
		}
		for i := range want {
			if problem := holds(g[i], want[i], fmt.Sprintf("%s[%d]", path, i), seen); problem != "" {
				return problem
			}
		}
		return ""
	}
	if got != want {
		return fmt.Sprintf("%s is %v, want %v", path, got, want)
	}
	return ""
}

// TestProtocolExamples runs what doc/rpc.md shows.
func TestProtocolExamples(t *testing.T) {
	data, err := os.ReadFile("../../doc/rpc.md")
	if err != nil {
		t.Fatal(err)
	}
	head := ""
	for _, part := range strings.Split(string(data), "\n## ") {
		for _, sub := range strings.Split(part, "\n### ") {
			head, _, _ = strings.Cut(sub, "\n")
			for i, block := range regexp.MustCompile("(?s)```rpc\n(.*?)```").FindAllStringSubmatch(sub, -1) {
				t.Run(fmt.Sprintf("%s %d", head, i), func(t *testing.T) { converse(t, block[1]) })
			}
		}
	}
}

// TestProtocolIsComplete: every method has an example among the conversations.
func TestProtocolIsComplete(t *testing.T) {
	files, err := filepath.Glob("../../serve/testdata/*.txt")
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		text.Write(data)
	}
	for _, m := range append(serve.Methods(), serve.Method{Name: "$/cancelRequest"}) {
		if !strings.Contains(text.String(), `"method":"`+m.Name+`"`) {
			t.Errorf("serve/testdata has no call of %s", m.Name)
		}
	}
}

// TestGoldenConversations runs serve/testdata.
func TestGoldenConversations(t *testing.T) {
	files, err := filepath.Glob("../../serve/testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no conversations: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			converse(t, string(data))
		})
	}
}
