package store

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"slices"
	"strings"
)

// Next to a log on a [Disk] is its head. It records how far the log was synced, so that the
// remains of a crash after that point are distinguished from damage before it:
//
//	journal.head
//	┌───────────────────────────────────────────────────────────────────┐
//	│ {"crc":"…","head":{"v":1,"seq":8,"off":4711,"lines":23,"sum":"…"}} ⏎│
//	│ {"crc":"…","head":{"v":1,"seq":9,"off":5120,"lines":24,"sum":"…"}} ⏎│
//	└───────────────────────────────────────────────────────────────────┘
//	seq    number of the state; the slot with the larger number has the newest state
//	off    how many bytes of the journal an fsync has covered
//	lines  how many lines these bytes have
//	sum    the chain of sums over these lines
//	next   off, lines and sum of a file that is about to take the journal's name
//
// A state is written into the older of the two slots after the journal has been synced. The head
// may therefore record an earlier place than the journal's synced end, but never a later one. The
// head itself is synced when it is made and when the journal is rewritten. A power cut may lose a
// newer state of the head, which then covers less of the journal.

// headVersion is the version of the heads that are written.
//
//	1: first version
const headVersion = 1

// headSlot is the size of a slot in bytes. headSlots is the number of slots.
const headSlot, headSlots = 256, 2

// salvageHint tells the user how to repair a damaged log.
const salvageHint = "'memkernel salvage' shows what is sound and what is lost; with --apply it puts this file aside and goes on with what is sound"

// headMark is a place in a journal with the sum over all records before it.
type headMark struct {
	Off   int64 `json:"off"`
	Lines int   `json:"lines"`
	Sum   chain `json:"sum"`
}

// journalHead is one state of the head.
type journalHead struct {
	V   int   `json:"v"`
	Seq int64 `json:"seq"`
	headMark
	Next *headMark `json:"next,omitempty"`
}

// headName returns the name of a journal's head.
func headName(journal string) string { return strings.TrimSuffix(journal, ".jsonl") + ".head" }

var errUnreadableHead = errors.New("the head of the journal can't be read")

// readHead reads the head. It returns nil if there is no head, and an error that wraps
// errUnreadableHead if neither slot is whole.
func (l *lineLog) readHead() (*journalHead, error) {
	if l.derived {
		return nil, nil
	}
	data, err := l.d.Get(headName(l.name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var newest *journalHead
	var newer error
	whole := 0
	for slot := range slices.Chunk(data, headSlot) {
		h, err := decodeHead(slot)
		if err == nil {
			whole++
		}
		switch {
		case errors.Is(err, ErrNewer):
			newer = err
		case err == nil && (newest == nil || h.Seq > newest.Seq):
			newest = h
		}
	}
	l.halfHead = newest != nil && whole != headSlots
	if newer != nil {
		return nil, fmt.Errorf("%s: %w; upgrade memkernel, or point it at another state directory", l.d.Where(headName(l.name)), newer)
	}
	if newest == nil {
		return nil, fmt.Errorf("%s: %w", l.d.Where(headName(l.name)), errUnreadableHead)
	}
	return newest, nil
}

// encodeHead returns a state as a slot of headSlot bytes. The slot has room for the largest numbers.
func encodeHead(h *journalHead) []byte {
	raw, _ := json.Marshal(h) // numbers and sums only
	slot := fmt.Sprintf(`{"crc":"%08x","head":%s}`, crc32.Checksum(raw, castagnoli), raw)
	return fmt.Appendf(nil, "%-*s\n", headSlot-1, slot)
}

func decodeHead(slot []byte) (*journalHead, error) {
	var e struct {
		CRC  string          `json:"crc"`
		Head json.RawMessage `json:"head"`
	}
	if err := json.Unmarshal(slot, &e); err != nil {
		return nil, err
	}
	if !sameCRC(e.CRC, crc32.Checksum(e.Head, castagnoli)) {
		return nil, errUnreadableHead
	}
	h := new(journalHead)
	if err := json.Unmarshal(e.Head, h); err != nil {
		return nil, err
	}
	if h.V > headVersion {
		return nil, fmt.Errorf("format version %d: %w", h.V, ErrNewer)
	}
	if !bytes.Equal(encodeHead(h), slot) {
		return nil, errUnreadableHead
	}
	return h, nil
}

// vouch compares the file, which was read up to r's place, with the head. passed is the head's mark
// that the reading has reached, nil for none. tail reports whether the bytes after r's place may be
// a torn tail. The error reports damage that the lines themselves don't show.
func (l *lineLog) vouch(r *lineReader, passed *headMark) (tail bool, err error) {
	h := l.head
	switch {
	case l.derived:
		return true, nil
	case h == nil:
		return !r.chained, nil // a journal without sums was written by a version without heads
	case passed != nil || h.Off == 0 || h.Next != nil && h.Next.Off == 0:
		return true, nil
	case r.Off < h.Off:
		err = fmt.Errorf("%d bytes are missing, which had been synced: the file should hold %d bytes in %d lines", h.Off-r.Off, h.Off, h.Lines)
	default:
		err = fmt.Errorf("what stands before it is not what was synced: up to byte %d there should be %d lines with the sum %s", h.Off, h.Lines, h.Sum)
	}
	d := r.damage(err)
	d.Replaced = true
	return false, d
}

// mark returns the head's mark that is at this place of the journal, or nil if neither is.
func (h *journalHead) mark(at headMark) *headMark {
	switch {
	case h == nil:
	case h.Off == at.Off && h.Sum == at.Sum:
		return &h.headMark
	case h.Next != nil && h.Next.Off == at.Off && h.Next.Sum == at.Sum:
		return h.Next
	}
	return nil
}

// keepHead records the place l.at in the head. The caller must have synced the journal up to there.
// If the head can't be written, keepHead sets l.headErr, and the head covers less of the journal.
func (l *lineLog) keepHead() {
	if l.derived {
		return
	}
	if l.headErr = l.writeHead(l.at, nil, false); l.headErr == nil {
		l.durable = l.records
	}
}

// settle makes the journal durable up to the place l.at. Callers must call it before they write a
// synced head that records this place. It syncs nothing if the head records the place already.
func (l *lineLog) settle(f Journal) error {
	if l.at.Off == 0 || l.head != nil && l.head.Next == nil && l.head.headMark == l.at {
		return nil
	}
	_, err := f.Sync()
	return err
}

// makeHead makes the head of a journal without a readable head. The journal must be durable up to
// the place l.at. makeHead puts an unreadable head aside.
func (l *lineLog) makeHead() error {
	if errors.Is(l.headErr, errUnreadableHead) && l.chained {
		if _, err := PutAside(l.d, headName(l.name)); err != nil {
			return err
		}
	}
	h := &journalHead{V: headVersion, Seq: headSlots, headMark: l.at}
	both := encodeHead(h)
	h.Seq++
	both = append(both, encodeHead(h)...)
	// The head must be written whole or not at all, since a part that a killed process leaves
	// would survive a power cut.
	if _, err := l.d.Put(Synced, Doc{headName(l.name), both}); err != nil {
		return fmt.Errorf("head of the journal: %w", err)
	}
	l.head, l.headErr, l.halfHead = h, nil, false
	return nil
}

// Mend writes the head's readable state over the unreadable one.
func (l *lineLog) Mend() error {
	f, err := l.ready()
	if err != nil {
		return fmt.Errorf("mend head: %w", err)
	}
	defer f.Close()
	if err := l.settle(f); err != nil {
		return fmt.Errorf("mend head: %w", err)
	}
	return l.writeHead(l.at, nil, true)
}

// writeHead writes a state into the slot that the newest one is not in.
func (l *lineLog) writeHead(m headMark, next *headMark, sync bool) error {
	h := &journalHead{V: headVersion, Seq: 1, headMark: m, Next: next}
	if l.head != nil {
		h.Seq = l.head.Seq + 1
	}
	if err := l.d.Patch(headName(l.name), h.Seq%headSlots*headSlot, encodeHead(h), sync); err != nil {
		return fmt.Errorf("head of the journal: %w", err)
	}
	l.head, l.halfHead = h, false // an unreadable slot is the older one, which was just written
	return nil
}

// Fault returns the fault of the log's head, nil if there is none. With such a fault the log
// itself can be read, but it is not known how far it was synced.
func (l *lineLog) Fault() error {
	if l.headErr == nil && l.halfHead {
		return fmt.Errorf("%s: %w", l.d.Where(headName(l.name)), ErrHalfHead)
	}
	return l.headErr
}
