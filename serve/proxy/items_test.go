package proxy_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/memkernel/memkernel/internal/fakemodel"
	"github.com/memkernel/memkernel/serve/proxy"
)

const responsesOK = `{"status":"completed","output":[{"type":"message","role":"assistant","content":[{"type":"output_text","text":"done"}]}],"usage":{"input_tokens":10,"output_tokens":1}}`

// Requests with calls of kinds that nobody knows are planned as others are. What is kept
// of them has the client's bytes; a pair leaves whole, and one whose result is shortened
// is a function's.
func TestItemsArePlanned(t *testing.T) {
	up := answering(responsesOK)
	s := newStage(t, fakemodel.Options{}, proxy.Options{ContextWindow: 20_000, Resolver: "Bash"}, up)
	kinds := [][2]string{
		{`{"type":"tool_search_call","call_id":"%[1]s","execution":"client","arguments":{"query":"q %[1]s"}}`, `{"type":"tool_search_output","call_id":"%[1]s", "execution":"client","tools":[{"type":"namespace","name":"n","tools":[{"type":"function","name":"f","defer_loading":true,"description":%[2]q}]}]}`},
		{`{"type":"orbit_call","call_id":"%[1]s", "where":{"x":1 }}`, `{"type":"orbit_output","call_id":"%[1]s","output":%[2]q, "moons":[ 1]}`},
		{`{"type":"stone","call_id":"%[1]s","input":"i"}`, `{"type":"stone","call_id":"%[1]s","veins":[%[2]q]}`},
	}
	var items []string
	sent := map[string]string{} // the client's items, by call id
	cuts, gone, shortened := 0, 0, 0
	for i := range 24 {
		id := fmt.Sprintf("call_%02d", i)
		kind := kinds[i%len(kinds)]
		call, output := fmt.Sprintf(kind[0], id), fmt.Sprintf(kind[1], id, big(fmt.Sprintf("p%d", i), 400+i%4*300))
		sent[id] = call + output
		items = append(items, responses.user(fmt.Sprintf("please do step %d of the plan", i)), call)
		if i%2 == 0 { // several at once
			also := fmt.Sprintf("also_%02d", i)
			call2, output2 := fmt.Sprintf(kinds[1][0], also), fmt.Sprintf(kinds[1][1], also, "little")
			sent[also] = call2 + output2
			items, output = append(items, call2), output2+","+output
		}
		items = append(items, output)
		r := s.post(responses.path, responses.body(items, false))
		r.planned(t)
		if !strings.Contains(r.outcome(), "cut=none") {
			cuts++
		}
		body, _ := up.last()
		var got struct {
			Input []json.RawMessage `json:"input"`
		}
		if err := json.Unmarshal([]byte(body), &got); err != nil {
			t.Fatal(err)
		}
		halves := map[string]string{}
		for _, it := range got.Input {
			var head struct {
				Type string `json:"type"`
				ID   string `json:"call_id"`
			}
			if err := json.Unmarshal(it, &head); err != nil {
				t.Fatal(err)
			}
			switch {
			case head.ID == "":
			case strings.HasPrefix(head.Type, "function_call"):
				halves[head.ID] += head.Type + " "
			case strings.Contains(sent[head.ID], string(it)):
				halves[head.ID] += "own "
			default:
				t.Errorf("step %d: %s is not the client's", i, it)
			}
		}
		for id := range sent {
			switch halves[id] {
			case "own own ":
			case "function_call function_call_output ":
				shortened++
			case "":
				gone++
			default:
				t.Errorf("step %d: of %s stands %q", i, id, halves[id])
			}
		}
		items = append(items, responses.said(fmt.Sprintf("step %d is done", i)))
	}
	if cuts == 0 || gone == 0 || shortened == 0 {
		t.Errorf("%d cuts, %d pairs gone, %d shortened", cuts, gone, shortened)
	}
}
