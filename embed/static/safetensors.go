package static

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
)

// tensor is an array of numbers in a safetensors file. Its data is a part of the
// mapped file.
type tensor struct {
	kind  string
	shape []int
	data  []byte
}

// maxHeader is the longest header that the format allows.
const maxHeader = 100_000_000

// sizes are the bytes of a number by kind.
var sizes = map[string]int{"F64": 8, "F32": 4, "F16": 2, "BF16": 2, "I8": 1, "U8": 1, "I16": 2, "U16": 2, "I32": 4, "U32": 4, "I64": 8, "U64": 8, "BOOL": 1}

// parseTensors reads a safetensors file, github.com/huggingface/safetensors:
//
//	8 bytes  length of the header, little-endian
//	header   JSON: {"name": {"dtype", "shape", "data_offsets": [from, to]}, …}
//	data     to which the offsets refer
func parseTensors(file []byte) (map[string]tensor, error) {
	if len(file) < 8 {
		return nil, fmt.Errorf("it has %d bytes, which is no safetensors file: it may not have been loaded whole", len(file))
	}
	n := binary.LittleEndian.Uint64(file)
	if n > maxHeader || n > uint64(len(file)-8) {
		return nil, fmt.Errorf("its header would have %d bytes of %d: it is no safetensors file, or not whole", n, len(file)-8)
	}
	head, data := file[8:8+n], file[8+n:]
	var raw map[string]json.RawMessage
	if err := json.Unmarshal(head, &raw); err != nil {
		return nil, fmt.Errorf("its header is no JSON: %w", err)
	}
	out := map[string]tensor{}
	for name, r := range raw {
		if name == "__metadata__" {
			continue
		}
		t, err := parseTensor(r, data)
		if err != nil {
			return nil, fmt.Errorf("tensor %.100q: %w", name, err)
		}
		out[name] = t
	}
	return out, nil
}

func parseTensor(raw json.RawMessage, data []byte) (tensor, error) {
	var h struct {
		Kind    string   `json:"dtype"`
		Shape   []int    `json:"shape"`
		Offsets []uint64 `json:"data_offsets"`
	}
	if err := json.Unmarshal(raw, &h); err != nil {
		return tensor{}, err
	}
	if len(h.Offsets) != 2 || h.Offsets[0] > h.Offsets[1] {
		return tensor{}, fmt.Errorf("data_offsets %v are no range", h.Offsets)
	}
	if h.Offsets[1] > uint64(len(data)) {
		return tensor{}, fmt.Errorf("its data ends at %d of %d bytes: the file is not whole", h.Offsets[1], len(data))
	}
	t := tensor{h.Kind, h.Shape, data[h.Offsets[0]:h.Offsets[1]]}
	size, known := sizes[t.kind]
	if !known {
		return t, nil // of a kind that is refused only on use
	}
	want, err := product(size, h.Shape)
	if err != nil {
		return tensor{}, err
	}
	if want != len(t.data) {
		return tensor{}, fmt.Errorf("%v of %s take %d bytes, not %d", t.shape, t.kind, want, len(t.data))
	}
	return t, nil
}

func product(n int, shape []int) (int, error) {
	for _, d := range shape {
		if d < 0 || d > 0 && n > math.MaxInt/d {
			return 0, fmt.Errorf("shape %v is none", shape)
		}
		n *= d
	}
	return n, nil
}

// errKind is for numbers that are not of a kind that can be used.
var errKind = errors.New("its numbers are of a kind that can't be used here")

// reals and wholes are the kinds of numbers that can be used, and those among them for row numbers.
var (
	reals  = []string{"F64", "F32", "F16", "BF16", "I8"}
	wholes = []string{"I64", "I32", "U32", "I16", "U16"}
)

// of returns an error unless the numbers are of one of some kinds.
func (t tensor) of(kinds []string) error {
	if slices.Contains(kinds, t.kind) {
		return nil
	}
	return fmt.Errorf("%w: %.20q; %s can", errKind, t.kind, strings.Join(kinds, ", "))
}

// at returns the number at i, of a kind of reals or wholes.
func (t tensor) at(i int) float64 {
	le := binary.LittleEndian
	switch t.kind {
	case "F64":
		return math.Float64frombits(le.Uint64(t.data[8*i:]))
	case "F32":
		return float64(math.Float32frombits(le.Uint32(t.data[4*i:])))
	case "F16":
		return float64(half(le.Uint16(t.data[2*i:])))
	case "BF16":
		return float64(math.Float32frombits(uint32(le.Uint16(t.data[2*i:])) << 16))
	case "I64":
		return float64(int64(le.Uint64(t.data[8*i:])))
	case "I32":
		return float64(int32(le.Uint32(t.data[4*i:])))
	case "U32":
		return float64(le.Uint32(t.data[4*i:]))
	case "I16":
		return float64(int16(le.Uint16(t.data[2*i:])))
	case "U16":
		return float64(le.Uint16(t.data[2*i:]))
	}
	return float64(int8(t.data[i]))
}

// half returns a number of IEEE 754 binary16.
func half(b uint16) float32 {
	sign := uint32(b>>15) << 31
	exp, frac := uint32(b>>10)&0x1f, uint32(b)&0x3ff
	switch exp {
	case 0: // zero, or too small for a leading one
		v := float32(frac) / (1 << 24)
		return math.Float32frombits(math.Float32bits(v) | sign)
	case 0x1f: // infinite, or no number
		return math.Float32frombits(sign | 0xff<<23 | frac<<13)
	}
	return math.Float32frombits(sign | (exp+127-15)<<23 | frac<<13)
}
