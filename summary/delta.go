package summary

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/internal/textutil"
	"github.com/memkernel/memkernel/transcript"
)

// The most runes of each part of a message that a model is shown.
const (
	spokenRunes = 2000
	saidRunes   = 1200
	callRunes   = 240
	// Of a result, the model is shown the beginning and the end.
	resultHeadRunes, resultTailRunes = 400, 240
)

// Delta is a run of messages in the form that a model is shown. Each part is one line after the
// label of its message. No text of a message can begin a new line, so it can't pass for another
// message.
type delta struct {
	Text string
	// Sources are the messages by label, m1 first.
	Sources []source
	// Used is how many of the messages the delta covers. Bytes is the length of the text.
	Used int
}

// Source is a message that a note may rest on.
type source struct {
	Label, Key string
	// Spoken reports whether a person said something in the message.
	Spoken bool
	// Page is the page that holds the message. Callers who know the page must fill it in.
	Page string
}

// DeltaOf returns the delta of messages, oldest first, until maxBytes are full. The first message
// is always included. Messages of other branches than sidechain are passed over. Every text is
// run through mask before an excerpt is taken of it.
func DeltaOf(msgs []memkernel.Message, sidechain string, mask func(string) string, maxBytes int) delta {
	var d delta
	var b strings.Builder
	for i := range msgs {
		m := &msgs[i]
		if m.Branch == sidechain {
			label := fmt.Sprint("m", len(d.Sources)+1)
			text := shown(mask, m, label)
			if b.Len() > 0 && b.Len()+len(text) > maxBytes {
				break
			}
			b.WriteString(text)
			own, _ := transcript.Typed(*m)
			d.Sources = append(d.Sources, source{Label: label, Key: m.Key, Spoken: own != ""})
		}
		d.Used = i + 1
	}
	d.Text = b.String()
	return d
}

// shown returns the lines of a message.
func shown(mask masker, m *memkernel.Message, label string) string {
	var b strings.Builder
	line := func(what, text string) {
		if text != "" {
			fmt.Fprintf(&b, "[%s %s] %s\n", label, what, text)
		}
	}
	switch m.Role {
	case memkernel.RoleUser:
		own, quoted := transcript.Typed(*m)
		line("user", oneLine(mask.source(own, userWindow), spokenRunes))
		line("quoted", oneLine(mask.source(quoted, userWindow), saidRunes))
	case memkernel.RoleSystem, memkernel.RoleDeveloper:
		return ""
	}
	for i := range m.Parts {
		switch p := &m.Parts[i]; {
		case p.Kind == memkernel.PartText && m.Role == memkernel.RoleAssistant && m.Origin == memkernel.OriginHost:
			line("assistant", oneLine(mask.source(p.Text, userWindow), saidRunes))
		case p.Kind == memkernel.PartToolUse && p.Call != nil:
			line("call "+oneLine(p.Call.Name, 40), oneLine(textutil.Head(mask(p.Call.Input), sayWindow), callRunes))
		case p.Kind == memkernel.PartToolResult && p.Result != nil:
			what := "result"
			if p.Result.IsError {
				what = "failed"
			}
			line(what, resultExcerpt(mask, unreminded(resultText(p.Result))))
		}
	}
	return b.String()
}

// unreminded returns a result without the reminder block that a host appends for its model. The
// reminder would otherwise hide the end of the result.
func unreminded(text string) string {
	i := strings.LastIndex(text, "<system-reminder>")
	if i < 0 || !strings.HasSuffix(strings.TrimRight(text, " \n"), "</system-reminder>") {
		return text
	}
	return text[:i]
}

// resultExcerpt returns the beginning of a result and its end.
func resultExcerpt(mask masker, text string) string {
	begin, end := mask.ends(text)
	if short := oneLine(begin, resultWindow); len(text) <= resultWindow && utf8.RuneCountInString(short) <= resultHeadRunes+resultTailRunes {
		return short
	}
	return oneLine(begin, resultHeadRunes) + " " + lastRunes(oneLine(end, resultWindow), resultTailRunes)
}

// lastRunes returns the last n runes of s.
func lastRunes(s string, n int) string {
	r := []rune(s)
	return string(r[max(0, len(r)-n):])
}
