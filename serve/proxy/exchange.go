package proxy

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/memkernel/memkernel/cachelayout"
	"github.com/memkernel/memkernel/checkpoint"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/kernel/fault"
	"github.com/memkernel/memkernel/transcript"
)

// exchange is a request that the proxy forwards, with its answer.
type exchange struct {
	*lead
	format transcript.Format
	model  string            // the model that the path names, "" if it names none
	count  bool              // the request only asks how many tokens it has
	line   *line             // nil if it is planned in no conversation
	from   checkpoint.Source // where the request comes from, by its headers
	body   *transcript.Body  // nil if it could not be read
	data   []byte            // as the client wrote it
	out    *outcome          // nil for a request that is no call of a model
	began  time.Time
	took   time.Duration // the time from the receipt of the whole body to the plan
	tries  int           // how often the request was planned and sent again after a refusal
	window int           // the window that the model's server lists, 0 if it was not asked or lists none
	// watched is nil if Options.Watch is nil.
	watched *watched
}

// providerAPI is all that the proxy must know of a provider's API in addition to its format.
type providerAPI struct {
	// path is the end of the path of a call. count is the end of the path of a request that
	// counts tokens. Gateways and some providers put other text before these ends.
	path, count string
	// answer reads the events of a streamed answer, or the single piece of an answer that is not
	// streamed.
	answer func(pieces [][]byte) answer
	// elsewhere are the members of a request that say that the provider stores or changes a part
	// of the conversation.
	elsewhere []string
	// doubt returns the API's own reason why a request passes, "" if there is none. It may be
	// nil.
	doubt func(*transcript.Body) string
	// compaction describes how the provider compacts on demand. It is nil if the provider does
	// not.
	compaction *compaction
}

// apis has the API of each format. geminiCall reads Gemini's paths.
var apis = map[transcript.Format]providerAPI{
	transcript.FormatAnthropic: {path: "/v1/messages", count: "/v1/messages/count_tokens",
		answer: anthropicAnswer, elsewhere: []string{"thread", "compaction"}, doubt: anthropicDoubt, compaction: anthropicCompaction},
	transcript.FormatOpenAI: {path: "/chat/completions", answer: chatAnswer},
	transcript.FormatResponses: {path: "/responses", count: "/responses/input_tokens",
		answer: responsesAnswer, elsewhere: []string{"previous_response_id", "conversation", "prompt"}, compaction: responsesCompaction},
	transcript.FormatGemini: {answer: geminiAnswer, elsewhere: []string{"cachedContent"}, doubt: geminiDoubt},
}

// route returns the exchange of a request. It returns nil if the request passes unchanged.
func route(r *http.Request) *exchange {
	if r.Method != http.MethodPost {
		return nil
	}
	path := strings.TrimSuffix(r.URL.Path, "/")
	if model, method, ok := geminiCall(path); ok {
		if method == "countTokens" || method == "generateContent" || method == "streamGenerateContent" {
			return &exchange{format: transcript.FormatGemini, model: model, count: method == "countTokens"}
		}
		return nil
	}
	if model, ok := cloudCall(path); ok {
		return &exchange{format: transcript.FormatAnthropic, model: model}
	}
	for format, at := range apis {
		count := at.count != "" && strings.HasSuffix(path, at.count)
		if count || at.path != "" && strings.HasSuffix(path, at.path) {
			return &exchange{format: format, count: count}
		}
	}
	return nil
}

// socket reports whether a client tries to open a WebSocket for responses. The proxy could plan
// no request on it. Codex uses POST at its next try if the answer is 426, and after six more
// tries if it gets another status.
func socket(r *http.Request) bool {
	return r.Method == http.MethodGet && strings.EqualFold(r.Header.Get("Upgrade"), "websocket") &&
		strings.HasSuffix(strings.TrimSuffix(r.URL.Path, "/"), apis[transcript.FormatResponses].path)
}

// exchangeKey is the key of the exchange in the context of a request that is forwarded.
type exchangeKey struct{}

func exchangeOf(ctx context.Context) *exchange { return ctx.Value(exchangeKey{}).(*exchange) }

// with returns the request with the exchange in its context.
func (e *exchange) with(r *http.Request) *http.Request {
	return r.WithContext(context.WithValue(r.Context(), exchangeKey{}, e))
}

// bodyTime is how long a client may take to send its request.
const bodyTime = 2 * time.Minute

// ServeHTTP answers one request.
func (x *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if status, text := x.guard.refusal(r); text != "" {
		x.refuse(w, status, text)
		return
	}
	if x.own(w, r) {
		return
	}
	if socket(r) {
		refuse(w, http.StatusUpgradeRequired, "responses are asked for by POST")
		x.log.Info("told to ask by POST", "path", r.URL.Path)
		return
	}
	to := x.upstreams.of(r.URL)
	if to == nil {
		x.refuse(w, http.StatusNotFound, "no --upstream is for this path")
		return
	}
	e := route(r)
	if e == nil {
		x.account.take(&outcome{reason: passPath})
		x.reverse.ServeHTTP(w, (&exchange{lead: to}).with(r))
		return
	}
	if err := x.read(w, r, e); err != nil {
		if large, ok := errors.AsType[*http.MaxBytesError](err); ok {
			x.refuse(w, http.StatusRequestEntityTooLarge, fmt.Sprintf("the request is larger than %d bytes: raise proxy.max_body", large.Limit))
		}
		return // else the client has gone
	}
	defer x.answeredAll(e)
	if r = x.settle(r, e, to); r != nil {
		x.reverse.ServeHTTP(w, r)
	}
}

// settle returns the request to send for a request whose body was read. It returns nil if the
// client has gone. The caller must call answeredAll once the answer has ended.
func (x *Proxy) settle(r *http.Request, e *exchange, to *lead) *http.Request {
	e.lead, e.began = to, x.opt.Now()
	r = x.begin(r, e)
	x.decide(r, e)
	e.took = x.opt.Now().Sub(e.began)
	if r.Context().Err() != nil {
		e.watched.fail(failGone)
		x.log.Info("the client went away")
		return nil
	}
	x.logDecision(e)
	x.account.take(e.out)
	return e.with(r)
}

// read reads the request's body into e.data.
func (x *Proxy) read(w http.ResponseWriter, r *http.Request, e *exchange) error {
	c := http.NewResponseController(w)
	if c.SetReadDeadline(time.Now().Add(bodyTime)) == nil {
		defer c.SetReadDeadline(time.Time{})
	}
	data, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	e.data = data
	return err
}

// decide chooses the body to send.
func (x *Proxy) decide(r *http.Request, e *exchange) {
	if reason := x.place(r, e); reason != "" {
		e.out = passed(e.data, reason, nil)
		return
	}
	e.window = x.windowOf(r, e)
	e.out = x.planned(r.Context(), e, nil)
}

// place finds the conversation of a request, or returns the reason why the request is not planned.
func (x *Proxy) place(r *http.Request, e *exchange) string {
	if enc := r.Header.Get("Content-Encoding"); enc != "" && enc != "identity" {
		return passEncoded
	}
	if strings.HasPrefix(r.Header.Get("Authorization"), "AWS4-") || r.URL.Query().Has("X-Amz-Signature") {
		return passSigned
	}
	b, err := x.reader.Read(e.format, e.model, e.data)
	if err != nil {
		return unread(e) // the error may quote the body
	}
	if reason := doubt(b); reason != "" {
		return reason
	}
	e.from = sourceOf(r.Header)
	ln, reason := x.lineOf(e, b, identify(r.Header, b), r.Header.Get(headerSession) != "")
	if reason == "" {
		e.body, e.line = b, ln
	}
	return reason
}

// unread returns the reason why a body that could not be read passes.
func unread(e *exchange) string {
	var m struct {
		Input string `json:"input"`
	}
	if e.format == transcript.FormatResponses && json.Unmarshal(e.data, &m) == nil && m.Input != "" {
		return passString
	}
	return passUnreadable
}

// lineOf returns the conversation in which a request is planned, or the reason why there is no
// such conversation.
func (x *Proxy) lineOf(e *exchange, b *transcript.Body, id identity, named bool) (ln *line, reason string) {
	switch {
	case e.count:
		if ln = x.lines.begun(b, id, named); ln == nil {
			return nil, passFragment
		}
		return ln, ""
	case !named && oneShot(b, id):
		if x.lines.holds(id) {
			return nil, passSide
		}
		return nil, passOneShot
	}
	if ln = x.lines.of(id, len(b.Tools) > 0); ln.branch != "" && len(b.Tools) == 0 {
		return nil, passSide
	}
	return ln, ""
}

// logDecision logs the decision on a request in one line. The line has no content and no key. It
// names the conversation by a hash, because clients choose the name.
func (x *Proxy) logDecision(e *exchange) {
	level, msg := slog.LevelInfo, "planned"
	attrs := []any{"api", string(e.format), "count", e.count, "bytes_in", len(e.data), "bytes_out", len(e.out.body), "took", e.took}
	if e.out.extends {
		msg, attrs = "extended", append(attrs, "reason", e.out.reason, "unchanged", e.out.same)
	} else if p := e.out.plan; p != nil {
		attrs = append(attrs, "plan", p.ID, "model", p.Model, "unchanged", e.out.same, "cut", cutOf(p),
			"planned_input_tokens", p.Budgets.PlannedInputTokens, "planned_cache_read_tokens", p.Budgets.PlannedCacheReadTokens, "faults", codes(p.Faults))
	} else {
		msg, attrs = "passed", append(attrs, "reason", e.out.reason)
	}
	if e.line != nil {
		attrs = append(attrs, "conversation", e.line.name)
	}
	if e.out.detail != "" {
		attrs = append(attrs, "detail", e.out.detail)
	}
	if p := e.out.plan; p != nil && !e.count {
		x.logCache(e, p)
	}
	if e.out.plan == nil && slices.Contains([]string{passPlan, passUnfit, passInvalid}, e.out.reason) {
		level = slog.LevelWarn
	}
	x.log.Log(context.Background(), level, msg, attrs...)
}

// logCache logs, before the call, that the host broke the provider's cache or that the cache
// expired in a pause.
func (x *Proxy) logCache(e *exchange, p *api.ContextPlan) {
	l := &p.Layout
	if h := l.Change.Host; h != nil {
		x.log.Warn("the host broke the cache", "place", h.Place, "tokens", h.Tokens, "costs_usd", known(h.USD), "conversation", e.line.name)
	} else if l.Cold && l.Change.Kind != cachelayout.ChangeFirst {
		x.log.Info("the cache has expired", "clock", l.Clock, "written_tokens", l.Bill.Total()-l.Bill.ReadTokens, "input_usd", known(l.Bill.CostUSD), "conversation", e.line.name)
	}
}

// known returns an amount rounded for a log, "unknown" for nil.
func known(usd *float64) string {
	if usd == nil {
		return "unknown"
	}
	return fmt.Sprintf("%.4f", *usd)
}

// codes returns the distinct codes of faults, separated by commas.
func codes(faults []fault.Fault) string {
	var out []string
	for _, f := range faults {
		if code := string(f.Code); !slices.Contains(out, code) {
			out = append(out, code)
		}
	}
	return strings.Join(out, ",")
}

// geminiCall splits the path of a Gemini call: …/models/MODEL:METHOD. It refuses Vertex paths, in
// which a project or a publisher precedes the model.
func geminiCall(path string) (model, method string, ok bool) {
	at := strings.LastIndexByte(path, '/')
	before, last := path[:max(at, 0)], path[at+1:]
	model, method, ok = strings.Cut(last, ":")
	if !ok || model == "" || strings.Contains(path, "/publishers/") || strings.Contains(path, "/projects/") {
		return "", "", false
	}
	kind := before[strings.LastIndexByte(before, '/')+1:]
	return model, method, kind == "models" || kind == "tunedModels"
}

// cloudCall returns the model that is named in the path of a call of Anthropic's API at a cloud.
// The paths are Bedrock's …/model/M/invoke and invoke-with-response-stream, and Vertex's
// …/publishers/anthropic/models/M:rawPredict and streamRawPredict.
func cloudCall(path string) (model string, ok bool) {
	if _, rest, found := strings.Cut(path, "/publishers/anthropic/models/"); found {
		model, method, _ := strings.Cut(rest, ":")
		return model, model != "count-tokens" && model != "" && (method == "rawPredict" || method == "streamRawPredict")
	}
	_, rest, found := strings.Cut(path, "/model/")
	if !found {
		return "", false
	}
	for _, end := range []string{"/invoke", "/invoke-with-response-stream"} {
		if model, ok := strings.CutSuffix(rest, end); ok {
			return model, model != ""
		}
	}
	return "", false
}
