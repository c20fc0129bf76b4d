package predict

import (
	"hash/fnv"

	"github.com/memkernel/memkernel"
)

// contentHash returns a hash of a message's content, without the host's markers and message ids.
func contentHash(m *memkernel.Message) uint64 {
	h := fnv.New64a()
	write := func(s string) {
		h.Write([]byte(s))
		h.Write([]byte{0})
	}
	write(string(m.Role))
	var parts func([]memkernel.Part)
	parts = func(list []memkernel.Part) {
		for i := range list {
			q := &list[i]
			write(string(q.Kind))
			write(q.Text)
			switch {
			case q.Call != nil:
				write(q.Call.ID)
				write(q.Call.Name)
				write(q.Call.Input)
			case q.Result != nil:
				write(q.Result.CallID)
				parts(q.Result.Content)
			case q.Media != nil:
				write(q.Media.Type)
				write(q.Media.Data)
				write(q.Media.URL)
			case q.Kind == memkernel.PartOther:
				write(q.Raw)
			}
		}
	}
	parts(m.Parts)
	return h.Sum64()
}
