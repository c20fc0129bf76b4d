package kernel

import (
	"context"
	"errors"
	"fmt"

	"github.com/memkernel/memkernel/kernel/internal/ids"
	"github.com/memkernel/memkernel/kernel/internal/session"
	"github.com/memkernel/memkernel/kernel/internal/workstate"
)

// Net names a record that a session can go on from.
type Net string

// The records that a session falls back on, in the order in which they are asked.
const (
	NetCheckpoint   = Net(workstate.FromCheckpoint)
	NetSessionState = Net(workstate.FromStateFile)
	NetBuffer       = Net(workstate.FromBuffer)
	// NetJournal is the summary of the observed turns, for who asks for the text to go
	// on from where none of the others can be read.
	NetJournal = Net(workstate.FromJournal)
)

func keyOr(key string) string { return session.KeyOr(key) }

// Buffered is the working buffer as it was read.
type Buffered struct {
	Text string `json:"text"`
	// Bytes and Hash name what was read, for [Kernel.ClearBuffer].
	Bytes   int    `json:"bytes"`
	Hash    string `json:"hash"`
	Entries int    `json:"entries"`
}

// ReadBuffer reads the working buffer, for a curation.
func (k *Kernel) ReadBuffer(ctx context.Context) (*Buffered, error) {
	if k.memory == nil {
		return nil, errors.New("read the working buffer: memory is switched off")
	}
	text, err := workstate.ReadBuffer(k.memory.Private)
	if err != nil {
		return nil, err
	}
	return &Buffered{Text: text, Bytes: len(text), Hash: ids.Hash(text), Entries: len(workstate.Buffered(text))}, ctx.Err()
}

// ClearBuffer takes away the kernel's entries that a curation has read and made durable
// elsewhere; what somebody else wrote, and what was appended since, stays. If the buffer does not begin with what was read, nothing is
// taken, and the error is a [markdownstore.ConflictError].
func (k *Kernel) ClearBuffer(ctx context.Context, read *Buffered) error {
	if k.memory == nil {
		return errors.New("clear the working buffer: memory is switched off")
	}
	if err := workstate.ClearBuffer(ctx, k.memory.Private, read.Bytes, read.Hash); err != nil {
		return fmt.Errorf("clear the working buffer: %w", err)
	}
	return ctx.Err()
}
