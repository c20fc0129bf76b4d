package textutil_test

import (
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"golang.org/x/text/encoding/unicode"

	"github.com/memkernel/memkernel/internal/textutil"
)

// TestWindowsText: notes that Notepad and PowerShell save are read as they were typed.
func TestWindowsText(t *testing.T) {
	const note = "# Größe\r\n\r\nThe depot opens at 7 🦭, 東京 too\r\n"
	for name, order := range map[string]unicode.Endianness{"little": unicode.LittleEndian, "big": unicode.BigEndian} {
		for _, mark := range []unicode.BOMPolicy{unicode.UseBOM, unicode.IgnoreBOM} {
			raw, err := unicode.UTF16(order, mark).NewEncoder().String(note)
			if err != nil {
				t.Fatal(err)
			}
			if got := textutil.UTF8(raw); got != note {
				t.Errorf("%s, %v: %q", name, mark, got)
			}
			got, err := io.ReadAll(textutil.UTF8Reader(iotest.OneByteReader(strings.NewReader(raw))))
			if err != nil || string(got) != note {
				t.Errorf("%s, %v, read: %q, %v", name, mark, got, err)
			}
		}
	}
	if got := textutil.UTF8("\xff\xfea\x00b"); got != "a\uFFFD" {
		t.Errorf("cut short: %q", got)
	}
}

// TestOtherText passes as it is: UTF-8, old encodings, and what is no text.
func TestOtherText(t *testing.T) {
	for _, s := range []string{"", "a", "\x00", "plain", "\xef\xbb\xbfmarked", "gr\xf6\xdfe", "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR", "a\x00b", "\x00\x00\x00\x00", "\xff\xfe\x00\x00a\x00\x00\x00", strings.Repeat("a", 4000) + "\x00b"} {
		if got := textutil.UTF8(s); got != s {
			t.Errorf("%q became %q", s, got)
		}
		if got, err := io.ReadAll(textutil.UTF8Reader(strings.NewReader(s))); err != nil || string(got) != s {
			t.Errorf("%q is read as %q, %v", s, got, err)
		}
	}
}
