package transcript

import (
	"bytes"
	"encoding/json"
	"os"
	"testing"

	"pgregory.net/rapid"
)

// TestMutilatedFiles edits the samples at random. Whatever comes out, reading
// must not panic, skipping must lose no byte, and the views must repair into
// something valid that renders as JSON.
func TestMutilatedFiles(t *testing.T) {
	var samples [][]byte
	for _, path := range testdata(t) {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		samples = append(samples, data)
	}
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, len(samples)-1).Draw(t, "sample")
		data := mutilate(t, bytes.Clone(samples[n]))
		d, err := Detect(samples[n])
		if err != nil {
			t.Fatal(err)
		}
		opt := &Options{Dialect: d, SkipBroken: true}
		s, err := Load(bytes.NewReader(data), "x", opt)
		if err != nil {
			return
		}
		var out bytes.Buffer
		for rec, err := range Stream(bytes.NewReader(data), opt) {
			if err != nil {
				t.Fatal(err)
			}
			out.WriteString(rec.Lead + rec.Raw + rec.Tail)
		}
		if !bytes.Equal(out.Bytes(), data) {
			t.Fatalf("written back differently:\n%s\nwas\n%s", out.Bytes(), data)
		}
		for branch := range s.lines {
			checkView(t, s, Host, branch)
			checkView(t, s, Full, branch)
		}
	})
}

func checkView(t *rapid.T, s *Session, v View, branch string) {
	msgs, _ := Repair(s.ViewBranch(v, branch), false)
	checkAtoms(t, msgs)
	req := &Request{Messages: msgs, Source: s.Dialect}
	for _, viol := range Validate(FormatAnthropic, req) {
		if viol.Code == "A1" || viol.Code == "A2" || viol.Code == "A3" {
			t.Fatalf("%v %q: %v\n%s", v, branch, viol, sketch(msgs))
		}
	}
	for _, f := range []Format{FormatAnthropic, FormatOpenAI, FormatResponses} {
		if body, _, err := Render(f, req); err != nil || !json.Valid(body) {
			t.Fatalf("%s: %v\n%s", f, err, body)
		}
	}
}

// mutilate swaps, drops, doubles and damages lines and bytes.
func mutilate(t *rapid.T, data []byte) []byte {
	lines := bytes.SplitAfter(data, []byte("\n"))
	for range rapid.IntRange(0, 4).Draw(t, "edits") {
		i := rapid.IntRange(0, len(lines)-1).Draw(t, "line")
		j := rapid.IntRange(0, len(lines)-1).Draw(t, "other")
		switch rapid.IntRange(0, 4).Draw(t, "edit") {
		case 0:
			lines[i], lines[j] = lines[j], lines[i]
		case 1:
			lines[i] = nil
		case 2:
			lines[i] = append(bytes.Clone(lines[i]), lines[j]...)
		case 3:
			if len(lines[i]) > 0 {
				lines[i] = lines[i][:rapid.IntRange(0, len(lines[i])-1).Draw(t, "cut")]
			}
		case 4:
			if len(lines[i]) > 0 {
				at := rapid.IntRange(0, len(lines[i])-1).Draw(t, "at")
				lines[i] = bytes.Clone(lines[i])
				lines[i][at] = rapid.Byte().Draw(t, "byte")
			}
		}
	}
	return bytes.Join(lines, nil)
}
