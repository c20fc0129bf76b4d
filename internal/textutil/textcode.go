package textutil

import (
	"bufio"
	"io"
	"strings"

	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"
)

// sample is the number of bytes that decide the encoding of a text.
const sample = 1024

// UTF8Reader returns a reader of r's text in UTF-8. Text in UTF-16 loses its byte-order mark,
// and half a character becomes U+FFFD. Errors of r are returned by the reader.
func UTF8Reader(r io.Reader) io.Reader {
	br := bufio.NewReader(r)
	head, _ := br.Peek(sample)
	if order, ok := utf16Order(string(head)); ok {
		return transform.NewReader(br, unicode.UTF16(order, unicode.UseBOM).NewDecoder())
	}
	return br
}

// UTF8 returns s in UTF-8, as UTF8Reader reads it.
func UTF8(s string) string {
	if order, ok := utf16Order(s); ok {
		s, _ = unicode.UTF16(order, unicode.UseBOM).NewDecoder().String(s)
	}
	return s
}

// IsUTF16 reports whether a file is in UTF-16. Offsets in its text, decoded to UTF-8, are then no
// offsets in the file.
func IsUTF16(f io.ReaderAt) bool {
	head := make([]byte, sample)
	n, _ := f.ReadAt(head, 0) // the reader of the file reports the error
	_, ok := utf16Order(string(head[:n]))
	return ok
}

// utf16Order reports whether a text is in UTF-16, and returns the order of its bytes. In a text
// without a byte-order mark, the same byte of nearly every pair must be zero, and the other byte
// must never be zero.
func utf16Order(s string) (order unicode.Endianness, ok bool) {
	if strings.HasPrefix(s, "\xff\xfe") || strings.HasPrefix(s, "\xfe\xff") {
		return unicode.LittleEndian, !strings.HasPrefix(s, "\xff\xfe\x00\x00")
	}
	var zeros [2]int
	head := s[:min(len(s), sample)]
	for i := range len(head) {
		if head[i] == 0 {
			zeros[i%2]++
		}
	}
	few := max(2, len(head)*2/5)
	return unicode.Endianness(zeros[1] > 0), min(zeros[0], zeros[1]) == 0 && zeros[0]+zeros[1] >= few
}
