package proxy_test

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/memkernel/memkernel/internal/fakemodel"
	"github.com/memkernel/memkernel/serve/proxy"
)

const (
	chatOK   = `{"choices":[{"index":0,"message":{"role":"assistant","content":"done"},"finish_reason":"stop"}],"usage":{"prompt_tokens":10,"completion_tokens":1}}`
	geminiOK = `{"candidates":[{"content":{"role":"model","parts":[{"text":"done"}]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":10,"candidatesTokenCount":1}}`
)

// Content of an unknown type passes at its place and with its bytes, wherever it is, and
// the rest of its request is planned and cut.
func TestUnknownContentStays(t *testing.T) {
	odd := func(n int) string {
		return fmt.Sprintf(`{"type":"lantern", "oil":{"ml": %d}, "wick":["a",2 ]}`, n)
	}
	apis := map[string]struct {
		api clientAPI
		ok  string
		// own is a message, or an item, of an unknown type; with is a user's message that has
		// words and an unknown block, which is block.
		own, block func(n int) string
		with       func(text, block string) string
	}{
		"anthropic": {anthropic, anthropicOK,
			func(n int) string { return fmt.Sprintf(`{"role":"keeper", "content":"lamp %d"}`, n) }, odd,
			func(text, block string) string {
				return fmt.Sprintf(`{"role":"user","content":[ {"type":"text","text":%q}, %s]}`, text, block)
			}},
		"chat": {openai, chatOK,
			func(n int) string { return fmt.Sprintf(`{"role":"keeper", "content":"lamp %d"}`, n) }, odd,
			func(text, block string) string {
				return fmt.Sprintf(`{"role":"user","content":[ {"type":"text","text":%q}, %s]}`, text, block)
			}},
		"responses": {responses, responsesOK, odd, odd,
			func(text, block string) string {
				return fmt.Sprintf(`{"type":"message","role":"user","content":[ {"type":"input_text","text":%q}, %s]}`, text, block)
			}},
		"gemini": {gemini, geminiOK,
			func(n int) string { return fmt.Sprintf(`{"role":"keeper", "parts":[{"text":"lamp %d"}]}`, n) },
			func(n int) string { return fmt.Sprintf(`{"lantern":{"ml": %d}}`, n) },
			func(text, block string) string {
				return fmt.Sprintf(`{"role":"user","parts":[ {"text":%q}, %s]}`, text, block)
			}},
	}
	for name, a := range apis {
		t.Run(name, func(t *testing.T) {
			up := answering(a.ok)
			s := newStage(t, fakemodel.Options{}, proxy.Options{ContextWindow: 20_000, Resolver: "Bash"}, up)
			// one is first, some come between a call and its result, and one is last
			odds := []string{a.own(1000)}
			msgs := []string{odds[0]}
			cuts := 0
			post := func(msgs []string) {
				r := s.post(a.api.path, a.api.body(msgs, false))
				r.planned(t)
				if !strings.Contains(r.outcome(), "cut=none") {
					cuts++
				}
				body, _ := up.last()
				at := 0
				for _, o := range odds {
					n := strings.Index(body[at:], o)
					if n < 0 || strings.Count(body, o) != 1 {
						t.Fatalf("%s is not at its place, %d times there, in\n%.3000s", o, strings.Count(body, o), body)
					}
					at += n
				}
			}
			for i := range 16 {
				id := fmt.Sprintf("call_%02d", i)
				words := fmt.Sprintf("please do step %d of the plan", i)
				if i%5 == 1 {
					odds = append(odds, a.block(i))
					msgs = append(msgs, a.with(words, a.block(i)))
				} else {
					msgs = append(msgs, a.api.user(words))
				}
				if i%5 == 2 {
					msgs, odds = append(msgs, a.own(i)), append(odds, a.own(i))
				}
				post(msgs)
				msgs = append(msgs, a.api.call(id, fmt.Sprintf("cat part%d", i)))
				if i%5 == 3 && name == "responses" {
					msgs, odds = append(msgs, a.own(i)), append(odds, a.own(i))
				}
				msgs = append(msgs, a.api.result(id, big(fmt.Sprintf("p%d", i), 900)))
				post(msgs)
				msgs = append(msgs, a.api.said(fmt.Sprintf("step %d is done", i)))
			}
			if body, _ := up.last(); cuts == 0 || strings.Contains(body, "p0/file020.go") {
				t.Errorf("%d cuts, and the first result is there", cuts)
			}
		})
	}
}

// A harness's item that defines tools is as fixed as the tools of a request, and leading
// messages of the developer's are of the system prompt. Both stay where they are.
func TestToolsInTheInput(t *testing.T) {
	up := answering(responsesOK)
	s := newStage(t, fakemodel.Options{}, proxy.Options{ContextWindow: 24_000, Resolver: "shell"}, up)
	tools := fmt.Sprintf(`{"type":"additional_tools","id":"at_7","role":"developer","tools":[{"type":"namespace","name":"pier","tools":[{"type":"custom","name":"shell","description":%q}]}]}`, big("tool", 1500))
	rules := fmt.Sprintf(`{"type":"message","role":"developer","content":[{"type":"input_text","text":%q}],"internal_chat_message_metadata_passthrough":{"turn_id":"t0","kinds":["base"]}}`, big("rules", 1500))
	effort := func(i int) string {
		return fmt.Sprintf(`{"type":"configuration_update","reasoning":{"effort":"low"}, "n":%d}`, i)
	}
	items, cuts := []string{tools, rules}, 0
	var updates []string
	for i := range 20 {
		id := fmt.Sprintf("call_%02d", i)
		updates = append(updates, effort(i))
		items = append(items, fmt.Sprintf(`{"type":"message","role":"user","content":[{"type":"input_text","text":"please do step %d"}],"internal_chat_message_metadata_passthrough":{"turn_id":"t%d"}}`, i, i), updates[i])
		for range 2 {
			r := s.post(responses.path, fmt.Sprintf(`{"model":"gpt-6.2-sol","store":false,"prompt_cache_key":"3f2c9a10-0000-4000-8000-00000000abcd","input":[%s]}`, strings.Join(items, ",")), "User-Agent", "codex_exec/0.171.0")
			r.planned(t)
			if !strings.Contains(r.outcome(), "cut=none") {
				cuts++
			}
			body, _ := up.last()
			if !strings.Contains(body, `"input":[`+tools+","+rules+",") {
				t.Fatalf("step %d: tools and rules are not first: %.300s", i, body)
			}
			for _, u := range updates {
				if strings.Count(body, u) != 1 {
					t.Fatalf("step %d: %s is there %d times", i, u, strings.Count(body, u))
				}
			}
			items = append(items, responses.call(id, fmt.Sprintf("cat part%d", i)), responses.result(id, big(fmt.Sprintf("p%d", i), 900)))
		}
		items = append(items, responses.said(fmt.Sprintf("step %d is done", i)))
	}
	body, _ := up.last()
	if cuts == 0 || strings.Contains(body, "p0/file020.go") {
		t.Errorf("%d cuts, and the first result is there", cuts)
	}
	st := s.proxy.Status()
	if st.Planned != 40 || len(st.Passed) != 0 {
		t.Errorf("%d planned, %v passed", st.Planned, st.Passed)
	}
}

// Whatever an unknown item or block holds and wherever it is, its bytes pass at its place,
// and a large old result around it is cut.
func TestUnknownContentAnywhere(t *testing.T) {
	apis := []struct {
		api clientAPI
		ok  string
		// own is an unknown message or item, within is a message of a role with an unknown
		// block in it.
		own    func(block string) string
		within func(role, text, block string) string
	}{
		{anthropic, anthropicOK, ofKeeper("content"), withBlock("content", `"type":"text",`, "assistant")},
		{openai, chatOK, ofKeeper("content"), withBlock("content", `"type":"text",`, "assistant")},
		{responses, responsesOK, func(block string) string { return block }, nil},
		{gemini, geminiOK, ofKeeper("parts"), withBlock("parts", "", "model")},
	}
	for i := range apis {
		a := &apis[i]
		t.Run(a.api.path, func(t *testing.T) {
			up := answering(a.ok)
			s := newStage(t, fakemodel.Options{}, proxy.Options{ContextWindow: 24_000, Reserve: 8_000, Resolver: "Bash"}, up)
			old, session := big("old", 9000), 0
			rapid.Check(t, func(t *rapid.T) {
				session++
				msgs := []string{a.api.user("please read the tide table"), a.api.call("c1", "cat tides"), a.api.result("c1", old), a.api.said("the tide table is read"),
					a.api.user("please read the berths"), a.api.call("c2", "cat berths"), a.api.result("c2", big("berths", 6000)), a.api.said("the berths are read"),
					a.api.user("who has berth 4?")}
				turns := map[int]string{3: "the tide table is read", 4: "please read the berths", 7: "the berths are read", 8: "who has berth 4?"}
				odds := map[int]string{} // by their messages
				for n := range rapid.IntRange(1, 3).Draw(t, "n") {
					block := oddBlock(t, n)
					at := rapid.IntRange(0, len(msgs)).Draw(t, "at")
					if a.within != nil && rapid.Bool().Draw(t, "within") && turns[at] != "" {
						msgs[at], odds[at] = a.within([]string{"user", "assistant"}[at%4/3], turns[at], block), block
						continue
					}
					for a.within != nil && (at == 2 || at == 6) {
						at++ // only an API of items lets something be between a call and its result
					}
					if odds[at] == "" && at < len(msgs) {
						msgs[at] = a.own(block) + "," + msgs[at]
						odds[at] = block
					}
				}
				r := s.post(a.api.path, a.api.body(msgs, false), "X-Memkernel-Session", fmt.Sprintf("s%d", session))
				if !strings.HasPrefix(r.outcome(), "planned;") {
					t.Fatalf("%s: %s", r.outcome(), r.body)
				}
				body, _ := up.last()
				if strings.Contains(body, "old/file200.go") {
					t.Errorf("%s: the old result is in the prompt", r.outcome())
				}
				at := 0
				for i := range msgs {
					o := odds[i]
					n := strings.Index(body[at:], o)
					if n < 0 || o != "" && strings.Count(body, o) != 1 {
						t.Fatalf("%s is not at its place, %d times there", o, strings.Count(body, o))
					}
					at += n
				}
			})
		})
	}
}

// oddBlock is JSON of a type that nobody knows, written as few programs would.
func oddBlock(t *rapid.T, n int) string {
	typ := rapid.StringMatching(`zz_[a-z]{1,8}(_call|_output|_result|)`).Draw(t, "type")
	value := rapid.SampledFrom([]string{`1e2`, `"a\u0062 \/ c"`, `[ ]`, `{"type":"text","text":"old"}`, `null`, `[{"role":"user"}, -0.0]`}).Draw(t, "value")
	return fmt.Sprintf(rapid.SampledFrom([]string{`{"type":%q,"n":%d, "v":%s}`, `{ "type" : %q , "n":%d,"role":"developer","v" :%s }`}).Draw(t, "form"), typ, n, value)
}

// ofKeeper makes messages of an unknown role.
func ofKeeper(member string) func(string) string {
	return func(block string) string { return fmt.Sprintf(`{"role":"keeper", %q:[%s]}`, member, block) }
}

// withBlock makes messages that hold a text and a block.
func withBlock(member, typ, model string) func(role, text, block string) string {
	return func(role, text, block string) string {
		if role == "assistant" {
			role = model
		}
		return fmt.Sprintf(`{"role":%q,%q:[{%s"text":%q}, %s]}`, role, member, typ, text, block)
	}
}

// A provider's own compaction passes at its place and with its bytes, for Anthropic in the
// answer that begins with it, and what is old around it is cut.
func TestProviderCompactionStays(t *testing.T) {
	for _, tt := range []struct {
		api                clientAPI
		ok, compaction, in string
	}{
		{anthropic, anthropicOK, `{"type":"compaction", "content":"<summary>tides and \u0062erths</summary>"}`,
			`{"role":"assistant","content":[%s,{"type":"text","text":"the tide table is read"}]}`},
		{responses, responsesOK, `{"type":"compaction","id":"cmp_1", "encrypted_content":"b3BhcXVl\u002f" }`, `%s`},
		{responses, responsesOK, `{"type":"compaction_summary", "encrypted_content":"b3BhcXVl\u002f" }`, `%s`},
	} {
		t.Run(tt.api.path, func(t *testing.T) {
			up := answering(tt.ok)
			s := newStage(t, fakemodel.Options{}, proxy.Options{ContextWindow: 24_000, Reserve: 8_000, Resolver: "Bash"}, up)
			msgs := []string{tt.api.user("please read the tide table"), tt.api.call("c1", "cat tides"), tt.api.result("c1", big("old", 9000)), fmt.Sprintf(tt.in, tt.compaction),
				tt.api.user("please read the berths"), tt.api.call("c2", "cat berths"), tt.api.result("c2", big("berths", 6000)), tt.api.said("the berths are read"), tt.api.user("who has berth 4?")}
			s.post(tt.api.path, tt.api.body(msgs, false)).planned(t)
			body, _ := up.last()
			if at := strings.Index(body, tt.compaction); at < 0 || at > strings.LastIndex(body, "please read the berths") || strings.Count(body, tt.compaction) != 1 {
				t.Errorf("the compaction is not at its place: %.2000s", body)
			}
			if strings.Contains(body, "old/file200.go") {
				t.Error("the old result is in the prompt")
			}
		})
	}
}

// A conversation that begins with a provider's compaction is planned, and what the kernel adds
// in front of the messages follows it: the provider reads nothing that precedes it.
func TestProviderCompactionLeads(t *testing.T) {
	up := answering(anthropicOK)
	s := newStage(t, fakemodel.Options{}, proxy.Options{ContextWindow: 24_000, Resolver: "Bash"}, up)
	a, compaction := anthropic, `{"role":"assistant","content":[{"type":"compaction", "content":"<summary>tides and \u0062erths</summary>"}]}`
	msgs := []string{compaction, a.user("please read the tide table"), a.call("c1", "cat tides"), a.result("c1", big("old", 9000)), a.said("it is read"),
		a.user("please read the berths"), a.call("c2", "cat berths"), a.result("c2", big("berths", 6000)), a.said("the berths are read"), a.user("who has berth 4?")}
	s.post(a.path, a.body(msgs, false)).planned(t)
	first, _ := up.last()
	at, carry := strings.Index(first, compaction), strings.Index(first, "[SESSION_SUMMARY")
	if at < 0 || carry < at || strings.Contains(first, "old/file200.go") {
		t.Fatalf("compaction at %d, carry block at %d: %.2000s", at, carry, first)
	}
	msgs = append(msgs, a.said("nobody"), a.user("and berth 5?"))
	s.post(a.path, a.body(msgs, false)).planned(t)
	second, _ := up.last()
	if n := len(first) - len(`]}`) - 60; !strings.HasPrefix(second, first[:n]) {
		t.Errorf("the next request does not go on from the one before: %.3000s", second)
	}
}
