package checkpoint_test

import (
	"testing"

	"github.com/memkernel/memkernel/internal/store"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/checkpoint"
)

func BenchmarkUpdate(b *testing.B) {
	msgs := load(b, sampleSession)
	b.Run("whole session", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			captured(checkpoint.State{}, msgs)
		}
	})
	s := captured(checkpoint.State{}, msgs[:len(msgs)-1])
	b.Run("one message", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			captured(s, msgs[len(msgs)-1:])
		}
	})
	b.Run("seen before", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			captured(s, msgs[:len(msgs)-1])
		}
	})
}

// BenchmarkWrite is what a checkpoint costs: without the disk, with it, and the
// state that is saved after each of a session's last hundred messages.
func BenchmarkWrite(b *testing.B) {
	msgs := load(b, sampleSession)
	s, c := day(b, msgs)
	b.Run("build", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			checkpoint.Build(s, c, sampleInput(msgs[len(msgs)-1:], checkpoint.TriggerCompaction))
		}
	})
	b.Run("marshal", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			data, err := checkpoint.Marshal(c)
			must(b, err)
			b.SetBytes(int64(len(data)))
		}
	})
	b.Run("checkpoint to disk", func(b *testing.B) {
		store := checkpoint.NewStore(store.Files(b.TempDir()))
		for b.Loop() {
			write(b, store, s, checkpoint.TriggerCompaction, 1000)
		}
	})
	b.Run("state to disk", func(b *testing.B) {
		store := checkpoint.NewStore(store.Files(b.TempDir()))
		states := []checkpoint.State{captured(checkpoint.State{}, msgs[:len(msgs)-100])}
		for _, m := range msgs[len(msgs)-100:] {
			states = append(states, captured(states[len(states)-1], []memkernel.Message{m}))
		}
		for i := 0; b.Loop(); i++ {
			must(b, store.SaveState(states[i%len(states)]))
		}
	})
}

func BenchmarkRestore(b *testing.B) {
	s, c := day(b, load(b, sampleSession))
	data, err := checkpoint.Marshal(c)
	must(b, err)
	b.Run("unmarshal", func(b *testing.B) {
		b.SetBytes(int64(len(data)))
		b.ReportAllocs()
		for b.Loop() {
			_, err := checkpoint.Unmarshal(data)
			must(b, err)
		}
	})
	count := tokens(b)
	b.Run("text", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			checkpoint.Restore(c, &checkpoint.RestoreOptions{Count: count})
		}
	})
	b.Run("resume from disk", func(b *testing.B) {
		store := checkpoint.NewStore(store.Files(b.TempDir()))
		write(b, store, s, checkpoint.TriggerCompaction, 1000)
		for b.Loop() {
			_, err := store.Resume()
			must(b, err)
		}
	})
}
