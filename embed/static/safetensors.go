package static

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
)

// tensor is an array of numbers in a safetensors file, which begins at byte from of the file.
type tensor struct {
	kind  string
	shape []int
	from  int64
}

// maxHeader is the longest header that the format allows.
const maxHeader = 100_000_000

// sizes holds the bytes of a number, by kind.
var sizes = map[string]int{"F64": 8, "F32": 4, "F16": 2, "BF16": 2, "I8": 1, "U8": 1, "I16": 2, "U16": 2, "I32": 4, "U32": 4, "I64": 8, "U64": 8, "BOOL": 1}

// parseTensors reads a safetensors file, github.com/huggingface/safetensors:
//
//	8 bytes  length of the header, little-endian
//	header   JSON: {"name": {"dtype", "shape", "data_offsets": [from, to]}, …}
//	data     to which the offsets refer
func parseTensors(file io.ReaderAt, size int64) (map[string]tensor, error) {
	if size < 8 {
		return nil, fmt.Errorf("it has %d bytes, which is no safetensors file: it may not have been loaded whole", size)
	}
	head := make([]byte, 8)
	if _, err := file.ReadAt(head, 0); err != nil {
		return nil, err
	}
	n := binary.LittleEndian.Uint64(head)
	if n > maxHeader || n > uint64(size-8) {
		return nil, fmt.Errorf("its header would have %d bytes of %d: it is no safetensors file, or not whole", n, size-8)
	}
	head = make([]byte, n)
	if _, err := file.ReadAt(head, 8); err != nil {
		return nil, err
	}
	var raw map[string]json.RawMessage
	if err := json.Unmarshal(head, &raw); err != nil {
		return nil, fmt.Errorf("its header is no JSON: %w", err)
	}
	out := map[string]tensor{}
	for name, r := range raw {
		if name == "__metadata__" {
			continue
		}
		t, err := parseTensor(r, 8+int64(n), size)
		if err != nil {
			return nil, fmt.Errorf("tensor %.100q: %w", name, err)
		}
		out[name] = t
	}
	return out, nil
}

// parseTensor reads a tensor's entry in the header of a file of size bytes, whose data begins at
// byte start.
func parseTensor(raw json.RawMessage, start, size int64) (tensor, error) {
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
	if h.Offsets[1] > uint64(size-start) {
		return tensor{}, fmt.Errorf("its data ends at %d of %d bytes: the file is not whole", h.Offsets[1], size-start)
	}
	t := tensor{h.Kind, h.Shape, start + int64(h.Offsets[0])}
	width, known := sizes[t.kind]
	if !known {
		return t, nil // of a kind that is refused only on use
	}
	want, err := product(width, h.Shape)
	if err != nil {
		return tensor{}, err
	}
	if has := h.Offsets[1] - h.Offsets[0]; uint64(want) != has {
		return tensor{}, fmt.Errorf("%v of %s take %d bytes, not %d", t.shape, t.kind, want, has)
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

// errKind is the error for numbers of an unsupported kind.
var errKind = errors.New("its numbers are of a kind that can't be used here")

// reals are the supported kinds of numbers. wholes are the supported kinds of row numbers.
var (
	reals  = []string{"F64", "F32", "F16", "BF16", "I8"}
	wholes = []string{"I64", "I32"}
)

// of returns an error unless the kind of the numbers is among kinds.
func (t tensor) of(kinds []string) error {
	if slices.Contains(kinds, t.kind) {
		return nil
	}
	return fmt.Errorf("%w: %.20q; %s can", errKind, t.kind, strings.Join(kinds, ", "))
}

// read reads n numbers of the tensor from index i.
func (t tensor) read(file io.ReaderAt, i, n int) ([]float64, error) {
	width := sizes[t.kind]
	raw, out := make([]byte, n*width), make([]float64, n)
	if _, err := file.ReadAt(raw, t.from+int64(i)*int64(width)); err != nil {
		return nil, err
	}
	decode := decoders[t.kind]
	for j := range out {
		out[j] = decode(raw[j*width:])
	}
	return out, nil
}

// decoders read the number of a kind at the beginning of data.
var decoders = map[string]func(data []byte) float64{
	"F64": func(data []byte) float64 { return math.Float64frombits(binary.LittleEndian.Uint64(data)) },
	"F32": func(data []byte) float64 { return float64(math.Float32frombits(binary.LittleEndian.Uint32(data))) },
	"F16": func(data []byte) float64 { return float64(half(binary.LittleEndian.Uint16(data))) },
	"BF16": func(data []byte) float64 {
		return float64(math.Float32frombits(uint32(binary.LittleEndian.Uint16(data)) << 16))
	},
	"I64": func(data []byte) float64 { return float64(int64(binary.LittleEndian.Uint64(data))) },
	"I32": func(data []byte) float64 { return float64(int32(binary.LittleEndian.Uint32(data))) },
	"I8":  func(data []byte) float64 { return float64(int8(data[0])) },
}

// half converts a number from IEEE 754 binary16.
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
