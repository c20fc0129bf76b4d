package represent

import (
	"strconv"
	"strings"

	"github.com/memkernel/memkernel/pagevm/internal/lex"
)

const (
	shapeDepth   = 4       // levels of nesting that a shape shows
	shapeKeys    = 24      // keys of an object that it shows
	shapeMaxScan = 1 << 20 // bytes of JSON that are read for it
)

// jsonShape returns the structure of a JSON text: keys in order, types, and how many elements an
// array has, with its first as the example: {id: number, tags: [3 string]}. Of several
// consecutive documents it describes the first, and says that there are more. The result is at
// most about limit bytes long. jsonShape does not check the text, and returns a harmless result
// for text that is not JSON.
func jsonShape(text string, limit int) string {
	text = strings.TrimSpace(text[:min(len(text), shapeMaxScan)])
	n := lex.ValueLen(text)
	if n <= 0 {
		n = len(text)
	}
	out := string(appendShape(nil, text[:n], shapeDepth, limit))
	if strings.TrimSpace(text[n:]) != "" {
		out += " and more"
	}
	return clip(out, max(limit, len("…")))
}

func appendShape(b []byte, t string, depth, limit int) []byte {
	t = strings.TrimLeft(t, " \t\r\n")
	switch {
	case t == "":
		return append(b, '?')
	case depth == 0 && (t[0] == '{' || t[0] == '['):
		return append(append(append(b, t[0]), "…"...), t[0]+2) // the closing bracket
	case t[0] == '{':
		n := 0
		b = append(b, '{')
		for key, raw := range lex.Members(t) {
			if n > 0 {
				b = append(b, ", "...)
			}
			if n++; n > shapeKeys || len(b) > limit {
				b = append(b, "…"...)
				break
			}
			b = append(append(b, key...), ": "...)
			b = appendShape(b, raw, depth-1, limit)
		}
		return append(b, '}')
	case t[0] == '[':
		b = append(b, '[')
		if list := valuesIn(t, 1); len(list) > 0 {
			b = append(strconv.AppendInt(b, int64(len(list)), 10), ' ')
			b = appendShape(b, t[list[0].start:list[0].end], depth-1, limit)
		}
		return append(b, ']')
	case t[0] == '"':
		return append(b, "string"...)
	case t[0] == 't' || t[0] == 'f':
		return append(b, "bool"...)
	case t[0] == 'n':
		return append(b, "null"...)
	}
	return append(b, "number"...)
}
