package summary

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/memkernel/memkernel/pagevm/toolcall"
)

// Question is a question that a call asks the user.
type question struct {
	// ID is the host's name for the question, "" if it has none.
	ID   string `json:"id,omitempty"`
	Text string `json:"text"`
}

// questionsOf returns the questions that a call asks the user, if its input has questions with
// options.
func questionsOf(mask masker, in toolcall.Args) (ask string, out []question) {
	type hosts struct {
		ID       string `json:"id"`
		Question string `json:"question"`
	}
	one, many := in.Text("question"), in.Get("questions")
	if many == "" && (one == "" || in.Get("options") == "") {
		return "", nil
	}
	var qs []hosts
	if many == "" || json.Unmarshal([]byte(many), &qs) != nil {
		if one == "" || in.Get("options") == "" {
			return "", nil
		}
		qs = []hosts{{Question: one}}
	}
	var all []string
	for _, q := range qs {
		if all = append(all, q.Question); len(all) <= maxQuestions {
			out = append(out, question{ID: oneLine(q.ID, nameRunes), Text: oneLine(mask.source(q.Question, userWindow), questionRunes)})
		}
	}
	return oneLine(mask.source(strings.Join(all, " "), userWindow), questionRunes), out
}

// answered records the user's answers to the questions of a call.
func (u *updater) answered(c Call, result string) {
	told := 0
	for _, q := range c.Questions {
		values, note, ok := q.answer(result)
		if !ok {
			continue
		}
		told++
		if said := func(v string) bool { return strings.TrimSpace(v) == strings.TrimSpace(note) }; note != "" && !slices.ContainsFunc(values, said) {
			values = append(values, note)
		}
		if said := strings.Join(values, ", "); said != "" {
			u.decided("choice", q.Text+" → "+oneLine(said, 2*replyRunes))
		}
	}
	if text := gist(result, optionRunes); told == 0 && text != "" && !strings.Contains(text, nothingMark) && !strings.HasPrefix(text, noResponse) && !strings.HasPrefix(text, abortedMark) {
		u.decided("choice", c.Ask+" → "+text)
	}
}

// The words by which hosts say that nothing was answered, and the additions that they write after
// an answer: a note of the user's, or the preview that they saw.
var unanswered = map[string]bool{"": true, "Unanswered": true, "(no option selected)": true, "None": true}

const (
	nothingMark = " answered your questions: ."
	noResponse  = "No response after "
	abortedMark = "aborted by user"
	notesMark   = "user notes: "
	noteMark    = "user_note: "
	previewMark = " selected preview:"
)

// answer finds the answers to a question in a result. It looks for a JSON object with the
// question's id or text as a key, or for answers that follow the question in quotation marks.
func (q question) answer(result string) (values []string, note string, ok bool) {
	var object struct {
		Answers map[string]json.RawMessage `json:"answers"`
	}
	if strings.HasPrefix(strings.TrimSpace(result), "{") && json.Unmarshal([]byte(result), &object) == nil && object.Answers != nil {
		for key, raw := range object.Answers {
			if key == q.ID && key != "" || oneLine(key, questionRunes) == q.Text {
				values, note = answersIn(raw)
				return values, note, true
			}
		}
		return nil, "", false
	}
	line := oneLine(result, 4*resultWindow)
	mark := `"` + strings.TrimSuffix(q.Text, "…")
	i := strings.Index(line, mark)
	if i < 0 {
		return nil, "", false
	}
	line = line[i+len(mark):]
	for _, sep := range [...]string{`"="`, `" → "`, `": "`} {
		at := strings.Index(line, sep)
		if at < 0 || at > 2*questionRunes*4 {
			continue
		}
		return q.quoted(line[at+len(sep):])
	}
	return nil, "", strings.Contains(line[:min(len(line), 40)], "(no option selected)")
}

// quoted returns the answer with which the rest of a line begins, up to its closing quotation mark.
func (q question) quoted(line string) (values []string, note string, ok bool) {
	end, after := len(line), ""
	for from := 0; ; {
		i := strings.IndexByte(line[from:], '"')
		if i < 0 {
			break
		}
		rest := line[from+i+1:]
		if rest == "" || strings.HasPrefix(rest, `, "`) || strings.HasPrefix(rest, ".") || strings.HasPrefix(rest, " "+notesMark) || strings.HasPrefix(rest, previewMark) || strings.HasPrefix(rest, "\n") {
			end, after = from+i, rest
			break
		}
		from += i + 1
	}
	value := line[:end]
	if next := strings.Index(after, `, "`); next >= 0 {
		after = after[:next]
	}
	if _, n, found := strings.Cut(after, notesMark); found {
		n, _, _ = strings.Cut(n, ". You can now continue")
		n, _, _ = strings.Cut(n, previewMark)
		note = strings.TrimSpace(n)
	}
	if unanswered[value] {
		return nil, note, true
	}
	return []string{value}, note, true
}

// answersIn reads an answer, which is a text, a list of texts, or an object that holds either.
func answersIn(raw json.RawMessage) (values []string, note string) {
	var text string
	var list []string
	var object struct {
		Answers []string `json:"answers"`
	}
	switch {
	case json.Unmarshal(raw, &text) == nil:
		list = []string{text}
	case json.Unmarshal(raw, &list) == nil:
	case json.Unmarshal(raw, &object) == nil:
		list = object.Answers
	}
	for _, v := range list {
		if n, ok := strings.CutPrefix(v, noteMark); ok {
			note = n
		} else if !unanswered[v] {
			values = append(values, v)
		}
	}
	return values, note
}
