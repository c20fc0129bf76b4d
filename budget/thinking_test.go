package budget

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestHiddenThinking(t *testing.T) {
	text := strings.Repeat("The test fails because the clock goes back. ", 20)
	tests := []struct {
		name, text  string
		tokenizer   string
		signed      int // bytes behind the signature's header
		least, most int
	}{
		{"no signature", text, claudeOld, -signatureHeader, 0, 0},
		{"all is shown", text, claudeOld, len(text), 0, 0},
		{"all but rounding is shown", text, claudeOld, len(text) + len(text)/10, 0, 0},
		{"a summary is shown", text, claudeOld, 4 * len(text), 600, 700},
		{"nothing is shown", "", claudeOld, 4000, 990, 1000},
		{"the newer tokenizer makes more of a summary", text, claudeNew, 4 * len(text), 800, 900},
		{"the newer tokenizer makes more of nothing shown", "", claudeNew, 4000, 1290, 1300},
		{"another provider's signature", "", o200k, 4000, 0, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := hiddenThinking(tt.tokenizer, tt.text, strings.Repeat("x", (tt.signed+signatureHeader)*4/3))
			if got < tt.least || got > tt.most {
				t.Errorf("%d, want %d to %d tokens", got, tt.least, tt.most)
			}
		})
	}
}

func TestKeepsThinking(t *testing.T) {
	for model, want := range map[string]bool{
		"claude-opus-4-5-20251101": true, "claude-opus-4.6": true, "claude-sonnet-4-6": true, "claude-opus-5": true, "claude-fable-5-2": true,
		"claude-sonnet-4-5-20250929": false, "claude-haiku-4-5": false, "claude-opus-4-1": false, "gpt-5.5": false, "": false,
	} {
		if got := (&Model{id: model}).KeepsThinking(); got != want {
			t.Errorf("%s keeps thinking: %v, want %v", model, got, want)
		}
	}
}

func TestToolInput(t *testing.T) {
	tests := []struct{ family, in, want string }{
		{claudeOld, `{"path":"a.go","text":"x\n\ty","n":3,"all":false,"none":null}`, "path\na.go\ntext\nx\n\ty\nn\n3\nall\nfalse\nnone\nnull\n"},
		{claudeNew, `{"edits":[{"old":"é"}]}`, "edits\nold\né\n"},
		{o200k, `{"path":"a\n"}`, `{"path":"a\n"}`},
		{claudeOld, `{"path":"a`, `{"path":"a`},
		{claudeOld, `{"a":1} and more`, `{"a":1} and more`},
		{claudeOld, "*** Begin Patch", "*** Begin Patch"},
		{claudeOld, "", ""},
	}
	for _, tt := range tests {
		if got := toolInput(tt.family, tt.in); got != tt.want {
			t.Errorf("toolInput(%s, %q) = %q, want %q", tt.family, tt.in, got, tt.want)
		}
	}
}

// TestToolInputTakesAnything gives it any bytes: it never fails, and is about as
// long as what it got.
func TestToolInputTakesAnything(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		in := rapid.OneOf(rapid.String(), rapid.Map(rapid.String(), func(s string) string { return "{" + s })).Draw(rt, "input")
		if got := toolInput(claudeOld, in); len(got) > 4*len(in)+2 {
			rt.Fatalf("%d bytes of %q became %d", len(in), in, len(got))
		}
	})
}
