package budget

import (
	"regexp"
	"strconv"
	"strings"
	"sync"
)

// Overflow is a provider's report about a request that it refused as too long. All figures are
// tokens by the provider's own count. A figure is 0 if the provider does not name it.
type Overflow struct {
	// Input is the size of the request. Limit is the model's limit for input. Answer is the size
	// reserved for the answer, if the limit covers input and answer.
	Input  int `json:"input_tokens"`
	Limit  int `json:"limit_tokens"`
	Answer int `json:"answer_tokens"`
}

// maxOverflowText is the number of bytes of a text that are examined.
const maxOverflowText = 16 << 10

// overflowFigures are overflowForms as regular expressions, in which N matches a number.
var overflowFigures = sync.OnceValue(func() (out []*regexp.Regexp) {
	const number = `[0-9][0-9,_]{0,11}`
	for _, form := range overflowForms {
		out = append(out, regexp.MustCompile(`(?is)`+strings.ReplaceAll(form, ">N)", ">"+number+")")))
	}
	return out
})

// overflowForms are the providers' sentences with the figures: the group in is the input, max is
// the limit, out is the answer, and all is the sum of input and answer. The first match counts,
// so more exact forms must come first.
var overflowForms = []string{
	// Anthropic
	`prompt is too long: (?P<in>N) tokens > (?P<max>N)`,
	`context limit: (?P<in>N) \+ (?P<out>N) > (?P<max>N)`,
	// OpenAI, vLLM, OpenRouter and others that speak its API
	`maximum context length (?:is|of) (?P<max>N) tokens.{0,40}?requested (?:about )?(?P<all>N) tokens \((?P<in>N) (?:in|of|from) [^;,.]*[;,] (?:and )?(?P<out>N) (?:for|in) the (?:completion|output)`,
	`maximum context length (?:is|of) (?P<max>N) tokens.{0,80}?(?:messages|prompt|input)\D{0,60}?(?P<in>N)`,
	`maximum context length (?:is|of) (?P<max>N) tokens.{0,60}?requested (?:about )?(?P<in>N)`,
	// Gemini
	`input token count \(?(?P<in>N)\)? exceeds the maximum number of tokens(?: allowed)? \(?(?P<max>N)`,
	// xAI
	`maximum prompt length is (?P<max>N)\D{1,60}?(?P<in>N)`,
	// GitHub Copilot
	`token count of (?P<in>N) exceeds the limit of (?P<max>N)`,
	// Mistral
	`prompt contains (?P<in>N) tokens.{0,80}?(?P<max>N) maximum context`,
	// Cohere
	`cannot exceed (?P<max>N)\D{1,40}?(?P<in>N)`,
	// Kimi
	`model token limit: (?P<max>N)(?: \(requested: (?P<in>N)\))?`,
	// Text Generation Inference, Together
	`must be <= (?P<max>N)\. Given: (?P<in>N) .{0,40}?(?P<out>N)`,
	// llama.cpp
	`request \((?P<in>N) tokens\) exceeds the available context size \((?P<max>N)`,
	`exceeds the available context size \((?P<max>N)`,
	// any provider that names only its limit
	`(?:maximum context length|maximum prompt length|context window)(?: is| of)? (?P<max>N)`,
}

// overflowWords match only the refusal of a request that was too long, including messages without
// figures.
var overflowWords = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)too long|maximum (?:context|prompt) length|context[ _](?:length|window|size|limit)[ _]?(?:is |was )?exceed|exceed\w* (?:the |model |the model's |this model's |available )*(?:available |maximum )?context|` +
		`input token count|exceeds the maximum (?:number of tokens|size)|request_too_large|token count of \d+ exceeds|reduce the length of|model token limit|too many tokens|token limit exceeded|` +
		`greater than the context length|context window exceeds|larger than the (?:maximum|context)|tokens.{0,20} must be <=|too large for model|cannot exceed \d+|context overflow`)
})

// rateWords match the refusal of a request because of a limit per minute or day. A shorter request
// would not help then.
var rateWords = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)per (?:min|minute|day)\b|\bTPM\b|\bRPM\b|rate.?limit`)
})

// ParseOverflow reads a provider's refusal of a request that was too long, as text or as the JSON
// that contains it. It returns false for other errors and for limits on the rate. The forms are
// from the providers' documentation and from their servers' answers.
func ParseOverflow(text string) (Overflow, bool) {
	text = text[:min(len(text), maxOverflowText)]
	if rateWords().MatchString(text) || !overflowWords().MatchString(text) {
		return Overflow{}, false
	}
	for _, re := range overflowFigures() {
		m := re.FindStringSubmatch(text)
		if m == nil {
			continue
		}
		figure := func(name string) int { // 0 if the form does not have it
			if i := re.SubexpIndex(name); i >= 0 {
				n, _ := strconv.Atoi(separators.Replace(m[i]))
				return n
			}
			return 0
		}
		o := Overflow{Input: figure("in"), Limit: figure("max"), Answer: figure("out")}
		if o.sane() {
			return o, true
		}
	}
	return Overflow{}, true
}

// thinkingWords match the refusal of a request because the prefix of thinking changed, or because
// a signature is not the model's.
var thinkingWords = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)bound to a different conversation|invalid .{0,3}(?:signature|data).{0,3} in .{0,3}(?:redacted_)?thinking.{0,3} block`)
})

// RefusesThinking reports whether a provider's text refuses a request because of the thinking of
// earlier turns in it. The provider would take the request without this thinking.
func RefusesThinking(text string) bool {
	return thinkingWords().MatchString(text[:min(len(text), maxOverflowText)])
}

// separators are between the thousands of a figure.
var separators = strings.NewReplacer(",", "", "_", "")

// sane reports whether the figures can be those of one refusal.
func (o *Overflow) sane() bool {
	const least = 256 // tokens; a smaller limit is no context window
	return o.Limit >= least && (o.Input == 0 || o.Input+o.Answer > o.Limit)
}
