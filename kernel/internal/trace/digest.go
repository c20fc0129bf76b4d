package trace

import (
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"strconv"

	"github.com/memkernel/memkernel/pagevm"
)

// digestBlock is the number of list entries that are hashed together. A change of this number
// changes the hashes and needs a new journal.TraceFormat.
const digestBlock = 16

// digest is a hash over the hashes of blocks.
type digest struct {
	all hash.Hash
	buf []byte // of the block at hand
}

// digestOf returns the hash of everything that decides a prompt's bytes.
func digestOf(p *pagevm.Projection) string {
	d := &digest{all: sha256.New()}
	for i := range p.Seen {
		d.strings(p.Seen[i].Key, p.Seen[i].Hash, strconv.FormatBool(p.Seen[i].Gone))
		d.flushAt(i)
	}
	d.flush()
	for i := range p.Items {
		d.item(&p.Items[i])
		d.flushAt(i)
	}
	d.flush()
	d.strings(strconv.Itoa(p.Generation), p.Recall.Turn, p.Recall.Page, p.Recall.Reason, p.Recall.Mode, p.Recall.Detail)
	for i := range p.Carry {
		d.item(&p.Carry[i])
	}
	d.flush()
	return hex.EncodeToString(d.all.Sum(nil)[:16])
}

// item adds an entry of the prompt.
func (d *digest) item(it *pagevm.Item) {
	d.strings(string(it.Kind), it.Key, it.Page, it.Hash, string(it.Role))
	flags := int64(it.Level)
	for i, on := range []bool{it.Markable, it.Image, it.Bare} {
		if on {
			flags |= 1 << (8 + i)
		}
	}
	for _, n := range []int64{int64(it.Part), int64(it.Parts), int64(it.Tokens), int64(it.Positions), flags} {
		d.buf = append(strconv.AppendInt(d.buf, n, 10), 0)
	}
}

// strings adds the length and the bytes of each string.
func (d *digest) strings(all ...string) {
	for _, s := range all {
		d.buf = append(strconv.AppendInt(d.buf, int64(len(s)), 10), ':')
		d.buf = append(d.buf, s...)
	}
}

// flushAt ends the block if entry i is its last one.
func (d *digest) flushAt(i int) {
	if i%digestBlock == digestBlock-1 {
		d.flush()
	}
}

// flush adds the hash of the block at hand.
func (d *digest) flush() {
	h := sha256.Sum256(d.buf)
	d.all.Write(h[:])
	d.buf = d.buf[:0]
}
