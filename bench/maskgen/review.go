package main

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"
)

// left maps the ids of the rules that are left out to the reasons.
var left = map[string]string{
	"generic-api-key":        "any name with key, token or auth before any word: most of what it finds in tool results is code and hashes; our own rule for assignments stands in its place",
	"private-key":            "ours also knows blocks whose end is cut off, and listings with line numbers",
	"jwt":                    "ours asks for two JSON objects",
	"pkcs12-file":            "names a file, not a secret",
	"kubernetes-secret-yaml": "needs the file's path, and spans documents",
	"hashicorp-tf-password":  "any password in quotes, for files of one sort only; our own rule for assignments asks for a value that looks random",
	"curl-auth-user":         "takes any two words with a colon behind -u, of any tool",

	// Identifiers, which are not secret.
	"adobe-client-id": "an identifier", "asana-client-id": "an identifier", "bitbucket-client-id": "an identifier",
	"discord-client-id": "an identifier", "linkedin-client-id": "an identifier", "looker-client-id": "an identifier",
	"messagebird-client-id": "an identifier", "plaid-client-id": "an identifier", "sendbird-access-id": "an identifier",
	"sumologic-access-id": "an identifier", "new-relic-user-api-id": "an identifier",
	"flutterwave-public-key": "public", "lob-pub-api-key": "public", "mailgun-pub-key": "public",
}

// change replaces parts of a rule. An empty field keeps the rule's part.
type change struct {
	regex    string
	keywords []string
	why      string
}

var changed = map[string]change{
	"aws-amazon-bedrock-api-key-short-lived": {regex: `bedrock-api-key-YmVkcm9jay5hbWF6b25hd3MuY29t[A-Za-z0-9+/=_%-]*`,
		why: "the original ends where the secret begins"},
	"sourcegraph-access-token": {regex: `(?i)\b(sgp_(?:(?:[a-f0-9]{16}|local)_)?[a-f0-9]{40})\b`, keywords: []string{"sgp_"},
		why: "the original takes every git hash near the word"},
	"twilio-api-key": {regex: `\bSK[0-9a-f]{32}\b`, keywords: each("sk", "0123456789abcdef"),
		why: "two bytes are no keyword, and the middle of a longer word no key"},
	"azure-ad-client-secret": {keywords: eachBefore("0123456789", "q~"), why: "two bytes are no keyword"},
	"vault-service-token":    {keywords: []string{"hvs."}, why: "two bytes are no keyword; tokens of Vault before 1.10 are not found"},
	"openai-api-key":         {keywords: []string{"t3blbkfj"}},
	"intra42-client-secret":  {keywords: []string{"s-s4t2ud-", "s-s4t2af-"}, why: "one of the keywords is a common word that no match holds"},
	"lob-api-key":            {keywords: []string{"lob_", "lob-", "lob:", "lob ", "lobkey", "lobapi"}, why: "the original's keywords are common"},
	"gocardless-api-token":   {keywords: []string{"gocardless"}, why: "one of the keywords is common, and a match always holds the other"},
}

func each(head, tails string) (out []string) {
	for _, t := range tails {
		out = append(out, head+string(t))
	}
	return out
}

func eachBefore(heads, tail string) (out []string) {
	for _, h := range heads {
		out = append(out, string(h)+tail)
	}
	return out
}

// sign is the expression that gitleaks uses between a name and its value.
const sign = `(?:=|>|:{1,3}=|\|\||:|=>|\?=|,)`

// reviewed returns the reviewed form of a rule. ok is false if the rule is left out.
func reviewed(r theirRule) (out rule, ok bool, err error) {
	if left[r.ID] != "" {
		return rule{}, false, nil
	}
	c := changed[r.ID]
	if c.regex != "" {
		r.Regex = c.regex
	}
	if c.keywords != nil {
		r.Keywords = c.keywords
	}
	out = rule{ID: r.ID, Regex: r.Regex, Keywords: r.Keywords, Entropy: number(r.Entropy), Group: r.SecretGroup,
		Named: strings.Contains(r.Regex, sign) || r.ID == "curl-auth-header" || r.ID == "facebook-access-token"}
	for _, a := range r.Allowlists {
		if a.Condition != "" || a.RegexTarget != "" {
			return rule{}, false, errors.New("its allow list has a form that is not known; look at it")
		}
		out.Allow, out.Stop = append(out.Allow, a.Regexes...), append(out.Stop, a.Stopwords...)
	}
	for _, k := range out.Keywords {
		if len(k) < 3 || k != strings.ToLower(k) {
			return rule{}, false, fmt.Errorf("keyword %q is too short or not in lower case", k)
		}
	}
	if len(out.Keywords) == 0 {
		return rule{}, false, errors.New("it has no keyword")
	}
	if _, err := regexp.Compile(out.Regex); err != nil {
		return rule{}, false, err
	}
	re, err := syntax.Parse(out.Regex, syntax.Perl)
	if err != nil {
		return rule{}, false, err
	}
	if n, bounded := longest(re); bounded {
		out.Reach = n
	}
	return out, true, nil
}

// number returns a TOML number, 0 if there is none.
func number(v any) float64 {
	switch v := v.(type) {
	case int64:
		return float64(v)
	case float64:
		return v
	}
	return 0
}

// longest returns the greatest number of bytes in a match. ok is false if nothing bounds the
// number.
func longest(re *syntax.Regexp) (n int, ok bool) {
	switch re.Op {
	case syntax.OpLiteral:
		return 4 * len(re.Rune), true
	case syntax.OpCharClass:
		if len(re.Rune) > 0 && re.Rune[len(re.Rune)-1] < 0x80 {
			return 1, true
		}
		return 4, true
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		return 4, true
	case syntax.OpStar, syntax.OpPlus:
		return 0, false
	case syntax.OpRepeat:
		n, ok := longest(re.Sub[0])
		return n * re.Max, ok && re.Max >= 0
	case syntax.OpAlternate:
		return longestOf(re.Sub, func(sum, n int) int { return max(sum, n) })
	case syntax.OpCapture, syntax.OpConcat, syntax.OpQuest:
		return longestOf(re.Sub, func(sum, n int) int { return sum + n })
	}
	return 0, true
}

func longestOf(subs []*syntax.Regexp, join func(sum, n int) int) (sum int, ok bool) {
	for _, s := range subs {
		n, ok := longest(s)
		if !ok {
			return 0, false
		}
		sum = join(sum, n)
	}
	return sum, true
}
