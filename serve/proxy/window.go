package proxy

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httputil"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/memkernel/memkernel/transcript"
)

// windows are the windows of models as servers list them. Each list is requested once.
type windows struct {
	mu    sync.Mutex
	asked map[string]func() int
}

const (
	// windowTime is how long a request waits for its server to name a window.
	windowTime = 2 * time.Second
	// maxAsked bounds the number of models that are looked up, because clients choose the names.
	maxAsked = 256
	// maxList is how much of a list of models is read.
	maxList = 8 << 20 // 8 MiB
	// leastWindow and mostWindow are the bounds of a plausible window.
	leastWindow, mostWindow = 1 << 10, 1 << 24
)

// windowOf returns the window that the server of a request lists for its model, 0 if it lists none.
// It does not look up a model whose window is already known.
func (x *Proxy) windowOf(r *http.Request, e *exchange) int {
	model := e.body.Model
	known, _ := x.opt.Prices.Lookup(model, time.Time{})
	atCloud := e.format == transcript.FormatAnthropic && e.model != ""
	if x.opt.ContextWindow > 0 || known.ContextWindow > 0 || atCloud {
		return 0
	}
	key := e.url.String() + "\x00" + model
	w := &x.windows
	w.mu.Lock()
	ask := w.asked[key]
	if ask == nil {
		if len(w.asked) >= maxAsked {
			w.mu.Unlock()
			return 0
		}
		ask = sync.OnceValue(func() int { return x.askWindow(r, e) })
		w.asked[key] = ask
	}
	w.mu.Unlock()
	return ask()
}

// lists are further paths below the root of the API at which llama.cpp, Ollama, LM Studio and
// LiteLLM describe their models.
var lists = []string{"/props", ollamaShow, "/api/v0/models", "/model/info"}

// ollamaShow is the path at which the request's body names one model.
const ollamaShow = "/api/show"

// askWindow asks the server of a request for the window of the request's model. It uses the request's
// key and nothing else from the request.
func (x *Proxy) askWindow(r *http.Request, e *exchange) int {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), windowTime)
	defer cancel()
	p := httputil.ProxyRequest{In: r, Out: r.Clone(ctx)}
	p.Out.Header = http.Header{}
	for _, name := range []string{"Authorization", "X-Api-Key", "Api-Key", "X-Goog-Api-Key", "Anthropic-Version", "User-Agent"} {
		if v := r.Header.Values(name); len(v) > 0 {
			p.Out.Header[name] = v
		}
	}
	e.apply(&p, x.upstreams.several)
	query := p.Out.URL.Query()
	for name := range query {
		if name != "key" {
			query.Del(name)
		}
	}
	p.Out.URL.RawQuery, p.Out.URL.RawPath = query.Encode(), ""
	path, found := strings.TrimSuffix(p.Out.URL.Path, "/"), listed{}
	if e.format == transcript.FormatGemini {
		found.ask(x.opt.Transport, p.Out, path[:max(strings.LastIndexByte(path, ':'), 0)], "", e.body.Model)
		return found.best()
	}
	path = strings.TrimSuffix(path, strings.TrimPrefix(apis[e.format].path, "/v1"))
	root := strings.TrimSuffix(path, "/v1")
	found.ask(x.opt.Transport, p.Out, path+"/models", "", e.body.Model)
	for _, list := range lists {
		if found.best() != found[trained] {
			break
		}
		body := ""
		if list == ollamaShow {
			name, _ := json.Marshal(map[string]string{"model": e.body.Model}) // strings can be written
			body = string(name)
		}
		found.ask(x.opt.Transport, p.Out, root+list, body, e.body.Model)
		if ctx.Err() != nil {
			break
		}
	}
	x.opt.Logger.Info("asked the server for a window", "model", e.body.Model, "context_window", found.best())
	return found.best()
}

// ask reads one list of models. It ignores a list that can't be fetched or read.
func (l listed) ask(via http.RoundTripper, r *http.Request, path, body, model string) {
	r = r.Clone(r.Context())
	r.Method, r.URL.Path = http.MethodGet, path
	r.Body, r.ContentLength, r.TransferEncoding = http.NoBody, 0, nil
	if body != "" {
		r.Method = http.MethodPost
		r.Header.Set("Content-Type", "application/json")
		setBody(r, []byte(body))
	}
	res, err := via.RoundTrip(r)
	if err != nil {
		return
	}
	defer res.Body.Close()
	data, err := io.ReadAll(io.LimitReader(res.Body, maxList))
	var v any
	if err == nil && res.StatusCode == http.StatusOK && json.NewDecoder(bytes.NewReader(data)).Decode(&v) == nil {
		l.read(v, model)
	}
}

// trained is the member in which llama.cpp lists the window that a model was trained for.
// The server may run it with a smaller one.
const trained = "n_ctx_train"

// windowKeys are the members in which servers list a window. The settings of the running model
// come before the properties of the model itself.
var windowKeys = []string{"num_ctx", "loaded_context_length", "n_ctx", "max_model_len", "context_length", "context_window",
	"max_context_length", "max_input_tokens", "inputTokenLimit", trained}

// listed maps the name of a member to the smallest window that a server listed in it.
type listed map[string]int

// best returns the best known window, 0 if there is none.
func (l listed) best() int {
	for _, key := range windowKeys {
		if n := l[key]; n > 0 {
			return n
		}
	}
	return 0
}

func (l listed) note(key string, n float64) {
	if n < leastWindow || n > mostWindow {
		return
	}
	if old := l[key]; old == 0 || int(n) < old {
		l[key] = int(n)
	}
}

// read takes a model's window from an answer. It skips elements of lists that name another model.
func (l listed) read(v any, model string) {
	switch v := v.(type) {
	case map[string]any:
		family, _ := v["general.architecture"].(string)
		for key, member := range v {
			switch m := member.(type) {
			case float64:
				l.note(strings.TrimPrefix(key, family+"."), m)
			case string:
				if words := strings.Fields(m); key == "parameters" {
					for i := range len(words) - 1 {
						if n, err := strconv.Atoi(words[i+1]); words[i] == "num_ctx" && err == nil {
							l.note("num_ctx", float64(n))
						}
					}
				}
			default:
				l.read(m, model)
			}
		}
	case []any:
		for _, one := range v {
			if o, _ := one.(map[string]any); names(o, model) || len(v) == 1 && o["owned_by"] == "llamacpp" {
				l.read(o, model)
			}
		}
	}
}

// names reports whether an entry of a list is about a model. A llama.cpp server accepts any name
// for its only model.
func names(entry map[string]any, model string) bool {
	for _, key := range []string{"id", "name", "model", "model_name"} {
		if name, _ := entry[key].(string); name != "" && strings.EqualFold(strings.TrimSuffix(name, ":latest"), strings.TrimSuffix(model, ":latest")) {
			return true
		}
	}
	return false
}
