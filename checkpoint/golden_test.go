package checkpoint_test

import (
	"flag"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/checkpoint"
)

var update = flag.Bool("update", false, "write the golden files")

const sampleSession = "../testdata/session.jsonl"

// day is the bundled session with a checkpoint at noon and one at its end.
func day(t testing.TB, msgs []memkernel.Message) (checkpoint.State, *checkpoint.Checkpoint) {
	noon := len(msgs) / 2
	var s checkpoint.State
	s.Thread.From = checkpoint.Source{File: "testdata/session.jsonl", Channel: "telegram"}
	s = captured(s, msgs[:noon])
	first := checkpoint.Build(s, nil, sampleInput(msgs[:noon], checkpoint.TriggerAuto))
	s = captured(checkpoint.Begin(s, first), msgs[noon:])
	return s, checkpoint.Build(s, first, sampleInput(msgs, checkpoint.TriggerCompaction))
}

// sampleInput takes the gauge from what was billed last.
func sampleInput(msgs []memkernel.Message, trigger checkpoint.Trigger) checkpoint.Input {
	in := checkpoint.Input{SessionKey: "telegram:user123", AgentID: "default", Trigger: trigger, Compactions: 1}
	for i := range msgs {
		in.Now = msgs[i].Time
		if u := msgs[i].Usage; u != nil {
			in.Reading = checkpoint.Reading{Tokens: u.InputTotal(), Window: 200_000}
		}
	}
	return in
}

func golden(t *testing.T, file, got string) {
	t.Helper()
	if *update {
		must(t, os.WriteFile(file, []byte(got), 0o644))
		return
	}
	want, err := os.ReadFile(file)
	must(t, err)
	if d := cmp.Diff(string(want), got); d != "" {
		t.Errorf("%s differs; go test ./checkpoint -run Golden -update writes it anew (- file, + now):\n%s", file, d)
	}
}

func TestGolden(t *testing.T) {
	_, c := day(t, load(t, sampleSession))
	golden(t, "testdata/session.yaml", string(roundTrip(t, c)))
	text := checkpoint.Restore(c, &checkpoint.RestoreOptions{Count: tokens(t), Resolver: "memory_get"})
	if n := tokens(t)(text); n > checkpoint.RestoreCap {
		t.Errorf("%d tokens", n)
	}
	golden(t, "testdata/session.restore.txt", text)
}
