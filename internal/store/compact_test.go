package store_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/internal/textutil"
)

var compactSeeds = []string{
	"", " ", "{", "}", "{}", "[]", "null", "nul", "true", "false", "falsey", `"`, `""`, `"a`, `"\`, `"\u00e9"`, `"\u00g9"`, `"\x"`, "\"\n\"", "\"\xff\"",
	"0", "-0", "-", "01", "1.", "1.5", ".5", "1e", "1e5", "1E+5", "1e-05", "+1", "1 ", " 1", "[1,2]", "[1, 2]", "[1,]", "[,1]", "[1 2]",
	`{"a":1}`, `{"a": 1}`, `{"a"}`, `{"a":}`, `{a:1}`, `{"a":1,}`, `{"a":1,"b":[{"c":null},"\\\"\/"]}`, "{}{}", "1\n", "\u2028", "\"\u2028<>&\"",
	strings.Repeat("[", 99) + strings.Repeat("]", 99), strings.Repeat("[", 200) + strings.Repeat("]", 200),
}

// The line that is written is the one that encoding/json would have written.
func checkCompact(t *testing.T, body []byte) {
	r := store.Record{Op: "x", ID: "k\"<é>", Time: time.Unix(1, 0).UTC(), Body: body}
	var fast bytes.Buffer
	fastErr := store.EncodeRecord(&fast, &r, new(store.Chain))
	slow, slowErr := textutil.JSON(&r)
	if (fastErr == nil) != (slowErr == nil) {
		t.Fatalf("%q: error %v, encoding/json says %v", body, fastErr, slowErr)
	}
	if fastErr != nil {
		return
	}
	raw, err := store.DecodeLine(bytes.TrimSuffix(fast.Bytes(), []byte("\n")))
	if err != nil || !bytes.Equal(raw, slow) {
		t.Fatalf("%q: wrote %s (%v), want %s", body, raw, err, slow)
	}
}

func TestEncodeRecordEqualsEncodingJSON(t *testing.T) {
	for _, s := range compactSeeds {
		t.Run(fmt.Sprintf("%.20q", s), func(t *testing.T) { checkCompact(t, []byte(s)) })
	}
}

func FuzzEncodeRecord(f *testing.F) {
	for _, s := range compactSeeds {
		f.Add([]byte(s))
	}
	f.Fuzz(checkCompact)
}
