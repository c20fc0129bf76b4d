package embed

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"time"

	"github.com/memkernel/memkernel/internal/endpoint"
)

// refusal returns the Error of an answer whose status is not 2xx.
func (o *remote) refusal(resp *http.Response) *Error {
	raw, _ := io.ReadAll(io.LimitReader(resp.Body, maxRefusalBytes))
	said := message(raw)
	e := &Error{Status: resp.StatusCode, RetryAfter: endpoint.RetryAfter(resp.Header, time.Now())}
	if e.RetryAfter == 0 {
		e.RetryAfter = retryDelay(raw)
	}
	switch s := resp.StatusCode; {
	case s >= 300 && s < 400:
		said = "it redirects to " + where(resp)
		e.Hint = "redirects are not followed; if you trust that address, set base_url to it"
	case s == http.StatusUnauthorized || s == http.StatusBadRequest && badKey.MatchString(said):
		e.Hint = o.keyHint()
	case s == http.StatusForbidden:
		e.Hint = "the account may not use this model: choose another model, or another key by api_key_env"
	case s == http.StatusNotFound || s == http.StatusMethodNotAllowed || s < 500 && unknownModel.MatchString(said):
		e.Hint = o.modelHint()
	case s == http.StatusBadRequest || s == http.StatusRequestEntityTooLarge || s == http.StatusUnprocessableEntity:
		e.Texts = true
		e.Hint = "if a text is too long for the model, lower chunking.tokens; leave out dimensions if the model has only one length"
	case s == http.StatusTooManyRequests:
		e.transient = !exhausted.Match(raw)
		e.Hint = "the limit of requests or the credit is used up: try again later, or check the account"
	case s == http.StatusInternalServerError && strings.Contains(said, "too large to process"):
		// llama.cpp's server returns this for a text that exceeds its batch size.
		e.Texts = true
		e.Hint = "lower chunking.tokens, or raise the server's batch size"
	case s >= 500 && s != http.StatusNotImplemented || s == http.StatusRequestTimeout:
		e.transient = true
		e.Hint = "the server has a problem: try again later"
	default:
		e.Hint = "check base_url, and the account at this server"
	}
	e.Err = errors.New(strings.TrimSuffix(fmt.Sprintf("%d %s: %s", e.Status, http.StatusText(e.Status), o.clean(said)), ": "))
	return e
}

// These expressions match refusals after which a retry does not help: a bad key (Gemini answers 400),
// an unknown model (Voyage and Mistral answer 400), and with status 429 an account without credit
// (OpenAI, Mistral) or without quota for the rest of the day (Gemini).
var (
	badKey       = regexp.MustCompile(`(?i)api key.*(not valid|invalid|expired)|(invalid|expired).*api key`)
	unknownModel = regexp.MustCompile(`(?i)model.*(is not supported|not found|does not exist|unknown)|(invalid|unknown|no such) model`)
	exhausted    = regexp.MustCompile(`insufficient_quota|billing_not_active|credit balance|PerDay`)
)

func (o *remote) keyHint() string {
	if o.key == "" {
		return "no key was sent: set api_key_env to the environment variable that holds it"
	}
	return fmt.Sprintf("check that the environment variable %s holds a valid key for this server", o.cfg.APIKeyEnv)
}

func (o *remote) modelHint() string {
	switch o.name {
	case providerOllama:
		return fmt.Sprintf("if the server has no such model, run 'ollama pull %s'; else check model and base_url", o.cfg.Model)
	case providerGemini:
		return "check model: gemini-embedding-001 and gemini-embedding-2 are the known ones; and base_url, which ends in /v1beta"
	}
	return "check model, and base_url, which ends in /v1 for most servers"
}

// retryDelay returns the waiting time in the details of a refusal by Gemini:
// {"retryDelay":"37s"}. It returns 0 if the refusal has no such time.
func retryDelay(raw []byte) time.Duration {
	m := geminiDelay.FindSubmatch(raw)
	if m == nil {
		return 0
	}
	d, _ := time.ParseDuration(string(m[1]))
	return d
}

var geminiDelay = regexp.MustCompile(`"retryDelay"\s*:\s*"(\d{1,6}(?:\.\d{1,9})?s)"`)

// maxRefusalBytes is the number of bytes of a refusal that are read.
const maxRefusalBytes = 64 << 10 // 64 KiB

// message returns the message in a server's refusal. OpenAI writes {"error":{"message","code"}}.
// Others write {"error":"…"}, {"message":"…"}, {"detail":"…"} or plain text.
func message(raw []byte) string {
	var said struct {
		Error, Message, Detail json.RawMessage
	}
	if json.Unmarshal(raw, &said) != nil {
		return string(raw)
	}
	for _, field := range []json.RawMessage{said.Error, said.Message, said.Detail} {
		var text string
		var inner struct {
			Message string
			Code    any
		}
		switch {
		case json.Unmarshal(field, &text) == nil && text != "":
			return text
		case json.Unmarshal(field, &inner) == nil && inner.Message != "":
			if code, ok := inner.Code.(string); ok && !strings.Contains(inner.Message, code) {
				return inner.Message + " [" + code + "]"
			}
			return inner.Message
		}
	}
	return string(raw)
}
