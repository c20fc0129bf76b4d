package ingest

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/memkernel/memkernel/pagevm"
	"pgregory.net/rapid"
)

// fill sets every field of a struct, however deep, to something that is not zero.
func fill(v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		v.SetString("<a & \"b\">\u2028\n")
	case reflect.Int, reflect.Int64:
		v.SetInt(7)
	case reflect.Uint8:
		v.SetUint(uint64(pagevm.Structured))
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem())
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		e := reflect.New(v.Type().Elem()).Elem()
		fill(e)
		v.SetMapIndex(reflect.ValueOf("rule"), e)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		fill(v.Index(0))
		fill(v.Index(1))
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			v.Set(reflect.ValueOf(time.Unix(1_700_000_000, 123_000_000).UTC()))
			return
		}
		for i := range v.NumField() {
			fill(v.Field(i))
		}
	}
}

// A field that is added to a page must be written too.
func TestEveryFieldOfAPageIsWritten(t *testing.T) {
	var p pagevm.Page
	fill(reflect.ValueOf(&p).Elem())
	checkPageJSON(t, &p)
}

func TestPageJSONDecodesLikeEncodingJSON(t *testing.T) {
	text := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"", "\xff\xfeé\u2028", "a\x00\x1f\x7f\"\\/\b\f", "<&>"}))
	rapid.Check(t, func(t *rapid.T) {
		p := &pagevm.Page{ID: text.Draw(t, "id"), MessageKey: text.Draw(t, "key"), Tool: text.Draw(t, "tool"), Hash: text.Draw(t, "hash"),
			Bytes: rapid.Int64().Draw(t, "bytes"), Masked: rapid.IntRange(-1, 2).Draw(t, "masked"),
			Created: time.Unix(rapid.Int64Range(0, 1<<33).Draw(t, "s"), rapid.Int64Range(0, 999).Draw(t, "ns")).UTC()}
		for range rapid.IntRange(0, 3).Draw(t, "reps") {
			p.Reps = append(p.Reps, pagevm.Rep{Level: pagevm.Level(rapid.IntRange(0, 4).Draw(t, "level")), Text: text.Draw(t, "text")})
		}
		checkPageJSON(t, p)
	})
}

func checkPageJSON(t interface{ Fatalf(string, ...any) }, p *pagevm.Page) {
	got, err := appendPage(nil, p)
	if err != nil {
		t.Fatalf("append page: %v", err)
	}
	want, err := json.Marshal(p)
	if err != nil {
		t.Fatalf("marshal page: %v", err)
	}
	var a, b pagevm.Page
	if err := json.Unmarshal(got, &a); err != nil {
		t.Fatalf("decode %s: %v", got, err)
	}
	json.Unmarshal(want, &b)
	if d := cmp.Diff(b, a); d != "" {
		t.Fatalf("differs from encoding/json (-want +got):\n%s", d)
	}
}

func TestCaptureJSON(t *testing.T) {
	page := func(id, hash string) *pagevm.Page { return &pagevm.Page{ID: id, Hash: hash} }
	for _, c := range []struct {
		name string
		fill func(*Pages)
		want map[string]string
	}{
		{"nothing", func(*Pages) {}, nil},
		{"small", func(c *Pages) { c.add(page("a", "1"), "x\ny"); c.add(page("b", "2"), "") }, map[string]string{"a": "x\ny", "b": ""}},
		{"large", func(c *Pages) { c.add(page("a", "1"), strings.Repeat("x", inlineBytes+1)) }, nil},
		{"not UTF-8", func(c *Pages) { c.add(page("a", "1"), "x\xff") }, nil},
		{"twice", func(c *Pages) { c.add(page("a", "1"), "old"); c.add(page("a", "2"), "new") }, map[string]string{"a": "new"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			out := &Pages{}
			c.fill(out)
			raw, err := out.AppendJSON(nil)
			if err != nil {
				t.Fatal(err)
			}
			var b Body
			if err := json.Unmarshal(raw, &b); err != nil {
				t.Fatalf("%s: %v", raw, err)
			}
			if d := cmp.Diff(Body{Pages: out.New, Content: c.want}, b, cmpopts.EquateEmpty()); d != "" {
				t.Errorf("-want +got:\n%s", d)
			}
		})
	}
}

func FuzzAppendString(f *testing.F) {
	for _, s := range []string{"", "plain", "\"\\\n\t\r\b\f\x00\x1f\x7f", "é\u2028\u2029<>&", "\xff\xc3(", "\xed\xa0\x80", "\uFFFD", "👍🏽"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		var got, want string
		if err := json.Unmarshal(appendString(nil, s), &got); err != nil {
			t.Fatalf("%q: %v", s, err)
		}
		raw, _ := json.Marshal(s)
		json.Unmarshal(raw, &want)
		if got != want {
			t.Errorf("%q reads back as %q, encoding/json says %q", s, got, want)
		}
	})
}
