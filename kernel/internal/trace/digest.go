package trace

import (
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"strconv"

	"github.com/memkernel/memkernel/pagevm"
)

// projectionDigest hashes projections of one conversation. Their lists are hashed in blocks, and
// blocks that the previous projection had are not hashed again. So growth, or a change near the
// end, costs only the hashing of the changed part.
type projectionDigest struct {
	seen, items []blockHash
	buf         []byte
}

type blockHash = [sha256.Size]byte

// digestBlock is the number of list entries that are hashed together. A change of this number
// changes the hashes and needs a new journal.TraceFormat.
const digestBlock = 16

// sum returns the hash of everything that decides a prompt's bytes. keepSeen and keepItems count
// the entries that are unchanged since the previous projection.
func (d *projectionDigest) sum(p *pagevm.Projection, keepSeen, keepItems int) string {
	all := sha256.New()
	d.seen = d.list(all, d.seen, keepSeen, len(p.Seen), func(i int) {
		d.strings(p.Seen[i].Key, p.Seen[i].Hash, strconv.FormatBool(p.Seen[i].Gone))
	})
	d.items = d.list(all, d.items, keepItems, len(p.Items), func(i int) { d.item(&p.Items[i]) })
	d.strings(strconv.Itoa(p.Generation), p.Recall.Turn, p.Recall.Page, p.Recall.Reason, p.Recall.Mode, p.Recall.Detail)
	for i := range p.Carry {
		d.item(&p.Carry[i])
	}
	h := d.flush()
	all.Write(h[:])
	return hex.EncodeToString(all.Sum(nil)[:16])
}

// list writes the hashes of a list's blocks to all. known are the block hashes of the previous
// list, whose first keep entries are unchanged. It returns the hashes of the full blocks among
// the n entries.
func (d *projectionDigest) list(all hash.Hash, known []blockHash, keep, n int, entry func(int)) []blockHash {
	whole := min(keep/digestBlock, len(known))
	known = known[:whole:whole]
	for i := whole * digestBlock; i < n; i++ {
		if entry(i); i%digestBlock == digestBlock-1 {
			known = append(known, d.flush())
		}
	}
	for i := range known {
		all.Write(known[i][:])
	}
	rest := d.flush()
	all.Write(rest[:])
	return known
}

// item adds an entry of the prompt.
func (d *projectionDigest) item(it *pagevm.Item) {
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
func (d *projectionDigest) strings(all ...string) {
	for _, s := range all {
		d.buf = append(strconv.AppendInt(d.buf, int64(len(s)), 10), ':')
		d.buf = append(d.buf, s...)
	}
}

// flush returns the hash of the bytes that were added since the last flush.
func (d *projectionDigest) flush() blockHash {
	h := sha256.Sum256(d.buf)
	d.buf = d.buf[:0]
	return h
}
