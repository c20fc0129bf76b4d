package kernel_test

import (
	"strings"
	"testing"
	"time"

	"github.com/memkernel/memkernel/kernel"
)

// A file that is read again names the lines that stand in the prompt and shows what is new,
// by a kernel that is opened anew, too; with a cut it is itself again.
func TestRepeatsOnce(t *testing.T) {
	dir := t.TempDir()
	open := func() *kernel.Kernel {
		k, err := kernel.Open(t.Context(), dir, &kernel.Options{Repeats: kernel.RepeatsOnce})
		if err != nil {
			t.Fatal(err)
		}
		return k
	}
	k := open()
	c := newConversation(7)
	text := c.code(6_000)
	before, after, _ := strings.Cut(text, "step20(")
	changed := before + "stepNew(" + after
	c.user()
	c.ask("Read", `{"file_path":"/p/a.go"}`, text)
	first := planned(t, k, request(c))
	if n := strings.Count(stream(first), "step19("); n != 1 {
		t.Fatalf("the first read shows the line %d times", n)
	}
	c.ask("Read", `{"file_path":"/p/a.go"}`, text)
	c.ask("Read", `{"file_path":"/p/b.go"}`, text)
	c.ask("Read", `{"file_path":"/p/a.go"}`, changed)
	p := planned(t, k, request(c))
	got := stream(p)
	for what, want := range map[string]int{"step19(": 2, "stepNew(": 1, "has not changed]": 1, "up to the next]": 2, "the earlier result of Read /p/a.go": 3} {
		if n := strings.Count(got, what); n != want {
			t.Errorf("%q stands %d times, want %d", what, n, want)
		}
	}
	if !strings.HasPrefix(got, stream(first)) {
		t.Error("the plan does not extend the one before")
	}
	k.Close()
	k = open()
	defer k.Close()
	c.say()
	c.user()
	q := planned(t, k, request(c))
	if !strings.HasPrefix(stream(q), got) {
		t.Error("a reopened kernel sends other bytes")
	}
	clean(t, k)
	c.gap(3 * time.Hour)
	req := request(c)
	if _, err := k.Compact(t.Context(), kernel.Boundary{SessionKey: req.SessionKey, Messages: c.msgs, Now: c.now, Compact: &kernel.CompactWish{Force: true, Tokens: 2_000}}); err != nil {
		t.Fatal(err)
	}
	c.say()
	c.user()
	for range 2 {
		if s := stream(planned(t, k, request(c))); strings.Contains(s, "as above:") {
			t.Errorf("after a cut a result names what may have left:\n%s", s)
		}
	}
}

func TestRepeatsRefused(t *testing.T) {
	if _, err := kernel.Open(t.Context(), t.TempDir(), &kernel.Options{Repeats: "twice"}); err == nil || !strings.Contains(err.Error(), "want whole or once") {
		t.Error(err)
	}
}
