package budget

import "testing"

func TestFamily(t *testing.T) {
	for want, models := range map[string][]string{
		claudeNew: {
			"claude-opus-4-7", "claude-opus-4.8", "claude-opus-4-7-20260401", "anthropic/claude-opus-5", "us.anthropic.claude-opus-5-5-v1:0",
			"claude-sonnet-5", "claude-sonnet-5-5", "claude-sonnet-5@20260901", "claude-fable-5-2", "claude-mythos-preview", "anthropic.claude-fable-5-v1:0",
			"claude-haiku-5-5", "bedrock/global.anthropic.claude-haiku-5-5-20261001-v1:0", "opus", "sonnet", "claude-latest", "Claude-Opus-4-8[1m]",
			"openrouter/anthropic/claude-sonnet-5.5:beta", "claude-7", "projects/p/locations/l/publishers/anthropic/models/claude-opus-5@20260901",
		},
		claudeOld: {
			"claude-opus-4-6", "claude-opus-4-5-20251101", "claude-sonnet-4-6", "claude-sonnet-4-5-20250929", "claude-haiku-4-5-20251001",
			"claude-3-5-sonnet-20241022", "claude-3-opus-20240229", "anthropic.claude-3-haiku-20240307-v1:0", "claude-2.1", "claude-instant-1.2",
			"claude-opus-4@20250514", "claude-sonnet-4-20250514", "claude-3-7-sonnet-latest", "anthropic.claude-v2:1", "anthropic.claude-v2", "claude-sonnet-4-5[1m]", "claude-opus-4.6",
		},
		o200k: {
			"gpt-4o", "gpt-4o-mini-2024-07-18", "chatgpt-4o-latest", "gpt-4.1", "openai/gpt-4.1-nano", "gpt-4.5-preview", "gpt-5", "gpt-5.6-codex", "gpt-6.1",
			"o1", "o3-mini", "o4-mini-2025-04-16", "openai/o3", "codex-mini-latest", "gpt-oss-120b", "azure/gpt-5-mini", "ft:gpt-4o-mini-2024-07-18:acme::abc123", "gpt-7-preview",
		},
		cl100k: {"gpt-4", "gpt-4-turbo-2024-04-09", "gpt-4-0613", "gpt-3.5-turbo", "azure/gpt-35-turbo", "text-embedding-3-large", "text-embedding-ada-002", "davinci-002"},
		gemini: {"gemini-3-pro", "google/gemini-2.5-flash", "models/gemini-4", "gemma-3-27b"},
		bySize: {"", "deepseek-v4", "grok-5", "llama-4-maverick", "qwen3-coder", "mistral-large", "<synthetic>", "foo/bar", "olmo-2",
			"text-davinci-003", "code-davinci-002", "davinci", "text-davinci-001", "gpt2", "openai/gpt-2-xl", "code-cushman-001", "davinci-codex", "curie", "text-ada-001"},
	} {
		for _, m := range models {
			if got := familyOf(m); got != want {
				t.Errorf("%q: got %s, want %s", m, got, want)
			}
			if _, err := For(familyOf(m)); err != nil {
				t.Errorf("%q: %v", m, err)
			}
		}
	}
}

func TestForUnknown(t *testing.T) {
	if _, err := For("wordpiece"); err == nil {
		t.Error("no error for an unknown tokenizer")
	}
}

func TestKinds(t *testing.T) {
	a := Count{Tokens: 10, Bound: 10, Kind: Exact}
	b := Count{Tokens: 5, Bound: 7, Kind: Calibrated}
	c := Count{Tokens: 1, Bound: 2, Kind: Estimated}
	if got, want := a.Add(b), (Count{Tokens: 15, Bound: 17, Kind: Calibrated}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if got := a.Add(b).Add(c).Kind; got != Estimated {
		t.Errorf("kind %s", got)
	}
	if got := (Count{}).Add(a); got != a {
		t.Errorf("nothing and a is %+v", got)
	}
}
