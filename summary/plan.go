package summary

import (
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/memkernel/memkernel/internal/textutil"
	"github.com/memkernel/memkernel/pagevm/toolcall"
)

// The states of a plan item that mean something here. Any other word of a host counts as open.
const (
	statusPending = "pending"
	statusRunning = "in_progress"
)

// open reports whether a plan item is still to be done.
func open(status string) bool {
	return !slices.Contains([]string{"completed", "complete", "done", "cancelled", "canceled", "deleted", "skipped"}, status)
}

// item is a plan item in any of the hosts' spellings.
type item struct {
	ID         json.RawMessage `json:"id"`
	Content    string          `json:"content"`
	Step       string          `json:"step"`
	Text       string          `json:"text"`
	Title      string          `json:"title"`
	Subject    string          `json:"subject"`
	Task       string          `json:"task"`
	Status     string          `json:"status"`
	ActiveForm string          `json:"activeForm"`
}

func (it item) text() string {
	return cmp.Or(it.Content, it.Step, it.Subject, it.Title, it.Text, it.Task, it.ActiveForm)
}

// planning reads calls that write the agent's plan or put something before the user. Such calls
// have whole lists, single items, plans in prose, or questions.
func (u *updater) planning(c *Call, tool string, in toolcall.Args) {
	for _, k := range [...]string{"todos", "plan", "items", "tasks"} {
		if list := items(in.Get(k)); list != nil {
			u.todoList(list)
			return
		}
	}
	if p := in.Text("plan"); p != "" {
		title, _, _ := strings.Cut(strings.TrimSpace(u.mask.source(p, userWindow)), "\n")
		c.Plan = oneLine(unmark(title), optionRunes)
	}
	c.Ask, c.Questions = questionsOf(u.mask, in)
	switch tool = strings.ReplaceAll(tool, "_", ""); {
	case strings.EqualFold(tool, "taskcreate"):
		c.Task = oneLine(u.mask.source(in.Text("subject"), userWindow), todoRunes)
	case strings.EqualFold(tool, "taskupdate"):
		updateTask(&u.s, id(in, "taskId"), in.Text("status"), oneLine(u.mask.source(in.Text("subject"), userWindow), todoRunes))
	}
}

// items reads a list of plan items. It returns nil if the input is not such a list.
func items(raw string) []item {
	if len(raw) == 0 || raw[0] != '[' {
		return nil
	}
	var list []item
	if json.Unmarshal([]byte(raw), &list) != nil {
		return nil
	}
	for _, it := range list {
		if it.Status == "" || it.text() == "" {
			return nil
		}
	}
	return list
}

// id returns an identifier that may be a string or a number.
func id(in toolcall.Args, name string) string {
	return oneLine(cmp.Or(in.Text(name), in.Get(name)), nameRunes)
}

// todoList replaces the plan.
func (u *updater) todoList(list []item) {
	todos := make([]todo, 0, min(len(list), maxTodos))
	for _, it := range list {
		if len(todos) == maxTodos {
			break
		}
		todos = append(todos, todo{Text: oneLine(u.mask.source(it.text(), userWindow), todoRunes), Status: status(it.Status), Key: u.m.Key})
	}
	if len(todos) == 0 {
		todos = nil
	}
	u.s.Todos = todos
}

// taskCreated adds an item. Its id is in the result as "#N", else it is the next number.
func (u *updater) taskCreated(text, result string) {
	t := todo{ID: strconv.Itoa(len(u.s.Todos) + 1), Text: text, Status: statusPending, Key: u.m.Key}
	if m := taskNumber.FindStringSubmatch(textutil.Head(result, resultWindow)); m != nil {
		t.ID = m[1]
	}
	u.s.Todos = slices.DeleteFunc(slices.Clone(u.s.Todos), func(o todo) bool { return o.ID == t.ID })
	if u.s.Todos = append(u.s.Todos, t); len(u.s.Todos) > maxTodos {
		drop := max(0, slices.IndexFunc(u.s.Todos, func(o todo) bool { return !open(o.Status) }))
		u.s.Todos = slices.Delete(u.s.Todos, drop, drop+1)
	}
}

// taskNumber matches the number of a plan item in the result of the call that created it.
var taskNumber = textutil.LazyRegexp(`#(\d{1,9})`)

func updateTask(s *State, id, state, text string) {
	i := slices.IndexFunc(s.Todos, func(t todo) bool { return t.ID == id && id != "" })
	s.Todos = slices.Clone(s.Todos)
	switch {
	case i < 0:
	case state == "deleted":
		s.Todos = remove(s.Todos, func(t todo) bool { return t.ID == id })
	default:
		if state != "" {
			s.Todos[i].Status = status(state)
		}
		if text != "" {
			s.Todos[i].Text = text
		}
	}
}

// status returns a state's name, cleaned, with the spellings of "running" made one.
func status(s string) string {
	switch s = strings.ToLower(oneLine(s, 24)); s {
	case "in-progress", "inprogress", "active", "running", "doing":
		return statusRunning
	case "":
		return statusPending
	}
	return s
}
