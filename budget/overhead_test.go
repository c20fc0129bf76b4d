package budget

import "testing"

func TestOverheads(t *testing.T) {
	for _, tc := range []struct {
		model string
		auto  int
	}{
		{"claude-opus-5", 286}, {"claude-opus-5-5", 286}, {"claude-opus-4-8", 290}, {"anthropic/claude-opus-4.7", 675},
		{"claude-sonnet-4-6", 497}, {"us.anthropic.claude-haiku-4-5-20251001-v1:0", 496}, {"claude-sonnet-5", 354},
		{"claude-fable-9", 675}, {claudeOld, 675},
	} {
		o := overheadsFor(tc.model)
		if o.ToolPrompt != tc.auto {
			t.Errorf("%s: tool prompt %d, want %d", tc.model, o.ToolPrompt, tc.auto)
		}
		if o.framing(0) != 0 || o.framing(2) != tc.auto+2*o.PerTool {
			t.Errorf("%s: tools don't add up: %+v", tc.model, o)
		}
	}
	for _, m := range []string{"gpt-5", "gemini-3", "who-knows", o200k, bySize, ""} {
		if o := overheadsFor(m); o.Base <= 0 || o.PerMessage <= 0 || o.PerToolUse <= 0 || o.PerToolResult <= 0 || o.PerTool <= 0 {
			t.Errorf("%q: %+v", m, o)
		}
	}
}

func TestImages(t *testing.T) {
	for _, tc := range []struct {
		model string
		w, h  int
		want  int
	}{
		{claudeOld, 1000, 1000, 1296}, {claudeOld, 4000, 4000, 1568}, {claudeOld, 28, 28, 1}, {claudeOld, 3136, 1568, 1568},
		{claudeNew, 1000, 1000, 1296}, {claudeNew, 2576, 1449, 4784}, {claudeNew, 8000, 100, 184},
		{"gpt-4o", 1024, 1024, 1024}, {"gpt-4o", 512, 512, 256}, {"gpt-4o", 4096, 1024, 1536},
		{"gpt-4o-mini", 512, 512, 8500}, {gemini, 300, 300, 258}, {gemini, 1536, 768, 516},
		{claudeNew, 0, 100, 1500}, {bySize, 10, 10, 1500}, {"gpt-4o", 1, 100000, 1536},
	} {
		got := overheadsFor(tc.model).Image(tc.w, tc.h)
		if got != tc.want {
			t.Errorf("%s %dx%d: %d, want %d", tc.model, tc.w, tc.h, got, tc.want)
		}
	}
}
