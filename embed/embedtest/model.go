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

// WriteModel makes a small static model in a folder, as provider local loads it:
// words are its tokens, and every one has a vector of the given length that only
// its spelling decides. Like Provider it knows nothing of meaning.
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
