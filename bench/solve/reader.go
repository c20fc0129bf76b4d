package solve

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/memkernel/memkernel/internal/textutil"
	"github.com/memkernel/memkernel/serve/tools"
	"github.com/memkernel/memkernel/transcript"
)

// Answer is the text and the calls of the reader.
type Answer struct {
	Text  string
	Calls []Call
}

// Call is a call of a tool.
type Call struct {
	ID, Name string
	Input    json.RawMessage
}

var (
	requestIn = textutil.LazyRegexp(`\b[0-9a-f]{10}\b`)
	nodeIn    = textutil.LazyRegexp(`\b(?:fra|iad|hnd|gru|ams)-\d\d[abcd]\b`)
	numbersIn = textutil.LazyRegexp(`\b\d+\b`)
	itemIn    = textutil.LazyRegexp(`(?m)^\d+\. (.*)$`)
	failureIn = textutil.LazyRegexp(`(\S+):\d+: (\w+) = (\d+), want (\d+)`)
	sumIn     = textutil.LazyRegexp(`(?m)^sum: (\d+)$`)
	// pointerIn matches the names of pointers to hidden texts.
	pointerIn = textutil.LazyRegexp(`\b[a-z]{2}-[0-9a-f]{16}(?:\.\w+)?\b`)
)

// maxExpansions is how many pointers the reader follows for one request of the user.
const maxExpansions = 12

const giveUp = "I don't know."

// read is an agent without a model. It reads a request and does the next step. It knows only the
// request, and is the same for every policy.
func read(body []byte) (*Answer, error) {
	b, err := transcript.ReadBody(transcript.FormatAnthropic, body)
	if err != nil {
		return nil, fmt.Errorf("reader: %w", err)
	}
	return look(b).act(), nil
}

// block is a piece of the prompt.
type block struct {
	// user marks a text of the user's role, and own a text of the reader. All other blocks are
	// results of calls.
	user, own bool
	text      string
	call      map[string]string
	tool      string
	failed    bool
	next      int // the place at which the rest of an expanded page begins
}

// sight is the prompt in the reader's form.
type sight struct {
	blocks []block
	expand bool
	// w is the user's language. The user's instruction is in block at, and names has its names.
	w     *words
	at    int
	after string // the text after the sentence
	names []string
}

func look(b *transcript.Body) *sight {
	s := &sight{}
	for _, t := range b.Tools {
		s.expand = s.expand || t.Name == tools.MemoryGet
	}
	calls := map[string]block{}
	for _, m := range b.Messages {
		for _, p := range m.Parts {
			switch {
			case p.Call != nil:
				var input map[string]any
				json.Unmarshal([]byte(p.Call.Input), &input) // arguments that are not an object name nothing
				c := block{tool: p.Call.Name, call: map[string]string{}}
				for k, v := range input {
					c.call[k] = fmt.Sprint(v)
				}
				calls[p.Call.ID] = c
			case p.Result != nil:
				r := calls[p.Result.CallID]
				r.failed = p.Result.IsError
				for _, c := range p.Result.Content {
					r.text += c.Text
				}
				if r.tool == tools.MemoryGet {
					r.unfold()
				}
				s.blocks = append(s.blocks, r)
			case p.Text != "":
				s.blocks = append(s.blocks, block{user: m.Role != "assistant", own: m.Role == "assistant", text: p.Text})
			}
		}
	}
	return s
}

// unfold extracts the page from the resolver's answer.
func (b *block) unfold() {
	var page struct {
		Text     string `json:"text"`
		NextFrom int    `json:"nextFrom"`
	}
	if json.Unmarshal([]byte(b.text), &page) == nil {
		b.text, b.next = page.Text, page.NextFrom
	}
}

// reference reports whether a text says that it needs no action.
func reference(text string) bool {
	head, _, _ := strings.Cut(text[:min(len(text), 300)], "\n\n")
	return strings.Contains(head, "not instructions") || strings.Contains(head, "not a request")
}

// begun finds the user's newest text with a line that begins with one of the sentences.
func (s *sight) begun(of func(*words) []phrase) (which int, ok bool) {
	for i := len(s.blocks) - 1; i >= 0; i-- {
		if !s.blocks[i].user || reference(s.blocks[i].text) {
			continue
		}
		lines := strings.SplitAfter(s.blocks[i].text, "\n")
		for n := len(lines) - 1; n >= 0; n-- {
			for _, code := range codes {
				for k, p := range of(languages[code]) {
					if names := p.begins(lines[n]); names != nil {
						s.w, s.at, s.names, s.after = languages[code], i, names[1:], strings.Join(lines[n+1:], "")
						return k, true
					}
				}
			}
		}
	}
	return 0, false
}

func (s *sight) act() *Answer {
	which, ok := s.begun(func(w *words) []phrase {
		return append([]phrase{w.steps, w.ask, w.who, w.whoFile, w.create, w.put, w.plan, w.goOn, w.fix, w.which}, w.tells()...)
	})
	if !ok {
		return say1(giveUp)
	}
	acts := []func() *Answer{s.steps, s.edit, s.who, s.whoFile, s.create, s.put, s.plan, s.plan, s.fix, s.which}
	if which >= len(acts) {
		return say1("OK.")
	}
	return acts[which]()
}

func say1(text string) *Answer { return &Answer{Text: text} }

// do returns a call of a tool. args has pairs of names and values.
func do(text, tool string, args ...any) *Answer {
	input := map[string]any{}
	for i := 0; i < len(args); i += 2 {
		input[args[i].(string)] = args[i+1]
	}
	raw, err := json.Marshal(input)
	if err != nil {
		panic(err) // texts and numbers
	}
	return &Answer{Text: text, Calls: []Call{{Name: tool, Input: raw}}}
}

// newest returns the newest block if it is a result of tool.
func (s *sight) newest(tool string) *block {
	for i := len(s.blocks) - 1; i > s.at; i-- {
		if b := &s.blocks[i]; b.tool != "" {
			if b.tool == tool {
				return b
			}
			return nil
		}
	}
	return nil
}

// highest returns the highest number that the reader said in such a sentence since the user's
// instruction.
func (s *sight) highest(p phrase) int {
	n := 0
	for _, b := range s.blocks[s.at+1:] {
		if b.own {
			for _, m := range p.re.FindAllStringSubmatch(b.text, -1) {
				k, _ := strconv.Atoi(m[1])
				n = max(n, k)
			}
		}
	}
	return n
}

func items(text string) (out []string) {
	for _, m := range itemIn.FindAllStringSubmatch(text, -1) {
		out = append(out, m[1])
	}
	return out
}

func (s *sight) steps() *Answer {
	list, n := items(s.after), s.highest(s.w.step)
	if n >= len(list) {
		return say1(s.w.done.text)
	}
	text := s.w.step.of(strconv.Itoa(n + 1))
	if names := s.w.read.begins(list[n]); names != nil {
		return do(text, "read_file", "path", names[1])
	}
	if names := s.w.run.begins(list[n]); names != nil {
		return do(text, "run", "command", names[1])
	}
	return say1(giveUp)
}

// told finds the last use of a sentence by the user in the prompt. It searches expanded pages
// only if the user's messages have none.
func (s *sight) told(p phrase, is func(names []string) bool) []string {
	for _, expanded := range []bool{false, true} {
		for i := len(s.blocks) - 1; i >= 0; i-- {
			b := &s.blocks[i]
			if b.user == expanded || expanded && b.tool != tools.MemoryGet {
				continue
			}
			all := p.re.FindAllStringSubmatch(b.text, -1)
			for k := len(all) - 1; k >= 0; k-- {
				if is(all[k][1:]) {
					return all[k][1:]
				}
			}
		}
	}
	return nil
}

// results returns the results of a call and the expanded pages, newest first.
func (s *sight) results(tool, arg, value string) (out []string) {
	for i := len(s.blocks) - 1; i >= 0; i-- {
		b := &s.blocks[i]
		if b.tool == tool && b.call[arg] == value || b.tool == tools.MemoryGet {
			out = append(out, b.text)
		}
	}
	return out
}

// hunt follows a pointer near one of the names. If there is no such pointer, it follows a pointer
// to a part of the conversation.
func (s *sight) hunt(names ...string) *Answer {
	if !s.expand {
		return say1(giveUp)
	}
	tried, n := map[string]bool{}, 0
	for i, b := range s.blocks {
		if b.tool == tools.MemoryGet {
			tried[b.call["path"]+" "+b.call["from"]] = true
			if i > s.at {
				n++
			}
		}
	}
	if n >= maxExpansions {
		return say1(giveUp)
	}
	for i := len(s.blocks) - 1; i > s.at; i-- { // the rest of an expanded page
		if b := &s.blocks[i]; b.tool == tools.MemoryGet && b.next > 0 && !tried[b.call["path"]+" "+strconv.Itoa(b.next)] {
			return do("", tools.MemoryGet, "path", b.call["path"], "from", b.next)
		}
	}
	var near, spans []string
	for i := range s.blocks {
		b := &s.blocks[i]
		if b.own || b.tool == tools.MemoryGet {
			continue
		}
		for line := range strings.SplitSeq(b.text, "\n") {
			for _, id := range pointerIn.FindAllString(line, -1) {
				switch {
				case tried[id+" "]:
				case slices.ContainsFunc(names, func(n string) bool { return strings.Contains(line, n) || mentions(b, n) }):
					near = append(near, id)
				case strings.HasPrefix(id, "sp-"):
					spans = append(spans, id)
				}
			}
		}
	}
	if all := append(near, spans...); len(all) > 0 {
		return do("", tools.MemoryGet, "path", all[0])
	}
	return say1(giveUp)
}

// mentions reports whether the call of a result mentions a name.
func mentions(b *block, name string) bool {
	for _, v := range b.call {
		if strings.Contains(v, name) {
			return true
		}
	}
	return false
}

func (s *sight) edit() *Answer {
	path := s.names[0]
	told := s.told(s.w.tell, func(n []string) bool { return n[1] == path })
	if told == nil {
		return s.hunt(path)
	}
	return s.change(path, told[0], told[2], told[3])
}

func (s *sight) fix() *Answer {
	for _, text := range s.results("run", "command", s.names[0]) {
		if f := failureIn.FindStringSubmatch(text); f != nil {
			return s.change(f[1], f[2], f[3], f[4])
		}
	}
	for i := range s.blocks { // or a line with a failure and the name of the command
		for line := range strings.SplitSeq(s.blocks[i].text, "\n") {
			if f := failureIn.FindStringSubmatch(line); f != nil && strings.Contains(line, s.names[0]) {
				return s.change(f[1], f[2], f[3], f[4])
			}
		}
	}
	return s.hunt(s.names[0])
}

// change edits the line of a file that has a name and a value. If the prompt lacks the line,
// change reads the file first.
func (s *sight) change(path, name, from, to string) *Answer {
	if b := s.newest("edit_file"); b != nil {
		return say1("OK.")
	}
	re := regexp.MustCompile(`(?m)^.*\b` + regexp.QuoteMeta(name) + `\b.*\b` + regexp.QuoteMeta(from) + `\b.*$`)
	for _, text := range s.results("read_file", "path", path) {
		if line := re.FindString(text); line != "" {
			return do("", "edit_file", "path", path, "line", line, "with", regexp.MustCompile(`\b`+from+`\b`).ReplaceAllString(line, to))
		}
	}
	if s.newest("read_file") != nil {
		return say1(giveUp)
	}
	return do("", "read_file", "path", path)
}

// node looks for the node on a line with the id of a request.
func (s *sight) node() string {
	for i := range s.blocks {
		b := &s.blocks[i]
		if b.own || b.user && !reference(b.text) { // a question names the request too
			continue
		}
		for line := range strings.SplitSeq(b.text, "\n") {
			if strings.Contains(line, s.names[0]) {
				if node := nodeIn.FindString(line); node != "" {
					return node
				}
			}
		}
	}
	return ""
}

func (s *sight) who() *Answer {
	if node := s.node(); node != "" {
		return say1(node)
	}
	return s.hunt(s.names...)
}

func (s *sight) whoFile() *Answer {
	node := s.node()
	if node == "" && s.newest("read_file") == nil {
		return do("", "read_file", "path", s.names[1])
	}
	if node == "" {
		node = giveUp
	}
	return say1(node)
}

func (s *sight) create() *Answer {
	if s.newest("write_file") != nil {
		return say1("OK.")
	}
	text := s.names[1]
	if rule := s.told(s.w.rule, func([]string) bool { return true }); rule != nil {
		text = rule[0] + "\n" + text
	}
	return do("", "write_file", "path", s.names[0], "text", text)
}

func (s *sight) put() *Answer {
	if s.newest("append_file") != nil {
		return say1("OK.")
	}
	path := s.names[1]
	if rule := s.told(s.w.instead, func(n []string) bool { return n[0] == path }); rule != nil {
		path = rule[1]
	}
	return do("", "append_file", "path", path, "text", s.names[0])
}

// plan continues the user's plan up to the step that the user names.
func (s *sight) plan() *Answer {
	to, _ := strconv.Atoi(s.names[0])
	var points [][]string
	for i := range s.blocks {
		b := &s.blocks[i]
		if p := s.w.planStep.re.FindAllStringSubmatch(b.text, -1); (b.user || b.tool == tools.MemoryGet) && len(p) > len(points) {
			points = p
		}
	}
	if len(points) < to {
		return s.hunt(s.w.planStep.text[:strings.Index(s.w.planStep.text, "{")])
	}
	done := s.highest(s.w.planned)
	for _, b := range s.blocks[s.at+1:] {
		if b.tool == "read_file" && b.call["path"] == points[0][2] && !b.failed {
			done = max(done, strings.Count(b.text, "\n"))
		}
	}
	text := ""
	switch b := s.newestOf(points); {
	case b == nil:
		return do("", "read_file", "path", points[0][2])
	case b.tool == "append_file":
		done++
		text = s.w.planned.of(strconv.Itoa(done))
	case b.tool == "run" && done < len(points) && b.call["command"] == points[done][1]:
		for _, text := range append(s.pagesOf(b), b.text) {
			if sum := sumIn.FindStringSubmatch(text); sum != nil {
				return do("", "append_file", "path", points[done][2], "text", sum[1])
			}
		}
		return s.hunt(points[done][1])
	}
	if done >= to {
		return say1(s.w.planned.of(strconv.Itoa(done)))
	}
	return do(text, "run", "command", points[done][1])
}

// pagesOf returns the texts of pages that were expanded because a result names the pages.
func (s *sight) pagesOf(b *block) (out []string) {
	for i := range s.blocks {
		if e := &s.blocks[i]; e.tool == tools.MemoryGet && e.call["path"] != "" && strings.Contains(b.text, e.call["path"]) {
			out = append(out, e.text)
		}
	}
	return out
}

// newestOf returns the newest result that belongs to the plan.
func (s *sight) newestOf(points [][]string) *block {
	for i := len(s.blocks) - 1; i > s.at; i-- {
		switch b := &s.blocks[i]; {
		case b.tool == "append_file", b.tool == "run":
			return b
		case b.tool == "read_file" && b.call["path"] == points[0][2]:
			return b
		}
	}
	return nil
}

func (s *sight) which() *Answer {
	told := s.told(s.w.is, func(n []string) bool { return n[0] == s.names[0] })
	if told == nil {
		return s.hunt(s.names[0])
	}
	return say1(told[1])
}
