package display

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/memkernel/memkernel/replay"
)

// drawn is a session of n calls under a policy, with a pause and a cut every so many.
func drawn(policy, model string, n, pause, cut int, price float64) *replay.Result {
	r := &replay.Result{Policy: policy, Model: model, ContextWindow: 128_000}
	if price > 0 {
		r.Totals.CostUSD = new(float64)
	}
	at, size := time.Date(2026, 3, 9, 8, 0, 0, 0, time.UTC), 20_000
	for i := range n {
		c := replay.Call{Index: i, Time: at, Gap: i > 0 && pause > 0 && i%pause == 0, Read: size, Write: 900, Uncached: 30}
		if cut > 0 && i%cut == cut-1 {
			c.Cut, size = "full", 20_000
		}
		if c.Gap {
			c.Read, c.Write = 0, size
		}
		c.Input = c.Read + c.Write + c.Uncached
		if price > 0 {
			cost := price * float64(c.Read/10+c.Write) / 1e6
			c.CostUSD = &cost
			*r.Totals.CostUSD += cost
		}
		r.Calls = append(r.Calls, c)
		size, at = size+900, at.Add(20*time.Second)
	}
	return r
}

// TestPictureOfAnySession holds what is true of every picture: it is well-formed XML that
// names itself, of one size of bytes at most and the same every time; every number in it is
// one, all text stands inside, and no two texts stand on each other.
func TestPictureOfAnySession(t *testing.T) {
	const most = 40_000
	hostile := "a</text><script>alert(1)</script>&\"'\x1b[31m\u202e\x00" + strings.Repeat("W", 300)
	two := func(model string, n, pause, cut int, price float64) []*replay.Result {
		return []*replay.Result{drawn(replay.AppendLate, model, n, pause, cut, price), drawn(replay.Memkernel, model, n, pause, cut/2, price/2)}
	}
	three := append(two("m", 5_000, 300, 900, 9), drawn("clear-tool-uses-10", "m", 5_000, 300, 0, 3))
	tests := map[string][]*replay.Result{
		"as usual":      two("claude-opus-4-5", 184, 14, 60, 5),
		"one call":      two("m", 1, 0, 0, 5),
		"two calls":     two("m", 2, 1, 0, 5),
		"no pauses":     two("m", 184, 0, 50, 5),
		"all pauses":    two("m", 400, 1, 0, 5),
		"unpriced":      two("m", 184, 14, 60, 0),
		"hostile names": two(hostile, 50, 9, 20, 5),
		"50,000 calls":  two("m", 50_000, 90, 700, 5),
		"dear":          two("m", 50_000, 90, 700, 5e6),
		"three":         three,
		"far over":      append(two("m", 3_000, 90, 700, 5), drawn(replay.Fullest, "m", 3_000, 90, 0, 5)),
		"one":           {drawn("memkernel-20k", "m", 40, 9, 20, 5)},
		"nothing sent":  {{Policy: "turns", Model: "", Calls: make([]replay.Call, 3)}},
	}
	for name, results := range tests {
		for _, theme := range PictureThemes() {
			t.Run(name+" "+theme, func(t *testing.T) {
				var svg, again bytes.Buffer
				if err := errors.Join(Picture(&svg, results, theme), Picture(&again, results, theme)); err != nil {
					t.Fatal(err)
				}
				if !bytes.Equal(svg.Bytes(), again.Bytes()) {
					t.Error("the same session has two pictures")
				}
				if svg.Len() > most {
					t.Errorf("%d bytes, want at most %d", svg.Len(), most)
				}
				p := readPicture(t, svg.Bytes())
				if p.title == "" || p.desc == "" || !strings.Contains(p.desc, results[0].Policy) {
					t.Errorf("title %q, description %q", p.title, p.desc)
				}
				for i, a := range p.texts {
					if a.x0 < 0 || a.x1 > picWidth || a.y0 < 0 || a.y1 > p.height {
						t.Errorf("%q stands outside: %+v", a.text, a)
					}
					for _, b := range p.texts[:i] {
						if a.x0 < b.x1 && b.x0 < a.x1 && a.y0 < b.y1 && b.y0 < a.y1 {
							t.Errorf("%q stands on %q", a.text, b.text)
						}
					}
				}
				for _, r := range results {
					if want := cents(r.Totals.CostUSD); !strings.Contains(svg.String(), ">"+want+"<") {
						t.Errorf("the end of the line of %s does not say %s", r.Policy, want)
					}
				}
				if strings.Contains(svg.String(), "\x1b") || strings.Contains(svg.String(), "<script") || strings.Contains(svg.String(), "\u202e") {
					t.Error("a name acts on who looks at it")
				}
			})
		}
	}
}

// box is a text and about where it stands, in letters of a wide face.
type box struct {
	text           string
	x0, x1, y0, y1 float64
}

type pictureRead struct {
	title, desc string
	height      float64
	texts       []box
}

// readPicture reads an SVG, and fails over what is no number where one should be.
func readPicture(t *testing.T, svg []byte) pictureRead {
	t.Helper()
	var p pictureRead
	var open xml.StartElement
	d := xml.NewDecoder(bytes.NewReader(svg))
	for {
		tok, err := d.Token()
		if errors.Is(err, io.EOF) {
			return p
		} else if err != nil {
			t.Fatalf("no XML: %v", err)
		}
		switch e := tok.(type) {
		case xml.StartElement:
			open = e.Copy()
			if box := strings.Fields(attribute(e, "viewBox")); len(box) == 4 {
				p.height = number64(t, box[3])
			}
			for _, f := range strings.FieldsFunc(attribute(e, "d"), func(r rune) bool { return strings.ContainsRune("MmLlHhVvZz ", r) }) {
				for _, n := range strings.Fields(strings.ReplaceAll(f, "-", " -")) {
					if v := number64(t, n); math.Abs(v) > 2000 {
						t.Errorf("%s is far outside", n)
					}
				}
			}
		case xml.CharData:
			s := string(e)
			switch open.Name.Local {
			case "title":
				p.title += s
			case "desc":
				p.desc += s
			case "text":
				if strings.TrimSpace(s) == "" {
					continue
				}
				size := float64(picText)
				if f := attribute(open, "font-size"); f != "" {
					size = number64(t, f)
				}
				b := box{text: s, x0: number64(t, attribute(open, "x")), y1: number64(t, attribute(open, "y"))}
				wide := 0.6 * size * float64(Width(s))
				if attribute(open, "font-weight") != "" {
					wide *= 0.7 / 0.6
				}
				if attribute(open, "text-anchor") == "end" {
					b.x0 -= wide
				}
				b.x1, b.y0 = b.x0+wide, b.y1-0.75*size
				p.texts = append(p.texts, b)
			}
		case xml.EndElement:
			open = xml.StartElement{}
		}
	}
}

func attribute(e xml.StartElement, name string) string {
	for _, a := range e.Attr {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

func number64(t *testing.T, s string) float64 {
	t.Helper()
	v, err := strconv.ParseFloat(s, 64)
	if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
		t.Errorf("%q is no number", s)
	}
	return v
}

// TestPictureColumnsKeepSums: however many calls a column stands for, the areas are what
// was sent, the bill ends where it should, and no cut and no pause is lost.
func TestPictureColumnsKeepSums(t *testing.T) {
	for _, n := range []int{1, 2, picColumns - 1, picColumns, picColumns + 1, 3*picColumns + 7, 50_000} {
		r := drawn(replay.Memkernel, "m", n, n-1, n, 5)
		columns := pictureColumns(r.Calls)
		var bars, sent float64
		cuts, pauses := 0, 0
		for i, c := range columns {
			bars += c.top() * float64((i+1)*n/len(columns)-i*n/len(columns))
			cuts, pauses = cuts+count(c.cut), pauses+count(c.pause)
		}
		for _, c := range r.Calls {
			sent += float64(c.Input)
		}
		if len(columns) > picColumns || math.Abs(bars-sent) > 1e-6*sent || math.Abs(columns[len(columns)-1].bill-*r.Totals.CostUSD) > 1e-6 || cuts != 1 || pauses != count(n > 1) {
			t.Errorf("%d calls: %d columns, %.0f tokens of %.0f, bill %f of %f, %d cuts, %d pauses", n, len(columns), bars, sent, columns[len(columns)-1].bill, *r.Totals.CostUSD, cuts, pauses)
		}
	}
}

// TestPictureRefuses: what can't be drawn is an error that says why, and nothing is written.
func TestPictureRefuses(t *testing.T) {
	one := drawn("m", "m", 1, 0, 0, 1)
	for want, draw := range map[string]func(io.Writer) error{
		"no theme \"blue\"":   func(w io.Writer) error { return Picture(w, []*replay.Result{one}, "blue") },
		"one to 3 policies":   func(w io.Writer) error { return Picture(w, []*replay.Result{one, one, one, one}, "light") },
		"not 0":               func(w io.Writer) error { return Picture(w, nil, "light") },
		"nothing to draw: no": func(w io.Writer) error { return Picture(w, []*replay.Result{{}}, "light") },
	} {
		var b bytes.Buffer
		if err := draw(&b); err == nil || !strings.Contains(fmt.Sprint(err), want) || b.Len() > 0 {
			t.Errorf("error %v, want %s; %d bytes", err, want, b.Len())
		}
	}
}
