package solve

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// Task is a conversation with a job for the agent, and the check of the result.
type Task struct {
	Kind     string `json:"task"`
	Language string `json:"language"`
	Seed     uint64 `json:"seed"`
	// Window is the context window in tokens that the task is made for. The conversation is
	// longer.
	Window int `json:"window"`

	world world
	turns []turn
	// solved checks the files and the last answer. It returns the reason of a failure.
	solved func(w *world, answer string) error
}

// Name returns the name of the task, which is unique among all tasks.
func (t *Task) Name() string {
	return fmt.Sprintf("%s-%s-%d-%d", t.Kind, t.Language, t.Seed, t.Window)
}

// turn is a message of the user, sent after gap. With restart, the host's process is restarted
// first.
type turn struct {
	text    string
	gap     time.Duration
	restart bool
}

// taskKinds lists the kinds of tasks, in the order of the tables.
var taskKinds = []struct {
	name string
	make func(*maker)
}{{"edit", edit}, {"answer", answer}, {"rule", rule}, {"plan", plan}, {"fix", fix}, {"newest", newest}}

// Kinds lists the kinds of tasks.
func Kinds() (out []string) {
	for _, k := range taskKinds {
		out = append(out, k.name)
	}
	return out
}

// Tasks makes the tasks of a window. It makes variants tasks of each kind in each language.
func Tasks(window, variants int) (out []*Task) {
	for _, k := range taskKinds {
		for v := range variants {
			for n, code := range codes {
				out = append(out, make1(k.name, k.make, code, uint64(v*len(codes)+n+1), window, float64(window)/full))
			}
		}
	}
	return out
}

// full is the window, in tokens, for which the sizes of results are not scaled.
const full = 128_000

func make1(kind string, fill func(*maker), language string, seed uint64, window int, scale float64) *Task {
	stream := uint64(0)
	for _, b := range []byte(kind + language) {
		stream = stream*31 + uint64(b)
	}
	m := &maker{dice: roll(seed, stream), w: languages[language], scale: scale,
		t: &Task{Kind: kind, Language: language, Seed: seed, Window: window,
			world: world{files: map[string]string{}, outputs: map[string]string{}, once: map[string]bool{}, fails: map[string]bool{}, ran: map[string]bool{}}}}
	fill(m)
	return m.t
}

// fresh returns a copy of the task's world before the first call.
func (t *Task) fresh() *world {
	w := t.world
	w.files, w.ran = maps.Clone(w.files), map[string]bool{}
	return &w
}

// maker makes a task.
type maker struct {
	dice
	w     *words
	t     *Task
	scale float64
}

// says adds a turn of the user, after a gap of some seconds or of many minutes.
func (m *maker) says(text string) {
	gap := time.Duration(20+m.IntN(160)) * time.Second
	if m.IntN(6) == 0 {
		gap = time.Duration(6+m.IntN(110)) * time.Minute
	}
	m.t.turns = append(m.t.turns, turn{text: text, gap: gap})
}

// file makes a file with the task's own lines (put), and returns the file's path.
func (m *maker) file(kind int, put ...string) string {
	path := fmt.Sprintf("%s/%s_%s.%s", m.of("src", "lib", "ops", "data"), m.name(), m.hex(4), kinds[kind].ending)
	m.t.world.files[path] = m.text(kind, m.w, m.size(m.scale), put...)
	return path
}

// output makes a command that prints the task's own lines (put), and returns the command.
func (m *maker) output(kind int, put ...string) string {
	c := m.command()
	m.t.world.outputs[c] = m.text(kind, m.w, m.size(m.scale), put...)
	return c
}

// steps adds a turn in which the user asks for some things in order.
func (m *maker) steps(list ...string) {
	text := m.w.steps.text + "\n"
	for i, s := range list {
		text += numbered(i+1, s)
	}
	m.says(text)
}

// between adds a number of calls for files and commands that nobody needs again. near makes lines
// that look like the needed lines. Each list of steps has one of the special steps.
func (m *maker) between(calls int, near func() string, special ...string) {
	for calls > 0 {
		n := min(calls, 4+m.IntN(4))
		var list []string
		for range n {
			kind := m.IntN(len(kinds))
			var put []string
			if near != nil && m.IntN(3) == 0 {
				put = []string{near()}
			}
			if m.IntN(2) == 0 {
				list = append(list, m.w.read.of(m.file(kind, put...)))
			} else {
				list = append(list, m.w.run.of(m.output(kind, put...)))
			}
		}
		if len(special) > 0 {
			list = slices.Insert(list, m.IntN(n), special[0])
			special = special[1:]
		}
		m.steps(list...)
		calls -= n
	}
}

// setting returns a line of a file that gives a name a value.
func setting(kind int, name string, value int) string {
	switch kinds[kind].name {
	case "code":
		return fmt.Sprintf("const %s = %d", name, value)
	case "json":
		return fmt.Sprintf(`{"setting": "%s", "value": %d}`, name, value)
	}
	return fmt.Sprintf("%s = %d", name, value)
}

// settingKinds lists the kinds of files that have settings.
var settingKinds = []string{"code", "json", "prose"}

func kindOf(name string) int {
	for i := range kinds {
		if kinds[i].name == name {
			return i
		}
	}
	panic("no kind of text is " + name)
}

// changed makes a file with one setting to change, and the check of the change. It returns the
// file's path, and the name, old value and new value of the setting. near makes other settings.
func (m *maker) changed() (path, name string, from, to int, near func() string) {
	kind := kindOf(m.of(settingKinds...))
	name, from = m.of("lease", "queue", "relay", "quota")+m.of("Grace", "Burst", "Ceiling"), 10+m.IntN(900)
	to = from + 1 + m.IntN(90)
	line := setting(kind, name, from)
	near = func() string { return setting(kindOf("prose"), name+m.of("Max", "Min", "Old"), from) }
	path = m.file(kind, line, near())
	want := strings.Replace(m.t.world.files[path], line+"\n", setting(kind, name, to)+"\n", 1)
	m.t.solved = func(w *world, _ string) error {
		if w.files[path] != want {
			return fmt.Errorf("%s is not as it should be", path)
		}
		return nil
	}
	return path, name, from, to, near
}

// before and after are the numbers of calls before and after the facts that the agent must keep.
const (
	before = 6
	after  = 40
)

func edit(m *maker) {
	path, name, from, to, near := m.changed()
	m.between(before, near, m.w.read.of(path))
	m.says(m.w.tell.of(name, path, fmt.Sprint(from), fmt.Sprint(to)))
	m.between(after, near)
	m.says(m.w.ask.of(path))
}

func fix(m *maker) {
	path, name, from, to, near := m.changed()
	line := 1 + strings.Count(m.t.world.files[path][:strings.Index(m.t.world.files[path], name)], "\n")
	check := m.of("go test ./...", "make check", "npm test", "pytest -q")
	m.t.world.outputs[check] = m.text(kindOf("log"), m.w, m.size(m.scale),
		fmt.Sprintf("--- FAIL: %s (0.%02ds)\n    %s:%d: %s = %d, want %d", name, m.IntN(100), path, line, name, from, to))
	m.t.world.once[check], m.t.world.fails[check] = true, true
	m.between(before, near, m.w.run.of(check))
	m.between(after, near, m.w.read.of(path))
	m.says(m.w.fix.of(check))
}

func answer(m *maker) {
	kind := kindOf(m.of("log", "json", "table"))
	id, node := m.hex(10), m.node()
	line := strings.TrimSuffix(m.text(kind, m.w, 1), "\n")
	line = strings.Replace(line, requestIn.FindString(line), id, 1)
	line = strings.Replace(line, nodeIn.FindString(line), node, 1)
	ask := m.w.who
	var from, step string
	if m.t.Seed%2 == 1 {
		from = m.output(kind, line)
		m.t.world.once[from] = true
		step = m.w.run.of(from)
	} else {
		from, ask = m.file(kind, line), m.w.whoFile
		step = m.w.read.of(from)
	}
	m.between(before, nil, step)
	m.between(after, nil)
	m.says(ask.of(id, from))
	m.answers(node, nodeIn.FindAllString)
}

// answers makes the task's check: the last answer must have one value, and no other value of its
// kind.
func (m *maker) answers(want string, all func(string, int) []string) {
	m.t.solved = func(_ *world, answer string) error {
		if got := all(answer, -1); len(got) != 1 || got[0] != want {
			return fmt.Errorf("answered %q, and it is %s", answer, want)
		}
		return nil
	}
}

func rule(m *maker) {
	m.between(before, nil)
	if m.t.Seed%2 == 1 {
		head := "// " + m.of("Copyright", "Owner", "Licence") + " " + m.hex(6)
		m.says(m.w.rule.of(head))
		m.between(after, nil)
		path, line := "docs/"+m.name()+"_"+m.hex(4)+".md", "status "+m.hex(5)
		m.says(m.w.create.of(path, line))
		m.holds(path, head+"\n"+line+"\n")
		return
	}
	never, other, line := "logs/"+m.name()+".txt", "logs/"+m.name()+"-"+m.hex(3)+".txt", "entry "+m.hex(5)
	m.says(m.w.instead.of(never, other))
	m.between(after, nil)
	m.says(m.w.put.of(line, never))
	m.holds(other, line+"\n")
}

// holds makes the task's check of a new file.
func (m *maker) holds(path, want string) {
	m.t.solved = func(w *world, _ string) error {
		if got := w.files[path]; got != want {
			return fmt.Errorf("%s holds %q, and should hold %q", path, got, want)
		}
		return nil
	}
}

func plan(m *maker) {
	path := "reports/" + m.name() + "_" + m.hex(4) + ".txt"
	var list []string
	want := ""
	for range 6 {
		sum := fmt.Sprint(1000 + m.IntN(90_000))
		c := m.output(m.IntN(len(kinds)), "sum: "+sum)
		m.t.world.once[c] = true
		list, want = append(list, m.w.planStep.of(c, path)), want+sum+"\n"
	}
	text := m.w.plan.of("2") + "\n"
	for i, s := range list {
		text += numbered(i+1, s)
	}
	m.says(text)
	for _, to := range []string{"4", "6"} {
		m.between(after*2/3, nil)
		m.says(m.w.goOn.of(to))
		m.t.turns[len(m.t.turns)-1].restart = true
	}
	m.holds(path, want)
}

func newest(m *maker) {
	service, other := m.name()+"-"+m.hex(3), m.name()+"-"+m.hex(3)
	port := ""
	for i, calls := range []int{after / 3, after / 3, after * 2 / 3} {
		port = fmt.Sprint(3000 + i*2000 + m.IntN(2000))
		m.says(m.w.is.of(service, port))
		m.between(calls/2, nil)
		m.says(m.w.is.of(other, fmt.Sprint(10_000+m.IntN(20_000))))
		m.between(calls-calls/2, nil)
	}
	m.says(m.w.which.of(service))
	m.answers(port, numbersIn.FindAllString)
}
