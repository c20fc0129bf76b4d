package replay

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"os"
	"slices"
	"syscall"
	"time"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/budget"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/transcript"
)

// The reasons why a call was not planned.
const (
	// answered means that nothing before the call needs an answer, since the conversation ends
	// with a message of the model's.
	answered = "answered"
	// noMessages means that there is no message before the call.
	noMessages = "no_messages"
	// doesNotFit means that the least text that must be shown is larger than window − reserve.
	doesNotFit = "does_not_fit"
	// Refused means that the kernel refused the call for another reason, which Detail has.
	refused = "refused"
)

// Unplanned is a recorded call that could not be planned. It is in no figure of any policy that
// is compared with the policy that could not plan it.
type Unplanned struct {
	// Index counts the session's calls from 0, including planned ones.
	Index int       `json:"index"`
	Key   string    `json:"key"`
	Time  time.Time `json:"time,omitzero"`
	// Reason is one of the constants above.
	Reason string `json:"reason"`
	// Detail explains it further.
	Detail string `json:"detail,omitempty"`
}

// unplanned returns call n as one that was not planned.
func (r *Recording) unplanned(n int, reason, detail string) Unplanned {
	c := r.Calls[n]
	return Unplanned{Index: r.numbers[n], Key: r.Messages[c.Index].Key, Time: c.Start, Reason: reason, Detail: detail}
}

// leave removes the calls that can't be planned under any policy from the recording. Their
// messages are in the prompts of later calls.
func (r *Recording) leave() {
	var calls []transcript.Call
	var numbers, after []int
	for n, c := range r.Calls {
		why := ""
		if c.Index == 0 {
			why = noMessages
		} else if r.Messages[c.Index-1].Role == memkernel.RoleAssistant {
			why = answered
		}
		if why != "" {
			r.left = append(r.left, r.unplanned(n, why, ""))
			continue
		}
		calls, numbers, after = append(calls, c), append(numbers, r.numbers[n]), append(after, r.after[n])
	}
	r.Calls, r.numbers, r.after = calls, numbers, after
}

// Uncounted finds call n among the calls that another policy could not plan.
func (r *Recording) Uncounted(n int) (Unplanned, bool) {
	i := slices.IndexFunc(r.others, func(u Unplanned) bool { return u.Index == r.numbers[n] })
	if i < 0 {
		return Unplanned{}, false
	}
	return r.others[i], true
}

// refusal reports whether an error concerns one call alone, and why that call was not planned. An
// error of the machine or the settings is not a refusal, since it would come again with every
// call.
func refusal(err error) (reason string, ok bool) {
	var (
		small *budget.TooSmallError
		path  *fs.PathError
		link  *os.LinkError
		errno syscall.Errno
	)
	switch {
	case errors.As(err, &small):
		return doesNotFit, true
	case errors.Is(err, api.ErrAnswered):
		return answered, true
	case errors.Is(err, api.ErrNoMessages):
		return noMessages, true
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded),
		errors.As(err, &path), errors.As(err, &link), errors.As(err, &errno):
		return "", false
	}
	return refused, true
}

// Align leaves out of every result the calls that any of the policies could not plan, so that all
// results count the same calls. The results must be of one session with the same options.
func Align(results []*Result) {
	all := map[int]Unplanned{}
	for _, r := range slices.Backward(results) { // the first reason stays
		for _, u := range slices.Backward(r.Unplanned) {
			all[u.Index] = u
		}
	}
	for _, r := range results {
		if len(r.Unplanned) == len(all) {
			continue
		}
		r.Unplanned = slices.SortedFunc(maps.Values(all), func(a, b Unplanned) int { return a.Index - b.Index })
		r.Calls = slices.DeleteFunc(r.Calls, func(c Call) bool { _, left := all[c.Index]; return left })
		r.sum()
	}
}
