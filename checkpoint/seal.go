package checkpoint

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
)

// sealVersion is the version of a sealed document, which is one JSON object on a
// line:
//
//	{"version":2,"sha256":"<of body>","body":{…}}
//
// A document of version 1 consists of the body alone.
const sealVersion = 2

type sealed struct {
	Version int             `json:"version"`
	SHA256  string          `json:"sha256"`
	Body    json.RawMessage `json:"body"`
}

// seal marshals v into a document with a hash, by which unseal detects damage.
func seal(v any) ([]byte, error) {
	body, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(body)
	return fmt.Appendf(nil, `{"version":%d,"sha256":"%s","body":%s}`+"\n", sealVersion, hex.EncodeToString(sum[:]), body), nil
}

// unseal reads a document of the current version or of version 1.
func unseal(data []byte, to any) error {
	var d sealed
	if err := json.Unmarshal(data, &d); err != nil {
		return err
	}
	switch {
	case d.Version > sealVersion:
		return fmt.Errorf("version %d, this program knows %d: %w: use a newer program, or remove the file", d.Version, sealVersion, errNewer)
	case d.Version == 1 && d.Body == nil && d.SHA256 == "":
		return json.Unmarshal(data, to)
	}
	sum := sha256.Sum256(d.Body)
	if whole := fmt.Appendf(nil, `{"version":%d,"sha256":"%s","body":%s}`+"\n", sealVersion, hex.EncodeToString(sum[:]), d.Body); !bytes.Equal(whole, data) {
		return errors.New("its content does not match its sha256")
	}
	return json.Unmarshal(d.Body, to)
}
