package mask

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Payload is binary content that was in a text as base64.
type Payload struct {
	// Type is the media type from a data URL, "" if there was no data URL.
	Type string
	// Data is the decoded content with secrets masked. Hash is its sha256 in hex.
	Data string
	Hash string
}

const (
	// minPayload is the least size of base64 that is lifted, in characters. Certificates, public
	// keys and the like are smaller and stay in the text.
	minPayload = 2 << 10
	// payloadLine is the shortest line that base64 is broken into (PEM has 64, MIME 76).
	payloadLine = 60
	// payloadEntropy is the least entropy, in bits per character, of base64 whose content is not
	// text. Random bytes have 6, hexadecimal digits 4.
	payloadEntropy = 4.8
)

// LiftBase64 takes binary content out of a text: runs of base64 of at least two kibibytes, on one
// line or on lines of one length. A note with size and hash replaces each run, and LiftBase64
// returns the decoded content. If s holds no such run, LiftBase64 returns s itself and allocates
// nothing. Lifting twice changes nothing. Secrets in decoded text are masked.
func (m *Masker) LiftBase64(s string) (string, []Payload) {
	if len(s) < minPayload {
		return s, nil
	}
	e := edit{s: s}
	var found []Payload
	for i := nextRun(s, 0, payloadLine, &base64Set); i < len(s); i = nextRun(s, i, payloadLine, &base64Set) {
		end := payloadEnd(s, i)
		p, ok := m.decodePayload(s[i:end])
		if ok {
			p.Type = dataType(s[:i])
			e.replace(i, end, p.note())
			found = append(found, p)
		}
		i = max(end, i+payloadLine)
	}
	return e.text(), found
}

// note returns the text that replaces a payload.
func (p *Payload) note() string {
	n := "[base64 of " + strconv.Itoa(len(p.Data)) + " bytes"
	if p.Type != "" {
		n += " of " + p.Type
	}
	return n + ", blob " + p.Hash + "]"
}

// nextRun returns the beginning of the next run of at least n bytes of the set, or len(s) if
// there is none. It looks at one byte in n until one fits.
func nextRun(s string, i, n int, set *[256]bool) int {
	for j := i + n - 1; j < len(s); {
		k := j
		for k >= i && set[s[k]] {
			k--
		}
		if k < i {
			return i
		}
		i = k + 1
		j = i + n - 1
	}
	return len(s)
}

// setOf returns the set of bytes for which has is true.
func setOf(has func(byte) bool) (set [256]bool) {
	for c := range set {
		set[c] = has(byte(c))
	}
	return set
}

var base64Set, valueSet = setOf(base64Byte), setOf(valueByte)

// payloadEnd returns the end of a run that begins at i. The next lines belong to the run if they
// have the length of its first line. The last line may be shorter.
func payloadEnd(s string, i int) int {
	end := lineEnd(s, i)
	width := end - i
	for {
		next := skipBreak(s, end)
		if next == end {
			return end
		}
		stop := lineEnd(s, next)
		if stop == next || stop-next > width {
			return end
		}
		if stop-next < width {
			if stop < len(s) && skipBreak(s, stop) == stop && s[stop] != '"' {
				return end // not all of the line is base64
			}
			return stop
		}
		end = stop
	}
}

func lineEnd(s string, i int) int {
	for i < len(s) && base64Byte(s[i]) {
		i++
	}
	return i
}

// skipBreak steps over one line break, real or escaped.
func skipBreak(s string, i int) int {
	for _, b := range [...]string{"\n", "\r\n", `\n`, `\r\n`} {
		if strings.HasPrefix(s[i:], b) {
			return i + len(b)
		}
	}
	return i
}

var unbreak = strings.NewReplacer("\n", "", "\r", "", `\n`, "", `\r`, "")

// decodePayload decodes a run if it is base64 of binary content. If a run was cut off in the
// middle of four characters, decodePayload decodes the complete groups of four.
func (m *Masker) decodePayload(run string) (Payload, bool) {
	if len(run) < minPayload {
		return Payload{}, false
	}
	flat := unbreak.Replace(run)
	if len(flat) < minPayload || digits(flat) == 0 || entropy(flat) < payloadEntropy {
		return Payload{}, false
	}
	flat = strings.TrimRight(flat, "=")
	if len(flat)%4 == 1 {
		flat = flat[:len(flat)-1]
	}
	data, err := base64.RawStdEncoding.DecodeString(flat)
	if err != nil {
		return Payload{}, false
	}
	text := string(data)
	if utf8.ValidString(text) {
		text, _ = m.Mask(text)
	}
	sum := sha256.Sum256([]byte(text))
	return Payload{Data: text, Hash: hex.EncodeToString(sum[:])}, true
}

// dataType returns the media type of a data URL that ends before its content.
func dataType(before string) string {
	before, ok := strings.CutSuffix(before[max(0, len(before)-100):], ";base64,")
	i := strings.LastIndex(before, "data:")
	if !ok || i < 0 || strings.ContainsAny(before[i:], " \n\"'") {
		return ""
	}
	return before[i+len("data:"):]
}
