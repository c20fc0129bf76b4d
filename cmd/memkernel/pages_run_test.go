package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/memkernel/memkernel/internal/cli"
	"github.com/memkernel/memkernel/internal/fakemodel"
)

// others are programs that pages call and that are not run: a script that keeps what it
// was called with stands for each.
var others = []string{"claude", "codex", "gemini", "openclaw", "opencode", "pi", "my-agent", "npx", "npm", "pip", "pipx", "go", "git", "curl", "brew", "docker",
	"ollama", "hf", "mail", "qmd", "systemctl", "crontab", "launchctl", "psql"}

// tools are programs that do no more than a sandbox can bear, and words of the shell.
var tools = []string{"cat", "cd", "chmod", "cp", "cut", "date", "diff", "do", "done", "echo", "else", "exit", "export", "false", "fi", "for", "grep", "head", "if", "less", "ln", "ls", "mkdir", "mv",
	"pwd", "rm", "sed", "set", "sh", "sleep", "sort", "tail", "tee", "test", "then", "touch", "tr", "true", "wc", "while", "{", "}", "[", "!"}

// standIns are what pages write where a reader has something of their own, and what the
// sandbox has there.
func standIns(line string) string {
	line = regexp.MustCompile(`~/\.(claude|codex|pi|openclaw)/\S+\.jsonl`).ReplaceAllString(line, "~/session.jsonl")
	line = regexp.MustCompile(`\b(FILE|SESSION|TRANSCRIPT)\b( |$)`).ReplaceAllString(line, "~/session.jsonl$2")
	return regexp.MustCompile(`\b(DIR|FOLDER|WORKSPACE)\b( |$)`).ReplaceAllString(line, "~/notes$2")
}

var (
	cronTime     = regexp.MustCompile(`^(?:[0-9*/,-]+\s+){5}`)
	namedCode    = regexp.MustCompile(`exits? (?:code |with )?(?:code )?([0-9])`)
	shellInfo    = []string{"sh", "shell", "bash", "console", "zsh"}
	shellWord    = regexp.MustCompile(`^[A-Za-z_./"$~]`)
	serving      = []string{"proxy", "serve", "ui"}
	localAddress = regexp.MustCompile(`127\.0\.0\.1:[0-9]+`)
)

// commands are the lines of a block that a shell would run, nil if it holds none: one that
// says so, or one without a language whose first line calls a program that is known.
func (b *block) commands() []spot {
	if b.output || b.info != "" && !slices.Contains(shellInfo, b.info) {
		return nil
	}
	var out []spot
	prompts := strings.HasPrefix(b.text, "$ ") || strings.Contains(b.text, "\n$ ")
	whole := ""
	for i, l := range strings.Split(b.text, "\n") {
		l = strings.TrimSpace(l)
		if whole == "" && prompts {
			var ok bool
			if l, ok = strings.CutPrefix(l, "$ "); !ok {
				continue // what a command printed
			}
		}
		if whole += strings.TrimSuffix(l, `\`); strings.HasSuffix(l, `\`) {
			continue
		}
		if whole != "" && !strings.HasPrefix(whole, "#") {
			out = append(out, spot{b.line + 1 + i, cronTime.ReplaceAllString(whole, "")})
		}
		whole = ""
	}
	if b.info == "" && !b.notRun && (len(out) == 0 || !callsKnown(out[0].text)) {
		return nil
	}
	return out
}

// callsKnown: the line calls a program of the pages, or sets a variable for one.
func callsKnown(line string) bool {
	if !shellWord.MatchString(line) {
		return false
	}
	words, _ := shellWords(line, func(string) string { return "" })
	if len(words) > 1 && (words[0] == "export" && assignment.MatchString(words[1]) || words[0] == "cd" || words[0] == "mkdir") {
		return true
	}
	for len(words) > 0 && assignment.MatchString(words[0]) {
		words = words[1:]
	}
	return len(words) > 0 && (path.Base(words[0]) == "memkernel" || words[0] == "make" || slices.Contains(others, words[0]))
}

// shellWords are the words of a simple command, with variables put in; plain is false if
// the line takes a shell.
func shellWords(line string, variable func(string) string) (words []string, plain bool) {
	plain = true
	var b strings.Builder
	open, quote := false, rune(0)
	runes := []rune(line)
	for i := 0; i < len(runes); i++ {
		r := runes[i]
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote == '\'':
			b.WriteRune(r)
		case r == '$' && i+1 < len(runes) && (runes[i+1] == '_' || runes[i+1] >= 'A' && runes[i+1] <= 'Z'):
			j := i + 1
			for j < len(runes) && (runes[j] == '_' || runes[j] >= 'A' && runes[j] <= 'Z' || runes[j] >= '0' && runes[j] <= '9') {
				j++
			}
			b.WriteString(variable(string(runes[i+1 : j])))
			open, i = true, j-1
		case r == '\\' && i+1 < len(runes):
			i++
			b.WriteRune(runes[i])
			open = true
		case quote != 0:
			plain = plain && r != '$' && r != '`'
			b.WriteRune(r)
		case r == '\'' || r == '"':
			quote, open = r, true
		case r == ' ' || r == '\t':
			if open {
				words = append(words, b.String())
				b.Reset()
				open = false
			}
		case r == '#' && !open:
			return words, plain
		case r == '~' && !open:
			b.WriteString(variable("HOME"))
			open = true
		default:
			plain = plain && !strings.ContainsRune("|&;<>()$`*?{}!", r)
			b.WriteRune(r)
			open = true
		}
	}
	if open {
		words = append(words, b.String())
	}
	return words, plain && quote == 0
}

// sandbox is where the commands of a page are run: an empty home with a workspace and a
// session in it, a project, and nothing of this machine's.
type sandbox struct {
	home, project, calls string
	env                  map[string]string
	upstream             string
	addresses            map[string]string // what a page says, and what is listened on here
	servers              []*server
}

// server is a command that goes on until it is told to end.
type server struct {
	cancel context.CancelFunc
	done   chan int
	// what it says on standard output, and on standard error
	out, err lockedBuffer
}

func (v *server) said() string { return v.out.String() + v.err.String() }

type lockedBuffer struct {
	sync.Mutex
	b bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.Lock()
	defer l.Unlock()
	return l.b.Write(p)
}

// String is what was written until now.
func (l *lockedBuffer) String() string {
	l.Lock()
	defer l.Unlock()
	return l.b.String()
}

func newSandbox(t *testing.T) *sandbox {
	t.Helper()
	home, err := os.MkdirTemp("", "mk") // short, for sockets
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(home) })
	s := &sandbox{home: home, project: filepath.Join(home, "project"), calls: filepath.Join(home, "calls"), addresses: map[string]string{}}
	up := httptest.NewServer(fakemodel.New(fakemodel.Options{}))
	t.Cleanup(up.Close)
	s.upstream = up.URL
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, dir := range []string{"notes", "project"} {
		must(os.CopyFS(filepath.Join(home, dir), os.DirFS(filepath.Join(repository, "testdata/workspace"))))
	}
	session, err := os.ReadFile(beginning(t, 78))
	must(err)
	must(os.WriteFile(filepath.Join(home, "session.jsonl"), session, 0o600))
	must(os.WriteFile(filepath.Join(s.project, "session.jsonl"), session, 0o600))
	bin := filepath.Join(home, ".local", "bin")
	must(os.MkdirAll(bin, 0o700))
	for _, name := range others {
		must(os.WriteFile(filepath.Join(bin, name), []byte("#!/bin/sh\necho "+name+" \"$@\" >>"+s.calls+"\n"), 0o700))
	}
	if program, err := exec.LookPath("memkernel"); err == nil { // the one of TestMain
		must(os.Symlink(program, filepath.Join(bin, "memkernel")))
	}
	s.env = map[string]string{"HOME": home, "PATH": bin + ":" + os.Getenv("PATH"), "TMPDIR": home, "XDG_CONFIG_HOME": "", "XDG_STATE_HOME": "", "XDG_CACHE_HOME": "",
		"XDG_DATA_HOME": "", "XDG_RUNTIME_DIR": "", "CODEX_HOME": "", "CLAUDE_CONFIG_DIR": "", "NO_COLOR": "1"}
	return s
}

// runBlock runs the commands of a block, one after the other, and says what is wrong.
func (s *sandbox) runBlock(t *testing.T, p *page, b block) (bad []string) {
	commands := b.commands()
	for k, v := range s.env {
		t.Setenv(k, v)
	}
	t.Chdir(s.project)
	defer func() { bad = append(bad, s.stop(p, b)...) }()
	if strings.HasPrefix(b.text, "#!") || strings.Contains(b.text, "<<") {
		if err := bearable(b.text); err != nil {
			return append(bad, p.at(b.line, "%v", err))
		}
		if code, out := s.shell(b.text); code != cli.ExitOK {
			bad = append(bad, p.at(b.line, "the script ends with exit code %d: %s", code, out))
		}
		return bad
	}
	for _, c := range commands {
		allowed := []string{"0"}
		paragraphs := strings.Split(strings.TrimSpace(b.before), "\n\n")
		for _, m := range namedCode.FindAllStringSubmatch(paragraphs[len(paragraphs)-1]+" "+c.text, -1) {
			allowed = append(allowed, m[1])
		}
		code, out, err := s.command(t, c.text)
		if err != nil {
			bad = append(bad, p.at(c.line, "%s: %v", c.text, err))
		} else if !slices.Contains(allowed, fmt.Sprint(code)) {
			bad = append(bad, p.at(c.line, "%s: exit code %d: %s", c.text, code, out))
		}
	}
	return bad
}

// command runs a line: simple commands, joined by && or not, in this process, and all else
// in a shell.
func (s *sandbox) command(t *testing.T, line string) (code int, out string, err error) {
	line = standIns(line)
	for _, to := range namesToCome {
		for _, words := range programCalls(line) {
			if strings.HasPrefix(strings.Join(words, " ")+" ", to+" ") {
				t.Logf("not there yet: %s", line)
				return 0, "", nil
			}
		}
	}
	parts := strings.Split(line, "&&")
	parts[len(parts)-1] = strings.TrimSuffix(strings.TrimSpace(parts[len(parts)-1]), "&")
	for _, part := range parts {
		if _, plain := shellWords(part, os.Getenv); !plain {
			if err := bearable(line); err != nil {
				return 0, "", err
			}
			code, out = s.shell(line)
			return code, out, nil
		}
	}
	for _, part := range parts {
		words, _ := shellWords(part, os.Getenv)
		if code, out, err = s.simple(t, part, words); err != nil || code != cli.ExitOK {
			break
		}
	}
	return code, out, err
}

// simple runs the words of a simple command.
func (s *sandbox) simple(t *testing.T, line string, words []string) (code int, out string, err error) {
	for len(words) > 0 && (assignment.MatchString(words[0]) || words[0] == "export") {
		if k, v, ok := strings.Cut(words[0], "="); ok {
			t.Setenv(k, s.listening(v))
			if strings.HasSuffix(k, "_BASE_URL") {
				if err := s.reached(v); err != nil {
					return 0, "", err
				}
			}
		}
		words = words[1:]
	}
	switch {
	case len(words) == 0:
		return 0, "", nil
	case path.Base(words[0]) == "memkernel":
		if len(words) == 2 && (words[1] == "init" || words[1] == "uninstall") {
			words = append(words, "--yes") // the reader's answer
		}
		return s.program(words[1:])
	case words[0] == "make":
		return s.make(words[1:])
	case words[0] == "cd":
		dir := s.project // a folder of the reader's
		if fi, err := os.Stat(words[len(words)-1]); err == nil && fi.IsDir() {
			dir = words[len(words)-1]
		}
		t.Chdir(dir)
		return 0, "", nil
	case slices.Contains(others, words[0]):
		for _, args := range programCalls(line) { // what a host is told to start has to start
			if code, out, err = s.program(args); err != nil || code != cli.ExitOK {
				return code, out, err
			}
		}
		return 0, "", nil
	}
	if err := bearable(line); err != nil {
		return 0, "", err
	}
	code, out = s.shell(line)
	return code, out, nil
}

// bearable fails if a script calls what the sandbox does not hold.
func bearable(script string) error {
	for line := range strings.SplitSeq(regexp.MustCompile(`[0-9]?[<>]&[0-9-]`).ReplaceAllString(script, ""), "\n") {
		if strings.Contains(line, "<<") {
			return nil // what follows is a text; the lines before it were looked at
		}
		for _, part := range regexp.MustCompile(`[|&;()]+`).Split(line, -1) {
			words, _ := shellWords(part, func(string) string { return "" })
			for len(words) > 0 && assignment.MatchString(words[0]) {
				words = words[1:]
			}
			if len(words) == 0 || path.Base(words[0]) == "memkernel" || slices.Contains(others, words[0]) || slices.Contains(tools, words[0]) {
				continue
			}
			return fmt.Errorf("%s is no program that this test knows: add it to others or tools, or write <!-- not run: reason --> before the block", words[0])
		}
	}
	return nil
}

// shell runs a script with the programs of the sandbox.
func (s *sandbox) shell(script string) (int, string) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "sh", "-c", script)
	cmd.WaitDelay = time.Second
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return exit.ExitCode(), string(out)
	} else if err != nil {
		return -1, err.Error()
	}
	return 0, string(out)
}

var daysLog = regexp.MustCompile(`^memory/\d{4}-\d{2}-\d{2}\.md`)

// program runs the program in this process, in the background if it serves.
func (s *sandbox) program(args []string) (int, string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	if len(args) > 0 && args[0] == "proxy" {
		args = s.proxyArgs(args)
	}
	if i := slices.Index(args, "--listen") + 1; i > 0 && i < len(args) && args[0] == "serve" {
		args = slices.Clone(args)
		args[i] = s.listening(args[i])
	}
	if len(args) > 0 && args[0] == "ui" {
		args = append(slices.Clone(args), "--no-open", "--addr", "127.0.0.1:0") // and opens no browser here
	}
	args = slices.Clone(args)
	for i, a := range args { // a page's commands were run on another day, and wrote into its log
		if _, err := os.Stat(filepath.Join(s.project, filepath.FromSlash(daysLog.FindString(a)))); err != nil {
			args[i] = daysLog.ReplaceAllString(a, "memory/"+time.Now().Format(time.DateOnly)+".md")
		}
	}
	v := &server{cancel: cancel, done: make(chan int, 1)}
	u := &cli.UI{In: strings.NewReader(""), Out: &v.out, Err: &v.err}
	serves := len(args) > 0 && slices.Contains(serving, args[0]) && !slices.Contains(args, "--stdio")
	if !serves {
		defer cancel()
		code := run(ctx, u, args)
		return code, v.said(), nil
	}
	go func() { v.done <- run(ctx, u, args) }()
	s.servers = append(s.servers, v)
	for !strings.Contains(v.out.String(), "\n") {
		select {
		case code := <-v.done:
			s.servers = s.servers[:len(s.servers)-1]
			return code, v.said(), errors.New("it ended in place of serving")
		case <-ctx.Done():
			return 0, "", errors.New("it never said that it serves")
		case <-time.After(2 * time.Millisecond):
		}
	}
	if args[0] == "serve" {
		socket, _, _ := strings.Cut(v.out.String(), "\n")
		if strings.HasPrefix(socket, "http") {
			return 0, "", health(socket + "/readyz")
		}
		c, err := net.Dial("unix", socket)
		if err != nil {
			return 0, "", err
		}
		return 0, "", c.Close()
	}
	if args[0] == "proxy" {
		return 0, "", health(regexp.MustCompile(`http://\S+`).FindString(v.out.String()))
	}
	return 0, "", nil
}

// proxyArgs has a proxy talk to the fake model, and listen where nobody else does.
func (s *sandbox) proxyArgs(args []string) []string {
	args = slices.Clone(args)
	listens := false
	for i := range args {
		if args[i] == "--upstream" && i+1 < len(args) && strings.HasPrefix(args[i+1], "https://") {
			args[i+1] = s.upstream
		}
		if args[i] == "--listen" && i+1 < len(args) {
			listens = true
			args[i+1] = s.listening(args[i+1])
		}
	}
	if !listens {
		proxy, _, err := newRoot(&cli.App{UI: &cli.UI{}}).Find([]string{"proxy"})
		if err == nil {
			args = append(args, "--listen", s.listening(proxy.Flags().Lookup("listen").DefValue))
		}
	}
	return args
}

// listening puts the addresses of here in the place of those that a page names.
func (s *sandbox) listening(text string) string {
	return localAddress.ReplaceAllStringFunc(text, func(at string) string {
		if s.addresses[at] == "" {
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				return at
			}
			s.addresses[at] = l.Addr().String()
			l.Close()
		}
		return s.addresses[at]
	})
}

// reached fails if nothing listens at an address of this machine that a client is told.
func (s *sandbox) reached(url string) error {
	if !localAddress.MatchString(url) {
		return nil
	}
	return health(s.listening(url))
}

// health fails if nobody answers there.
func health(url string) error {
	client := http.Client{Timeout: time.Minute}
	res, err := client.Get(url)
	if err != nil {
		return err
	}
	return res.Body.Close()
}

// stop ends what serves.
func (s *sandbox) stop(p *page, b block) (bad []string) {
	for _, v := range s.servers {
		v.cancel()
		if code := <-v.done; code != cli.ExitOK {
			bad = append(bad, p.at(b.line, "a server ends with exit code %d: %s", code, v.said()))
		}
	}
	s.servers, s.addresses = nil, map[string]string{}
	return bad
}

var makeTarget = regexp.MustCompile(`^[a-z][a-z0-9-]*$`)

// make looks at what make would run: the target is there, and what it calls of the program
// exists. Tests have run what it runs.
func (s *sandbox) make(args []string) (int, string, error) {
	for _, a := range args {
		if !makeTarget.MatchString(a) && !assignment.MatchString(a) {
			return 0, "", fmt.Errorf("%q is no target of make", a)
		}
	}
	if _, err := exec.LookPath("make"); err != nil {
		return 0, "", nil // TestPagesRun says so
	}
	out, err := exec.Command("make", append([]string{"-n", "-C", repositoryAbs}, args...)...).CombinedOutput()
	if err != nil {
		return 1, string(out), nil
	}
	tree := newRoot(&cli.App{UI: &cli.UI{}})
	for l := range strings.SplitSeq(strings.ReplaceAll(string(out), "\\\n", " "), "\n") {
		for _, words := range programCalls(l) {
			if err := known(tree, words); err != nil {
				return 0, "", err
			}
		}
	}
	return 0, "", nil
}

// repositoryAbs is the repository, wherever a test goes.
var repositoryAbs = func() string {
	dir, err := filepath.Abs(repository)
	if err != nil {
		panic(err)
	}
	return dir
}()

// TestPagesRun runs the commands of the pages. A block that can't be run says why in a
// comment before it: <!-- not run: reason -->.
func TestPagesRun(t *testing.T) {
	if _, err := exec.LookPath("make"); err != nil {
		t.Log("make is not installed: its targets are not looked up")
	}
	blocks, ran := 0, 0
	for _, p := range readPages(t, runPages...) {
		t.Run(p.path, func(t *testing.T) {
			var s *sandbox
			for _, b := range p.blocks {
				switch n := len(b.commands()); {
				case b.notRun && b.notRunReason == "":
					t.Error(p.at(b.line, "the comment does not say why the block is not run"))
				case b.notRun:
					t.Log(p.at(b.line, "not run: %s", b.notRunReason))
				case n > 0:
					if s == nil {
						s = newSandbox(t)
					}
					blocks, ran = blocks+1, ran+n
					t.Run(fmt.Sprintf("line %d", b.line), func(t *testing.T) {
						for _, bad := range s.runBlock(t, p, b) {
							t.Error(bad)
						}
					})
				}
			}
		})
	}
	if blocks < 8 || ran < 15 {
		t.Errorf("only %d commands of %d blocks were run", ran, blocks)
	}
}

// TestPagesRunFindsFaults: a page whose commands fail, hang on nobody, or are nobody's does
// not pass.
func TestPagesRunFindsFaults(t *testing.T) {
	text := "Text.\n\n```\nmemkernel config\nmemkernel search --workspace ~/notes no such thing --limit none\nbin/memkernel plan --transcript none.jsonl\n```\n\n" +
		"```sh\nexport A=b # c\ncurl x | sh\nrm-the-disk now\nmake none-such\ncat x | mkfs\n```\n\nIt ends with exit code 2.\n\n```\nmemkernel plan\nmemkernel plan --transcript none.jsonl\n```\n\n" +
		"```console\n$ memkernel version\nmemkernel of nowhere\n```\n\n```sh\nOPENAI_BASE_URL=http://127.0.0.1:9 codex\nmemkernel proxy --upstream nowhere\n```\n\n" +
		"<!-- not run: no need -->\n```\nmemkernel none\n```\n\n<!-- output: of it -->\n```\nmemkernel none\n```\n\n```\nplain text\n```\n\n```\n0 3 * * *  memkernel version >/dev/null || false\n```\n"
	p := parsePage("page.md", text)
	var got []string
	for _, b := range p.blocks {
		if b.notRun || len(b.commands()) == 0 {
			continue
		}
		t.Run(fmt.Sprintf("line %d", b.line), func(t *testing.T) { got = append(got, newSandbox(t).runBlock(t, p, b)...) })
	}
	for text, reason := range map[string]string{"<!-- not run -->\n```\nmemkernel x\n```": "", "<!-- not run: -->\n\n```sh\nx\n```": "", "a <!-- b --> c\n\n<!-- not run: is\nno use -->\n```sh\nx\n```": "is\nno use"} {
		if b := parsePage("", text).blocks[0]; !b.notRun || b.notRunReason != reason || len(b.commands()) != 1 {
			t.Errorf("%q: %+v", text, b)
		}
	}
	if b := parsePage("", "<!-- not run: of another -->\nText.\n\n```sh\nx\n").blocks[0]; b.notRun || b.text != "x\n\n" {
		t.Errorf("a comment that is not right before a block counts, or an open block is lost: %+v", b)
	}
	good := parsePage("good.md", "```sh\ngit clone https://x.example/a && cd a && make build\ncd ~/notes\nmemkernel reindex && memkernel search tuesday | grep -c . >/dev/null # words\n"+
		"memkernel proxy --upstream https://x.example &\nexport OPENAI_BASE_URL=http://127.0.0.1:8377/v1\ncodex \"fix it\"\nnpx -y memkernel@latest version\nmemkernel plan \\\n  --transcript FILE \\\n  --json\n```\n\n"+
		"```sh\ncat >config.yaml <<EOF\nplan:\n  context_window: 64k\nEOF\nmemkernel config --config config.yaml\n```\n\nIt exits with 2.\n\n```\n$ memkernel plan --no-such\nmemkernel: error\n```\n\n"+
		"```\n0 3 * * *  memkernel audit --workspace ~/notes > ~/audit.txt || mail -s audit me < ~/audit.txt\n```\n\n```\nclaude mcp add memkernel -- memkernel mcp --private --host claude\n```\n\n"+
		"```sh\nmemkernel serve --workspace ~/notes &\nmemkernel status --workspace ~/notes\n```\n")
	if len(good.blocks) != 6 {
		t.Fatalf("%d blocks", len(good.blocks))
	}
	s := newSandbox(t)
	for _, b := range good.blocks {
		t.Run(fmt.Sprintf("good, line %d", b.line), func(t *testing.T) {
			if len(b.commands()) == 0 {
				t.Error("no command is found")
			}
			for _, bad := range s.runBlock(t, good, b) {
				t.Error(bad)
			}
		})
	}
	want := []string{":5:", ":6:", ":12:", ":13:", ":14:", ":21:", ":30:", ":31:"}
	for i, w := range want {
		if i >= len(got) || !strings.HasPrefix(got[i], "page.md"+w) {
			t.Fatalf("fault %d is not at %s:\n%s", i, w, strings.Join(got, "\n"))
		}
	}
	if len(got) > len(want) {
		t.Errorf("more is found than is wrong:\n%s", strings.Join(got, "\n"))
	}
}
