package scriptedhost

import (
	"fmt"
	"strings"

	"github.com/memkernel/memkernel"
)

// events are what befalls a session, by the share of its turns after which it does,
// in percent.
var events = [...]struct {
	at int
	do func(*writer)
}{
	{6, (*writer).retry}, {10, (*writer).compact}, {16, (*writer).overflow}, {24, (*writer).reset},
	{34, (*writer).shrink}, {40, (*writer).overflow}, {46, (*writer).restart},
	{52, (*writer).resetInTurn},
	{58, (*writer).retry}, {60, (*writer).overflow}, {66, (*writer).compact}, {70, (*writer).restart},
	{76, func(w *writer) { w.compact(); w.reset() }},
	{84, (*writer).overflow}, {90, (*writer).shrink}, {96, (*writer).compact},
}

// event plays what is due behind the turn.
func (w *writer) event() {
	for _, e := range events {
		if e.at*w.Turns/100 == w.turn {
			e.do(w)
		}
	}
}

func (w *writer) compact() { w.call(Compact, Step{}) }
func (w *writer) shrink()  { w.call(Shrink, Step{}) }
func (w *writer) restart() { w.call(Restart, Step{}) }
func (w *writer) reset() {
	w.asked = ""
	w.call(Reset, Step{Gain: Gain{Memory: w.memoryOf()}})
}

// resetInTurn resets while a call's result was just read: the turn, in which a
// memory is asked for, never ends.
func (w *writer) resetInTurn() {
	w.words(memkernel.RoleUser, w.askToRemember())
	w.asked = ""
	w.call(Plan, Step{Gain: Gain{Answered: true}})
	w.work(w.Work[w.rng.IntN(len(w.Work))])
	w.call(Result, Step{})
	w.reset()
}

// retry takes back what the user said last, once it was planned, and sends something
// else in its place.
func (w *writer) retry() {
	w.request()
	w.asked = ""
	w.call(Plan, Step{Gain: Gain{Answered: true}})
	w.request()
	w.call(Plan, Step{Drop: 1})
	w.words(memkernel.RoleAssistant, fmt.Sprintf("Done: %s retries no longer than it has to.", w.name()))
	w.call(Turn, Step{})
	w.call(Look, Step{})
}

// overflow fills the window in one tool loop and puts a result on top that is about
// as large as the window itself.
func (w *writer) overflow() {
	w.call(Plan, Step{Gain: w.opening()})
	for range 6 {
		w.work(w.Work[w.rng.IntN(len(w.Work))])
		w.call(Plan, Step{})
	}
	id := fmt.Sprintf("o%06d", w.n)
	w.say(memkernel.Message{Role: memkernel.RoleAssistant, Parts: []memkernel.Part{{Kind: memkernel.PartToolUse,
		Call: &memkernel.ToolCall{ID: id, Name: "Read", Input: fmt.Sprintf(`{"file_path":"/srv/log/%s.log"}`, w.name())}}}})
	w.say(answer(id, w.log()))
	w.call(Plan, Step{Overflow: true})
	w.words(memkernel.RoleAssistant, "The log is read; the cause is in it.")
	w.call(Turn, Step{Gain: Gain{Memory: w.memoryOf()}})
	w.call(Look, Step{})
}

// log returns a believable log file of the surprising size.
func (w *writer) log() string {
	var b strings.Builder
	for i := 0; b.Len() < w.Surprise; i++ {
		level := "info"
		if w.rng.IntN(97) == 0 {
			level = "error"
		}
		fmt.Fprintf(&b, "2026-11-03T%02d:%02d:%02dZ %s worker %d took job %08x in %d ms\n", i/3600%24, i/60%60, i%60, level, w.rng.IntN(16), w.rng.Uint32(), w.rng.IntN(4000))
	}
	return b.String()
}
