package proxy

import (
	"bytes"
	"encoding/json"
	"io"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/memkernel/memkernel"
)

// Drain prepares clients for working without the proxy. It takes effect until the proxy ends.
// Requests are planned as before, so that the upstream refuses none of them. But the usage in
// answers is the usage of the client's own conversation, and requests to count tokens pass
// unchanged. So clients that compact by themselves do so. [Proxy.Status] says which sessions must
// still compact.
func (x *Proxy) Drain() {
	if x.draining.CompareAndSwap(false, true) {
		x.log.Info("draining", "sessions", len(x.lines.sessions()))
	}
}

// told says where the answers of an API have their usage, and which numbers of the usage count
// the input. The first present member of input counts the input. sum is the member that counts the
// sum, "" if the API has no sum.
type told struct {
	paths [][]string
	input []string
	sum   string
}

// tellsWhole reports whether the usage of an answer must be that of a larger request.
func (a *account) tellsWhole(e *exchange) bool {
	return e.draining && e.line != nil && !e.count && a.growth(e) > 1
}

// tellWhole puts the input count of the client's own request into an answer. An answer that can't
// be read passes unchanged.
func tellWhole(e *exchange, res *http.Response) {
	if enc := res.Header.Get("Content-Encoding"); enc != "" && enc != "identity" {
		return
	}
	edit := func(data []byte) []byte { return apiOf(e.format).told.edit(data, e.grows) }
	switch kind := strings.ToLower(res.Header.Get("Content-Type")); {
	case strings.HasPrefix(kind, "text/event-stream"):
		res.Body = &edited{ReadCloser: res.Body, edit: edit}
		res.Header.Del("Content-Length")
		res.ContentLength = -1
	case strings.HasPrefix(kind, "application/json"):
		head, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer))
		if err == nil && len(head) < maxAnswer {
			head = edit(head)
			res.ContentLength = int64(len(head))
			res.Header.Set("Content-Length", strconv.Itoa(len(head)))
		}
		res.Body = &joined{io.MultiReader(bytes.NewReader(head), failing{err}, res.Body), res.Body}
	}
}

// edit returns a document in which the usage is that of a request that is larger by a factor. All
// other bytes stay.
func (t *told) edit(data []byte, by float64) []byte {
	for _, path := range t.paths {
		from, to, ok := spanOf(data, path)
		if !ok {
			continue
		}
		if u := t.usage(data[from:to], by); u != nil {
			return slices.Concat(data[:from], u, data[to:])
		}
	}
	return data
}

// usage returns a larger usage. It returns nil for a usage without input.
func (t *told) usage(data []byte, by float64) []byte {
	u, err := memkernel.ReadUsage(data)
	if err != nil || u == nil || u.InputTotal() <= 0 {
		return nil
	}
	more := grown(u.InputTotal(), by) - u.InputTotal()
	for _, name := range t.input {
		out, ok := added(data, name, more)
		if !ok {
			continue
		}
		if sum, ok := added(out, t.sum, more); ok {
			return sum
		}
		return out
	}
	return nil
}

// added returns an object in which one number is larger.
func added(data []byte, name string, more int) ([]byte, bool) {
	from, to, ok := spanOf(data, []string{name})
	if !ok {
		return nil, false
	}
	n, err := strconv.Atoi(string(data[from:to]))
	if err != nil || n > math.MaxInt32 {
		return nil, false
	}
	return slices.Concat(data[:from], []byte(strconv.Itoa(n+more)), data[to:]), true
}

// spanOf finds the value of a member of an object, by its path.
func spanOf(data []byte, path []string) (from, to int, ok bool) {
	to = len(data)
	for _, name := range path {
		d := json.NewDecoder(bytes.NewReader(data[from:to]))
		if t, err := d.Token(); err != nil || t != json.Delim('{') {
			return 0, 0, false
		}
		found := false
		for !found && d.More() {
			key, err := d.Token()
			var raw json.RawMessage
			if err != nil || d.Decode(&raw) != nil {
				return 0, 0, false
			}
			if found = key == name; found {
				to = from + int(d.InputOffset())
				from = to - len(raw)
			}
		}
		if !found {
			return 0, 0, false
		}
	}
	return from, to, true
}

// edited is a stream of events in which some data is edited. It passes on whole lines.
type edited struct {
	io.ReadCloser
	edit func([]byte) []byte
	in   []byte // read, and no whole line
	out  []byte // whole lines, to be handed on
	err  error
	long bool // a line is too long to be one of usage: it passes
}

func (r *edited) Read(p []byte) (int, error) {
	for len(r.out) == 0 {
		if r.err != nil {
			return 0, r.err
		}
		r.fill()
	}
	n := copy(p, r.out)
	r.out = r.out[n:]
	return n, nil
}

// maxUsageLine bounds a line with usage. A stream of the Responses API ends with a line that has
// the whole answer.
const maxUsageLine = maxAnswer

func (r *edited) fill() {
	var buf [32 << 10]byte
	n, err := r.ReadCloser.Read(buf[:])
	r.in, r.err = append(r.in, buf[:n]...), err
	for {
		end := bytes.IndexByte(r.in, '\n') + 1
		switch {
		case end == 0 && err == nil && len(r.in) <= maxUsageLine:
			return
		case end == 0:
			r.long = err == nil && len(r.in) > 0
			r.out, r.in = append(r.out, r.in...), nil
			return
		case r.long:
			r.out, r.long = append(r.out, r.in[:end]...), false
		default:
			r.out = append(r.out, r.line(r.in[:end])...)
		}
		r.in = r.in[end:]
	}
}

func (r *edited) line(line []byte) []byte {
	data, ok := bytes.CutPrefix(line, []byte("data:"))
	if !ok || !bytes.Contains(data, []byte(`"usage`)) {
		return line
	}
	return append([]byte("data:"), r.edit(data)...)
}
