package summary

import (
	"slices"
	"strconv"
	"time"
)

// version is the version of the formats of State and of the text.
const version = 1

// The lists of the summary, by the names they have in the text.
const (
	kindConstraints = "constraints"
	kindDecisions   = "decisions"
	kindThreads     = "open_threads"
	kindArtifacts   = "recent_artifacts"
	kindReports     = "reports"
)

// The limits of a State. Older entries leave first and are counted.
const (
	maxConstraints = 200 // a rule that a person said leaves last of all
	maxDecisions   = 50
	maxFailing     = 20
	maxTodos       = 60
	maxArtifacts   = 100
	maxReports     = 60
	maxPending     = 64
	maxRunning     = 8
	maxQuestions   = 8
	maxDirs        = 8
	maxPaths       = 20
)

// State is everything that the summary knows. It is a value: Update returns a new one and never
// changes the one it was given. Lists are oldest first.
type State struct {
	Version int `json:"version"`
	// Sidechain is the branch of the conversation that this state follows,
	// set by its first message. Messages of other branches only move Offset.
	Sidechain string `json:"sidechain,omitempty"`
	// Offset is the position up to which messages have been processed.
	Offset offset `json:"offset"`
	// Goal is the session's first substantial request.
	Goal Entry `json:"goal,omitzero"`
	// Request is the session's latest request.
	Request Entry `json:"request,omitzero"`

	Constraints []Entry `json:"constraints,omitempty"`
	Decisions   []Entry `json:"decisions,omitempty"`
	// Threads are failing checks. Open questions and plan items are kept in Ask and Todos.
	// OpenThreads returns all of them.
	Threads   []Entry `json:"threads,omitempty"`
	Artifacts []Entry `json:"artifacts,omitempty"`
	// Reports are the words with which the assistant ended its turns, and the commits.
	Reports []Entry `json:"reports,omitempty"`
	Todos   []todo  `json:"todos,omitempty"`
	Evicted evicted `json:"evicted,omitzero"`

	Place       place   `json:"place,omitzero"`
	LastCheck   command `json:"last_check,omitzero"`
	LastCommand command `json:"last_command,omitzero"`

	// Ask is the assistant's last word while its turn may be over.
	Ask openAsk `json:"ask,omitzero"`
	// Pending are the calls without a result.
	Pending []Call `json:"pending,omitempty"`
	// Running are the commands that their host left running.
	Running []Call `json:"running,omitempty"`
	// Turn counts plain user messages.
	Turn int `json:"turn"`
	// Seq counts the ids given out.
	Seq int `json:"seq"`
}

// Offset is how far a session has been read.
type offset struct {
	// Messages is the number of messages processed, of all branches.
	Messages int `json:"messages"`
	// Key is the key of the last processed message, "" if the host has no keys.
	Key string `json:"key,omitempty"`
}

// Entry is one line of the summary with its provenance.
type Entry struct {
	// ID is unique within the state and never reused.
	ID string `json:"id"`
	// Kind is the source of the entry: reply, choice, rejection, plan, statement, check, report, or
	// kindCommit.
	Kind string `json:"kind,omitempty"`
	// By is the decision's owner, [ByUser], or "" if unknown.
	By string `json:"by,omitempty"`
	// Text is the excerpt, one line of bounded length. For artifacts it is the path.
	Text string `json:"text"`
	// Why is the error line of a failing check.
	Why string `json:"why,omitempty"`
	// Key is the message that the entry was read from.
	Key  string    `json:"key,omitempty"`
	Time time.Time `json:"time,omitzero"`
}

// ByUser is the owner of a person's decision.
const ByUser = "user"

// kindCommit is the kind of the reports that name a commit.
const kindCommit = "commit"

// Todo is an item of the agent's own plan.
type todo struct {
	// ID is the host's id, "" for lists that are always written whole.
	ID string `json:"id,omitempty"`
	// Text is the text of the item.
	Text string `json:"text"`
	// Status is pending, in_progress, completed, or any other word of the host.
	Status string `json:"status"`
	Key    string `json:"key,omitempty"`
}

// Place is the place of the work, as far as commands and hosts name it.
type place struct {
	// Dir is the directory that the host named. Dirs are the directories of commands, with the
	// number of commands in each.
	Dir  string     `json:"dir,omitempty"`
	Dirs []dirCount `json:"dirs,omitempty"`
	// Branch is the git branch last seen.
	Branch string `json:"branch,omitempty"`
}

// dirCount is a working directory and the number of commands run in it.
type dirCount struct {
	Dir   string `json:"dir"`
	Count int    `json:"count"`
}

// Command is a shell command with its outcome.
type command struct {
	// Text is the command without directory change, redirections to the terminal and paging. Two
	// runs of the same command have the same text.
	Text string `json:"text"`
	// Status is ok, failed, failed (exit N), running or interrupted.
	Status string `json:"status"`
	Key    string `json:"key,omitempty"`
}

// Ask is the end of the assistant's last text, which the user's next message may answer.
type openAsk struct {
	// Text is the question, or the last paragraph if there was no question.
	Text string `json:"text"`
	// Question reports whether Text is a question.
	Question bool `json:"question,omitempty"`
	// Options are the labels and titles that the text listed.
	Options []string `json:"listed,omitempty"`
	// Report is the beginning of the whole text.
	Report string `json:"report,omitempty"`
	Key    string `json:"key,omitempty"`
	// Time is the time of the message.
	Time time.Time `json:"time,omitzero"`
}

// evicted counts entries that left the state because a list was full.
type evicted struct {
	Constraints int `json:"constraints,omitempty"`
	Decisions   int `json:"decisions,omitempty"`
	Threads     int `json:"threads,omitempty"`
	Artifacts   int `json:"artifacts,omitempty"`
}

// clone copies the lists that Update often changes in place. All other lists are copied when they
// change. Options and the inner slices of pending calls are replaced, never written to.
func (s State) clone() State {
	s.Pending = slices.Clone(s.Pending)
	s.Running = slices.Clone(s.Running)
	s.Place.Dirs = slices.Clone(s.Place.Dirs)
	return s
}

// nextID gives out the next id with the list's letter.
func (s *State) nextID(letter string) string {
	s.Seq++
	return letter + strconv.Itoa(s.Seq)
}

// push appends e. If the list becomes longer than max, push drops its oldest entry and increments
// evicted. An emptied list is nil, so that equal states are equal after a JSON round trip.
func push(list []Entry, e Entry, max int, evicted *int) []Entry {
	list = append(slices.Clip(list), e)
	if n := len(list) - max; n > 0 {
		*evicted += n
		list = slices.Delete(list, 0, n)
	}
	return list
}

// renew pushes e. If the list has an entry with the same text, e replaces it under its id.
func renew(list []Entry, e Entry, same func(a, b string) bool, max int, evicted *int) []Entry {
	if i := slices.IndexFunc(list, func(o Entry) bool { return same(o.Text, e.Text) }); i >= 0 {
		e.ID = list[i].ID
		list = slices.Delete(slices.Clone(list), i, i+1)
	}
	return push(list, e, max, evicted)
}

// remove drops the entries for which del returns true.
func remove[T any](list []T, del func(T) bool) []T {
	if list = slices.DeleteFunc(list, del); len(list) == 0 {
		return nil
	}
	return list
}

// LostPrefix begins the open thread of a call with an unknown outcome.
const LostPrefix = "begun, no known outcome: "

// A lost call is open until a person has spoken lostTurns times after it. By then the agent has
// seen the call's notice and continued. Only the newest maxLost lost calls are open.
const (
	lostTurns = 2
	maxLost   = 3
)

// OpenThreads lists the open threads, newest or most pressing first. They are the assistant's
// unanswered question, calls with an unknown outcome, a failed last command, failing checks, plan
// items in progress and plan items to do.
func (s State) OpenThreads() []Entry {
	var out []Entry
	if s.Ask.Question {
		out = append(out, Entry{Kind: "question", Text: "unanswered: " + s.Ask.Text, Key: s.Ask.Key, Time: s.Ask.Time})
	}
	room := maxLost
	for _, c := range slices.Backward(s.Pending) {
		if c.Lost && room > 0 {
			out, room = append(out, Entry{Kind: "call", Text: LostPrefix + c.label()}), room-1
		}
	}
	for i := len(s.Threads) - 1; i >= 0; i-- {
		e := s.Threads[i]
		e.Text = "failing: " + e.Text
		if e.Why != "" {
			e.Text += " (" + e.Why + ")"
		}
		out = append(out, e)
	}
	if c := s.LastCommand; Failed(c.Status) && !s.isFailing(c.Text) {
		out = append(out, Entry{Kind: "command", Text: "last command failed: " + c.Text, Key: c.Key})
	}
	for _, running := range [...]bool{true, false} {
		for _, t := range s.Todos {
			if open(t.Status) && (t.Status == statusRunning) == running {
				out = append(out, Entry{ID: t.ID, Kind: "todo", Text: t.Status + ": " + t.Text, Key: t.Key})
			}
		}
	}
	return out
}

// Onward returns the part of a state that is needed to read later messages. It lacks entries that
// callers keep elsewhere.
func (s State) Onward() State {
	s.Constraints, s.Artifacts, s.Reports, s.Evicted = nil, nil, nil, evicted{}
	if n := len(s.Decisions); n > 1 {
		s.Decisions = slices.Clone(s.Decisions[n-1:])
	}
	return s
}

// Foreign reports whether another version than this one made a state.
func (s State) Foreign() bool { return s.Version != 0 && s.Version != version }

// isFailing reports whether a command is among the failing checks.
func (s State) isFailing(text string) bool {
	return slices.ContainsFunc(s.Threads, func(e Entry) bool { return e.Text == text })
}

// Step returns the plan item in progress, "" if there is none.
func (s State) Step() string {
	for _, t := range s.Todos {
		if t.Status == statusRunning {
			return t.Text
		}
	}
	return ""
}
