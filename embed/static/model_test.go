package static

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func near(a []float32, b ...float64) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if math.Abs(float64(a[i])-b[i]) > 1e-6 {
			return false
		}
	}
	return true
}

// The vectors are computed by hand: red (1,0), green (0,1), ##house (3,4), ! (-2,½).
func TestVectorsByHand(t *testing.T) {
	one := []string{"embeddings"}
	plain := func(kind string) []byte {
		n := table
		n.kind = kind
		if kind == "I8" {
			n.values = []float64{9, 9, 1, 0, 0, 1, 3, 4, -2, 0}
		}
		if kind == "F16" {
			n.values = []float64{0, 0, 1, 0, 0, 1, 3, 4, -2, 0.5}
		}
		return tensors(t, one, map[string]nums{"embeddings": n})
	}
	shared := tensors(t, []string{"embeddings", "weights", "mapping"}, map[string]nums{
		"embeddings": {"F32", []int{2, 2}, []float64{1, 0, 0, 1}},
		"weights":    {"F64", []int{5}, []float64{1, 2, 1, 0.5, 4}},
		"mapping":    {"I64", []int{5}, []float64{0, 0, 1, 1, 0}},
	})
	s := math.Sqrt
	for _, c := range []struct {
		name, config, text string
		file               []byte
		want               []float64
	}{
		{"mean", `{"normalize":false}`, "Red GREEN", plain("F32"), []float64{0.5, 0.5}},
		{"length 1", `{"normalize":true}`, "red green", plain("F32"), []float64{1 / s(2), 1 / s(2)}},
		{"length 1 by default", "", "red green", plain("F32"), []float64{1 / s(2), 1 / s(2)}},
		{"pieces", `{"normalize":false}`, "Redhouse!", plain("F32"), []float64{(1 + 3 - 2) / 3.0, 4.5 / 3}},
		{"accents", `{"normalize":false}`, "rèd", plain("F32"), []float64{1, 0}},
		{"unknown left out", `{"normalize":false}`, "red blue 漢字", plain("F32"), []float64{1, 0}},
		{"unknown as a token left out", `{"normalize":false}`, "red [UNK]", plain("F32"), []float64{1, 0}},
		{"doubles", `{"normalize":false}`, "red!", plain("F64"), []float64{-0.5, 0.25}},
		{"halves", `{"normalize":false}`, "red!", plain("F16"), []float64{-0.5, 0.25}},
		{"brain floats", `{"normalize":false}`, "red!", plain("BF16"), []float64{-0.5, 0.25}},
		{"bytes", `{"normalize":false}`, "redhouse", plain("I8"), []float64{2, 2}},
		{"weights and mapping", `{"normalize":false}`, "red greenhouse", shared, []float64{2.0 / 3, 1.5 / 3}},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := load(t, writeModel(t, words, c.config, c.file))
			v, err := m.Embed(c.text)
			if err != nil || !near(v, c.want...) {
				t.Errorf("%q: %v, %v; want %v", c.text, v, err, c.want)
			}
		})
	}
}

func TestOnlyTheFirstTokensCount(t *testing.T) {
	m := load(t, writeModel(t, words, `{"normalize":false}`, tensors(t, []string{"embeddings"}, map[string]nums{"embeddings": table})))
	v, err := m.Embed(strings.Repeat("red ", textTokens) + "green")
	if err != nil || !near(v, 1, 0) {
		t.Errorf("%v %v", v, err)
	}
	for _, text := range []string{"", "blue", "[UNK]", strings.Repeat("x", 500)} {
		if _, err := m.Embed(text); !errors.Is(err, ErrNoToken) {
			t.Errorf("%.20q: %v", text, err)
		}
	}
}

func TestFingerprint(t *testing.T) {
	file := tensors(t, []string{"embeddings"}, map[string]nums{"embeddings": table})
	other := append([]byte{}, file...)
	other[len(other)-1] ^= 1
	a, b := load(t, writeModel(t, words, "", file)), load(t, writeModel(t, words, "", file))
	if a.Fingerprint() != b.Fingerprint() || a.Name() != "tiny" || a.Dim() != 2 {
		t.Errorf("%s and %s are of one model; %s, %d", a.Fingerprint(), b.Fingerprint(), a.Name(), a.Dim())
	}
	for name, m := range map[string]*Model{
		"numbers": load(t, writeModel(t, words, "", other)), "settings": load(t, writeModel(t, words, `{"normalize":false}`, file)),
		"tokenizer": load(t, writeModel(t, words+" ", "", file)),
	} {
		if m.Fingerprint() == a.Fingerprint() {
			t.Errorf("another model's %s make the same fingerprint", name)
		}
	}
}

func TestModelsThatCannotBeUsed(t *testing.T) {
	whole := tensors(t, []string{"embeddings"}, map[string]nums{"embeddings": table})
	of := func(names []string, ts map[string]nums) []byte { return tensors(t, names, ts) }
	ws := func(n nums) []byte {
		return of([]string{"embeddings", "weights"}, map[string]nums{"embeddings": table, "weights": n})
	}
	ms := func(n nums) []byte {
		return of([]string{"embeddings", "mapping"}, map[string]nums{"embeddings": table, "mapping": n})
	}
	for name, c := range map[string]struct {
		tokenizer, config string
		file              []byte
		want              string
	}{
		"no tokenizer":      {"", "", whole, "must hold tokenizer.json and model.safetensors"},
		"no tensors":        {words, "", nil, "must hold tokenizer.json and model.safetensors"},
		"tokenizer no JSON": {"<html>", "", whole, "tokenizer.json: it is no JSON"},
		"config no JSON":    {words, "x", whole, "config.json"},
		"cut in the length": {words, "", whole[:5], "it has 5 bytes"},
		"cut in the header": {words, "", whole[:60], "model.safetensors: its header would have"},
		"cut in the data":   {words, "", whole[:len(whole)-1], `tensor "embeddings": its data ends at 40 of 39 bytes`},
		"header no JSON":    {words, "", append([]byte{2, 0, 0, 0, 0, 0, 0, 0}, "xx"...), "its header is no JSON"},
		"endless header":    {words, "", append([]byte{255, 255, 255, 255, 255, 255, 255, 255}, "xx"...), "no safetensors file"},
		"a text":            {words, "", []byte("version https://git-lfs.github.com/spec/v1\n"), "no safetensors file"},
		"another tensor":    {words, "", of([]string{"x"}, map[string]nums{"x": table}), `no tensor "embeddings"`},
		"one row":           {words, "", of([]string{"embeddings"}, map[string]nums{"embeddings": {"F32", []int{2}, []float64{1, 2}}}), "shape [2] is not rows and length"},
		"whole numbers":     {words, "", of([]string{"embeddings"}, map[string]nums{"embeddings": {"I32", []int{5, 2}, table.values}}), `of a kind that can't be used here: "I32"`},
		"too few rows":      {words, "", of([]string{"embeddings"}, map[string]nums{"embeddings": {"F32", []int{4, 2}, table.values[:8]}}), "it has 4 rows, tokenizer.json 5 tokens"},
		"too few weights":   {words, "", ws(nums{"F32", []int{4}, []float64{1, 1, 1, 1}}), "tensor weights: shape [4]"},
		"weights of two":    {words, "", ws(nums{"F32", []int{5, 1}, []float64{1, 1, 1, 1, 1}}), "tensor weights: shape [5 1]"},
		"mapping outside":   {words, "", ms(nums{"I32", []int{5}, []float64{0, 1, 2, 5, 4}}), "tensor mapping: token 3 is row 5 of 5"},
		"mapping negative":  {words, "", ms(nums{"I64", []int{5}, []float64{0, 1, -1, 3, 4}}), "tensor mapping: token 2 is row -1 of 5"},
		"mapping of reals":  {words, "", ms(nums{"F32", []int{5}, []float64{0, 1, 2, 3, 4}}), `tensor mapping: its numbers`},
	} {
		t.Run(name, func(t *testing.T) {
			dir := writeModel(t, c.tokenizer, c.config, c.file)
			m, err := Load(dir)
			if err == nil {
				m.Close()
			}
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), dir) {
				t.Errorf("error %v, want %q and %s in it", err, c.want, dir)
			}
		})
	}
}

// A file that is cut shorter while it is in use is an error and no crash.
func TestShrunkFile(t *testing.T) {
	big := nums{"F32", []int{5, 4096}, make([]float64, 5*4096)}
	for i := range big.values {
		big.values[i] = 1
	}
	dir := writeModel(t, words, "", tensors(t, []string{"embeddings"}, map[string]nums{"embeddings": big}))
	m := load(t, dir)
	if err := os.Truncate(filepath.Join(dir, "model.safetensors"), 4096); err != nil {
		t.Skip("the file can't be cut while it is in use: ", err)
	}
	if _, err := m.Embed("redhouse!"); !errors.Is(err, errShrunk) || !strings.Contains(err.Error(), "model.safetensors") {
		t.Errorf("got %v", err)
	}
}

func TestClosedModel(t *testing.T) {
	m := load(t, writeModel(t, words, "", tensors(t, []string{"embeddings"}, map[string]nums{"embeddings": table})))
	if err := errors.Join(m.Close(), m.Close()); err != nil {
		t.Error(err)
	}
	if _, err := m.Embed("red"); err == nil || !strings.Contains(err.Error(), "is closed") {
		t.Errorf("got %v", err)
	}
}

func TestFolderForAFile(t *testing.T) {
	dir := writeModel(t, "", "", nil)
	if err := os.Mkdir(filepath.Join(dir, "tokenizer.json"), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(dir); err == nil || !strings.Contains(err.Error(), "no regular file") {
		t.Errorf("got %v", err)
	}
}

func TestHalf(t *testing.T) {
	for want, bits := range halves {
		if got := half(bits); float64(got) != want {
			t.Errorf("%#04x is %v, want %v", bits, got, want)
		}
		if got := half(bits ^ 1<<15); float64(got) != -want {
			t.Errorf("%#04x is %v, want %v", bits^1<<15, got, -want)
		}
	}
	if !math.IsInf(float64(half(0x7c00)), 1) || !math.IsNaN(float64(half(0x7e00))) {
		t.Error("infinity or none is a number")
	}
}
