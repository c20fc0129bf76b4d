package static

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// nums are the numbers of a tensor of a file that a test makes.
type nums struct {
	kind   string
	shape  []int
	values []float64
}

// tensors writes a safetensors file; the order of names is that of the data.
func tensors(t testing.TB, names []string, ts map[string]nums) []byte {
	t.Helper()
	var data []byte
	var rows []string
	for _, name := range names {
		n := ts[name]
		from := len(data)
		for _, v := range n.values {
			data = append(data, number(t, n.kind, v)...)
		}
		shape, _ := json.Marshal(n.shape)
		rows = append(rows, fmt.Sprintf(`%q:{"dtype":%q,"shape":%s,"data_offsets":[%d,%d]}`, name, n.kind, shape, from, len(data)))
	}
	head := `{"__metadata__":{"format":"pt"},` + strings.Join(rows, ",") + "}"
	head += strings.Repeat(" ", (8-len(head)%8)%8)
	out := binary.LittleEndian.AppendUint64(nil, uint64(len(head)))
	return append(append(out, head...), data...)
}

func number(t testing.TB, kind string, v float64) []byte {
	le := binary.LittleEndian
	switch kind {
	case "F64":
		return le.AppendUint64(nil, math.Float64bits(v))
	case "F32":
		return le.AppendUint32(nil, math.Float32bits(float32(v)))
	case "BF16":
		return le.AppendUint16(nil, uint16(math.Float32bits(float32(v))>>16))
	case "F16":
		return le.AppendUint16(nil, halves[v])
	case "I8", "U8":
		return []byte{byte(int8(v))}
	case "I16":
		return le.AppendUint16(nil, uint16(int16(v)))
	case "I32":
		return le.AppendUint32(nil, uint32(int32(v)))
	case "I64":
		return le.AppendUint64(nil, uint64(int64(v)))
	}
	t.Fatalf("no numbers of %s", kind)
	return nil
}

// halves are numbers in binary16, by hand from the standard's tables.
var halves = map[float64]uint16{0: 0, 1: 0x3c00, -2: 0xc000, 0.5: 0x3800, 3: 0x4200, 4: 0x4400, 65504: 0x7bff, 0x1p-24: 1, 0x1p-14: 0x0400}

// words is a tokenizer of a few words, with an unknown token.
const words = `{"added_tokens":[{"id":0,"content":"[UNK]","normalized":false,"special":true}],
 "normalizer":{"type":"BertNormalizer","clean_text":true,"handle_chinese_chars":true,"strip_accents":null,"lowercase":true},
 "pre_tokenizer":{"type":"BertPreTokenizer"},
 "model":{"type":"WordPiece","unk_token":"[UNK]","continuing_subword_prefix":"##","max_input_chars_per_word":100,
  "vocab":{"[UNK]":0,"red":1,"green":2,"##house":3,"!":4}}}`

// table are its five vectors of length 2.
var table = nums{"F32", []int{5, 2}, []float64{9, 9, 1, 0, 0, 1, 3, 4, -2, 0.5}}

// writeModel writes a model's folder and returns its path.
func writeModel(t testing.TB, tokenizer, config string, safetensors []byte) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "tiny")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string]string{"tokenizer.json": tokenizer, "config.json": config, "model.safetensors": string(safetensors)} {
		if data == "" {
			continue
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func load(t testing.TB, dir string) *Model {
	t.Helper()
	m, err := Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	return m
}
