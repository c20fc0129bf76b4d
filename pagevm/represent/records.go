package represent

import (
	"bytes"
	"encoding/json"
	"strings"
	"unicode/utf8"

	"github.com/memkernel/memkernel/pagevm/internal/lex"
)

// smallMember is the size in bytes up to which a member of an object is shown whole whatever
// its neighbours need.
const smallMember = 200

// maxFlat is the size in bytes, without indentation, up to which a JSON text is shown whole.
const maxFlat = 2 * doorBytes

// shortJSON returns a JSON text without its indentation if that is at least a quarter of the text
// and at most maxFlat bytes remain. For any other JSON text it returns at most limit bytes. Of a
// long array it keeps the first elements, the last element, and elements that name errors. Of an
// object it keeps all members and shortens the long ones. Of a long string it keeps the beginning.
// A count stands in place of left-out elements. It shortens several consecutive JSON values like
// the elements of an array. It returns "" for a text that is not JSON, and if the limit is too
// small.
func shortJSON(text string, limit int) string {
	text = strings.TrimSpace(text)
	docs := valuesIn(text, 0)
	var flat bytes.Buffer
	for i, d := range docs {
		if i > 0 {
			flat.WriteByte('\n')
		}
		if json.Compact(&flat, []byte(text[d.start:d.end])) != nil {
			return ""
		}
	}
	if len(docs) == 0 || docs[len(docs)-1].end < len(text) {
		return ""
	}
	if 4*flat.Len() <= 3*len(text) && flat.Len() <= maxFlat {
		return flat.String()
	}
	for room := limit; room > limit/4; room = room * 9 / 10 {
		out := ""
		if len(docs) > 1 {
			out = shortElements(text, docs, room)
		} else {
			out = shortValue(text, room)
		}
		if len(out) <= limit {
			return out
		}
	}
	return ""
}

// span is a part of a text.
type span struct{ start, end int }

// valuesIn returns the positions in raw of an array's elements, or of the values of an object's
// members. If from is 0, raw is one or several JSON values, and valuesIn returns their positions.
// It stops at the first byte that is not JSON.
func valuesIn(raw string, from int) (out []span) {
	skip := func(i int, chars string) int { return len(raw) - len(strings.TrimLeft(raw[i:], chars)) }
	for i := from; ; {
		if i = skip(i, " \t\r\n,"); i >= len(raw) {
			return out
		}
		if from > 0 && raw[0] == '{' {
			n := lex.StringEnd(raw[i:])
			if n < 0 {
				return out
			}
			if i = skip(i+n, " \t\r\n"); i >= len(raw) || raw[i] != ':' {
				return out
			}
			i = skip(i+1, " \t\r\n")
		}
		n := lex.ValueLen(raw[i:])
		if n <= 0 {
			return out
		}
		out = append(out, span{i, i + n})
		i += n
	}
}

func shortValue(raw string, limit int) string {
	switch {
	case len(raw) <= limit:
		return raw
	case raw[0] == '[':
		return shortElements(raw, valuesIn(raw, 1), limit)
	case raw[0] == '{':
		return shortMembers(raw, valuesIn(raw, 1), limit)
	}
	end := max(limit, 1)
	for end > 1 && !utf8.RuneStart(raw[end]) {
		end--
	}
	return raw[:end] + "[… " + sizeText(int64(len(raw)-end)) + " left out]"
}

// inLongStrings returns how many bytes of a JSON text are in strings that are too long to be
// shown whole.
func inLongStrings(text string) (bytes int) {
	for {
		i := strings.IndexByte(text, '"')
		if i < 0 {
			return bytes
		}
		n := lex.StringEnd(text[i:])
		if n < 0 {
			return bytes + len(text) - i
		}
		if n > smallMember {
			bytes += n
		}
		text = text[i+n:]
	}
}

// shortElements chooses elements from the front, but keeps a third of the limit for elements that
// name errors, and for the last element. If a quarter of the elements seem to name an error, the
// cause is a field's name.
func shortElements(raw string, list []span, limit int) string {
	if len(list) == 0 {
		return raw
	}
	var bad []int
	for i, e := range list {
		if tellsError(raw[e.start:e.end]) {
			bad = append(bad, i)
		}
	}
	if 4*len(bad) >= len(list) {
		bad = nil
	}
	shown := make([]string, len(list))
	room := limit
	show := func(i, least int) bool {
		if shown[i] == "" && room > least {
			shown[i] = shortValue(raw[list[i].start:list[i].end], max(limit/4, smallMember))
			room -= len(shown[i]) + 2
			if i > 0 && shown[i-1] == "" {
				room -= markBytes
			}
		}
		return shown[i] != ""
	}
	show(len(list)-1, 0)
	for _, i := range bad {
		show(i, limit*2/3)
	}
	for i := 0; i < len(list) && show(i, 0); i++ {
	}
	var b strings.Builder
	b.WriteString(raw[:list[0].start])
	left := 0
	for i, s := range shown {
		switch {
		case s == "":
			left++
			continue
		case left > 0:
			b.WriteString("\n[… " + plural(left, "element") + " left out]\n")
			left = 0
		case i > 0:
			b.WriteString(raw[list[i-1].end:list[i].start])
		}
		b.WriteString(s)
	}
	return b.String() + raw[list[len(list)-1].end:]
}

// shortMembers shows all members. It divides the room that the short members leave equally among
// the long members.
func shortMembers(raw string, list []span, limit int) string {
	room, long := limit, 0
	at := 0
	for _, v := range list {
		if room -= v.start - at; v.end-v.start > smallMember {
			long++
		} else {
			room -= v.end - v.start
		}
		at = v.end
	}
	part := smallMember
	if long > 0 {
		part = max(room/long-markBytes, smallMember)
	}
	var b strings.Builder
	at = 0
	for i, v := range list {
		if b.Len() > 2*limit {
			b.WriteString("\n[… " + plural(len(list)-i, "member") + " left out]\n")
			at = list[len(list)-1].end
			break
		}
		b.WriteString(raw[at:v.start])
		b.WriteString(shortValue(raw[v.start:v.end], part))
		at = v.end
	}
	return b.String() + raw[at:]
}
