package embedtest

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"math"
	"os"
	"path/filepath"
)

// WriteModel writes a small static model to a folder, for provider local. Its tokens are words. The
// vector of each has the given length and depends only on the word's spelling, not on its meaning.
func WriteModel(dir string, length int, words ...string) error {
	vocab := map[string]int{"[UNK]": 0}
	for _, w := range words {
		if _, twice := vocab[w]; !twice {
			vocab[w] = len(vocab)
		}
	}
	tokenizer, err := json.Marshal(map[string]any{
		"normalizer":    map[string]any{"type": "BertNormalizer", "lowercase": true},
		"pre_tokenizer": map[string]any{"type": "BertPreTokenizer"},
		"model":         map[string]any{"type": "WordLevel", "unk_token": "[UNK]", "vocab": vocab},
	})
	if err != nil {
		return err
	}
	data := make([]byte, 4*length*len(vocab))
	for word, id := range vocab {
		for i := range length {
			h := fnv.New32a()
			fmt.Fprint(h, word, " ", i)
			x := float32(h.Sum32())/math.MaxUint32 - 0.5
			binary.LittleEndian.PutUint32(data[4*(id*length+i):], math.Float32bits(x))
		}
	}
	head := fmt.Sprintf(`{"embeddings":{"dtype":"F32","shape":[%d,%d],"data_offsets":[0,%d]}}`, len(vocab), length, len(data))
	file := append(append(binary.LittleEndian.AppendUint64(nil, uint64(len(head))), head...), data...)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	for name, content := range map[string][]byte{"tokenizer.json": tokenizer, "config.json": []byte(`{"model_type":"model2vec","normalize":true}`), "model.safetensors": file} {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
			return err
		}
	}
	return nil
}
