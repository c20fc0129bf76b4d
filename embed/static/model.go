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
	"path/filepath"
	"sync"
)

// Model is a static embedding model. It is safe for concurrent use.
type Model struct {
	dir       string
	tok       *tokenizer
	normalize bool
	mark      string

	mu    sync.RWMutex // held for writing by Close
	file  *mapping
	table tensor
	// weights and rows are by token. They have no data if the model has none.
	weights, rows tensor
}

const (
	// textTokens is how many tokens of a text count, as with model2vec.
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
	if m.file, err = openMapping(path); err != nil {
		return nil, fmt.Errorf("load model: %w", missing(err, dir))
	}
	err = m.file.guard(func() error {
		if err := m.tensors(); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		m.mark = fingerprint(tokens, conf, m.file.data)
		return nil
	})
	if err != nil {
		return nil, errors.Join(fmt.Errorf("load model: %w", err), m.file.close())
	}
	return m, nil
}

// missing adds the files that the folder should have.
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

// tensors finds the model's and holds them against each other and the tokenizer.
func (m *Model) tensors() error {
	ts, err := parseTensors(m.file.data)
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
	perToken := func(name string, kinds []string) (tensor, error) {
		t, ok := ts[name]
		if !ok {
			return t, nil
		}
		err := t.of(kinds)
		if err == nil && (len(t.shape) != 1 || t.shape[0] < tokens) {
			err = fmt.Errorf("shape %v is not one number for each of %d tokens", t.shape, tokens)
		}
		if err != nil {
			return t, fmt.Errorf("tensor %s: %w", name, err)
		}
		return t, nil
	}
	if m.weights, err = perToken("weights", reals); err != nil {
		return err
	}
	if m.rows, err = perToken("mapping", wholes); err != nil {
		return err
	}
	if m.rows.data == nil {
		if tokens > rows {
			return fmt.Errorf("tensor embeddings: it has %d rows, tokenizer.json %d tokens: they are not of one model", rows, tokens)
		}
		return nil
	}
	for i := range m.rows.shape[0] {
		if r := m.rows.at(i); r < 0 || r >= float64(rows) {
			return fmt.Errorf("tensor mapping: token %d is row %.0f of %d", i, r, rows)
		}
	}
	return nil
}

// samples is how many blocks of the tensors' file are part of the fingerprint.
const (
	samples     = 256
	sampleBytes = 4 << 10
)

// fingerprint identifies a model by its tokenizer, settings, and the size,
// header and evenly spread blocks of the tensors: two models differ all over.
func fingerprint(tokens, conf, tensors []byte) string {
	h := sha256.New()
	fmt.Fprintf(h, "%d %d %d\n", len(tokens), len(conf), len(tensors))
	h.Write(tokens)
	h.Write(conf)
	step := max(sampleBytes, len(tensors)/samples)
	for at := 0; at < len(tensors); at += step {
		h.Write(tensors[at:min(at+sampleBytes, len(tensors))])
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}

// Name returns the folder's own name.
func (m *Model) Name() string { return filepath.Base(m.dir) }

// Dir returns the folder.
func (m *Model) Dir() string { return m.dir }

// Fingerprint identifies the model, wherever its folder is.
func (m *Model) Fingerprint() string { return m.mark }

// Dim returns the length of the vectors.
func (m *Model) Dim() int { return m.table.shape[1] }

// Close releases the file. After Close, Embed returns an error.
func (m *Model) Close() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.file.close()
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
	m.mu.RLock()
	defer m.mu.RUnlock()
	if m.file.data == nil {
		return nil, fmt.Errorf("embed: model %s is closed", m.dir)
	}
	sum := make([]float64, m.Dim())
	err = m.file.guard(func() error {
		for _, id := range ids {
			m.add(sum, id)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("embed: %w", err)
	}
	return m.mean(sum, len(ids)), nil
}

// add adds a token's row.
func (m *Model) add(sum []float64, id int) {
	row, weight := id, 1.0
	if m.weights.data != nil {
		weight = m.weights.at(id)
	}
	if m.rows.data != nil {
		// another process may have written to the file since it was checked
		row = int(min(max(0, m.rows.at(id)), float64(m.table.shape[0]-1)))
	}
	from := row * len(sum)
	for i := range sum {
		sum[i] += weight * m.table.at(from+i)
	}
}

// mean returns the sum over n tokens, and of length 1 if the model wants that.
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
