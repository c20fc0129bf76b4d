package static

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
)

// Model is a static embedding model. It is safe for concurrent use.
type Model struct {
	dir       string
	tok       *tokenizer
	normalize bool
	mark      string

	file  *os.File
	table tensor
	// weights holds the weight of each token, and rows its row in the table. Each is nil if the
	// model has none.
	weights, rows []float64
}

const (
	// textTokens is the number of tokens of a text that count, the same as in model2vec.
	textTokens = 512

	maxTokenizerBytes = 256 << 20
	maxConfigBytes    = 1 << 20
	maxDim            = 1 << 16
)

// ErrNoToken is returned for a text without a token that the model knows.
var ErrNoToken = errors.New("the model knows no word of it")

// Load reads the model in a folder.
func Load(dir string) (*Model, error) {
	m := &Model{dir: dir}
	tokens, err := readFile(filepath.Join(dir, "tokenizer.json"), maxTokenizerBytes)
	if err != nil {
		return nil, fmt.Errorf("load model: %w", missing(err, dir))
	}
	if m.tok, err = parseTokenizer(tokens); err != nil {
		return nil, fmt.Errorf("load model: %s: %w", filepath.Join(dir, "tokenizer.json"), err)
	}
	conf, err := m.configure()
	if err != nil {
		return nil, fmt.Errorf("load model: %w", err)
	}
	path := filepath.Join(dir, "model.safetensors")
	if m.file, err = openRegular(path); err != nil {
		return nil, fmt.Errorf("load model: %w", missing(err, dir))
	}
	if err = m.open(tokens, conf); err != nil {
		return nil, errors.Join(fmt.Errorf("load model: %s: %w", path, err), m.Close())
	}
	return m, nil
}

// open reads the file's header and the numbers by token, and makes the fingerprint.
func (m *Model) open(tokens, conf []byte) error {
	st, err := m.file.Stat()
	if err == nil {
		err = m.tensors(m.file, st.Size())
	}
	if err == nil {
		m.mark, err = fingerprint(tokens, conf, m.file, st.Size())
	}
	return err
}

// openRegular opens a regular file. It refuses others, because a pipe may block and a device may have
// no end.
func openRegular(path string) (*os.File, error) {
	st, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !st.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is no regular file", path)
	}
	return os.Open(path)
}

// missing adds to the error of a missing file which files the folder must hold.
func missing(err error, dir string) error {
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return fmt.Errorf("%w: %s must hold tokenizer.json and model.safetensors of a Model2Vec model", err, dir)
}

func readFile(path string, limit int64) ([]byte, error) {
	f, err := openRegular(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(b)) > limit {
		err = fmt.Errorf("%s has more than %d bytes", path, limit)
	}
	return b, err
}

// configure reads config.json, which may be missing.
func (m *Model) configure() ([]byte, error) {
	c := struct {
		Normalize *bool `json:"normalize"`
	}{}
	path := filepath.Join(m.dir, "config.json")
	b, err := readFile(path, maxConfigBytes)
	if err == nil {
		if err = json.Unmarshal(b, &c); err != nil {
			err = fmt.Errorf("%s: %w", path, err)
		}
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	m.normalize = c.Normalize == nil || *c.Normalize
	return b, nil
}

// tensors finds the model's tensors in its file and compares their shapes with each other and
// with the tokenizer.
func (m *Model) tensors(file io.ReaderAt, size int64) error {
	ts, err := parseTensors(file, size)
	if err != nil {
		return err
	}
	var ok bool
	if m.table, ok = ts["embeddings"]; !ok {
		if m.table, ok = ts["embedding.weight"]; !ok { // Sentence Transformers' name
			return errors.New(`it has no tensor "embeddings": it is no Model2Vec model`)
		}
	}
	if err := m.table.of(reals); err != nil {
		return fmt.Errorf("tensor embeddings: %w", err)
	}
	if s := m.table.shape; len(s) != 2 || s[0] == 0 || s[1] == 0 || s[1] > maxDim {
		return fmt.Errorf("tensor embeddings: shape %v is not rows and length", s)
	}
	rows, tokens := m.table.shape[0], m.tok.tokens
	perToken := func(name string, kinds []string) (out []float64, err error) {
		t, ok := ts[name]
		if !ok {
			return nil, nil
		}
		if err = t.of(kinds); err == nil && (len(t.shape) != 1 || t.shape[0] < tokens) {
			err = fmt.Errorf("shape %v is not one number for each of %d tokens", t.shape, tokens)
		}
		if err == nil {
			out, err = t.read(file, 0, t.shape[0])
		}
		if err != nil {
			return nil, fmt.Errorf("tensor %s: %w", name, err)
		}
		return out, nil
	}
	if m.weights, err = perToken("weights", reals); err != nil {
		return err
	}
	if m.rows, err = perToken("mapping", wholes); err != nil {
		return err
	}
	if m.rows == nil && tokens > rows {
		return fmt.Errorf("tensor embeddings: it has %d rows, tokenizer.json %d tokens: they are not of one model", rows, tokens)
	}
	for i, r := range m.rows {
		if r < 0 || r >= float64(rows) {
			return fmt.Errorf("tensor mapping: token %d is row %.0f of %d", i, r, rows)
		}
	}
	return nil
}

// samples is the number of blocks of the tensors' file in the fingerprint. sampleBytes is the size of a
// block.
const (
	samples     = 256
	sampleBytes = 4 << 10
)

// fingerprint returns a hash of the tokenizer, the settings, and the size, beginning and evenly spread
// blocks of the tensors' file. The numbers of two models differ nearly everywhere, so blocks suffice.
func fingerprint(tokens, conf []byte, file io.ReaderAt, size int64) (string, error) {
	h := sha256.New()
	fmt.Fprintf(h, "%d %d %d\n", len(tokens), len(conf), size)
	h.Write(tokens)
	h.Write(conf)
	for at := int64(0); at < size; at += max(sampleBytes, size/samples) {
		if _, err := io.Copy(h, io.NewSectionReader(file, at, sampleBytes)); err != nil {
			return "", err
		}
	}
	return hex.EncodeToString(h.Sum(nil)[:8]), nil
}

// Name returns the folder's own name.
func (m *Model) Name() string { return filepath.Base(m.dir) }

// Dir returns the folder.
func (m *Model) Dir() string { return m.dir }

// Fingerprint returns an identifier of the model that does not depend on the place of its folder.
func (m *Model) Fingerprint() string { return m.mark }

// Dim returns the length of the vectors.
func (m *Model) Dim() int { return m.table.shape[1] }

// Close releases the file. After Close, Embed returns an error.
func (m *Model) Close() error {
	if err := m.file.Close(); !errors.Is(err, os.ErrClosed) {
		return err
	}
	return nil
}

// Embed returns the vector of a text. Of a long text only the first textTokens tokens count.
func (m *Model) Embed(text string) ([]float32, error) {
	ids, err := m.tok.encode(text)
	if err != nil {
		return nil, fmt.Errorf("embed: %s: %w", filepath.Join(m.dir, "tokenizer.json"), err)
	}
	ids = ids[:min(len(ids), textTokens)]
	if len(ids) == 0 {
		return nil, ErrNoToken
	}
	sum := make([]float64, m.Dim())
	for _, id := range ids {
		switch err := m.add(m.file, sum, id); {
		case errors.Is(err, os.ErrClosed):
			return nil, fmt.Errorf("embed: model %s is closed", m.dir)
		case err != nil:
			return nil, fmt.Errorf("embed: %s: %w: %w", m.file.Name(), errShrunk, err)
		}
	}
	return m.mean(sum, len(ids)), nil
}

// errShrunk means that a part of the model's file is missing.
var errShrunk = errors.New("the file shrank or can't be read any more: put it back whole, and start again")

// add reads a token's row from the file and adds it to sum.
func (m *Model) add(file io.ReaderAt, sum []float64, id int) error {
	row, weight := id, 1.0
	if m.weights != nil {
		weight = m.weights[id]
	}
	if m.rows != nil {
		row = int(m.rows[id])
	}
	values, err := m.table.read(file, row*len(sum), len(sum))
	for i, v := range values {
		sum[i] += weight * v
	}
	return err
}

// mean returns sum divided by n, scaled to length 1 if the model requires it.
func (m *Model) mean(sum []float64, n int) []float32 {
	var square float64
	for i := range sum {
		sum[i] /= float64(n)
		square += sum[i] * sum[i]
	}
	scale := 1.0
	if m.normalize && square > 0 {
		scale = 1 / math.Sqrt(square)
	}
	out := make([]float32, len(sum))
	for i := range sum {
		out[i] = float32(sum[i] * scale)
	}
	return out
}
