package kernel_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/internal/suite"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/kernel/fault"
)

// ask makes the assistant run one call, and gives it a result.
func (c *conversation) ask(tool, input, text string) {
	id := fmt.Sprintf("ask_%d", c.n+1)
	c.add(memkernel.RoleAssistant, call(id, tool, input))
	c.msgs[len(c.msgs)-1].Model = "claude-opus-4-5"
	c.add(memkernel.RoleUser, result(id, words(text)))
}

func codes(faults []fault.Fault) map[fault.Code]int {
	out := map[fault.Code]int{}
	for _, f := range faults {
		out[f.Code]++
	}
	return out
}

// What the model does again, or fetches, says what its prompt lacked.
func TestMisses(t *testing.T) {
	k := memoryKernel(t)
	defer k.Close()
	c := newConversation(16)
	c.user()
	text := c.code(5000)
	const read = `{"file_path":"pkg/queue/ledger.go"}`
	plan := func(want fault.Code, n int) *api.ContextPlan {
		t.Helper()
		p := mustPlan(t, k, request(c))
		f, a := codes(p.Faults), codes(p.Alerts)
		for _, code := range []fault.Code{fault.Refetch, fault.DuplicateTool, fault.AlertDuplicateSignature} {
			got := f[code] + a[code]
			if code == want && got != n || code != want && got != 0 {
				t.Fatalf("%s: %d; faults %+v, alerts %+v", code, got, p.Faults, p.Alerts)
			}
		}
		return p
	}
	plan("", 0)
	c.ask("Read", read, text)
	plan("", 0)
	c.ask("Read", `{ "file_path" : "pkg/queue/ledger.go" }`, text) // it stands
	plan(fault.AlertDuplicateSignature, 1)
	c.ask("Read", read, text+"// changed\n") // it was needed
	p := plan("", 0)
	page := ""
	for n := 0; page == ""; n++ {
		if n == 20 {
			t.Fatalf("the last read was not reduced: %+v", p.Reduced)
		}
		c.say()
		c.user()
		p = mustPlan(t, k, request(c))
		for _, r := range p.Reduced {
			if r.CallID == "ask_6" {
				page = r.Page
			}
		}
		if page == "" {
			c.loop(2, 6000)
			p = mustPlan(t, k, request(c))
		}
	}
	c.ask("Read", read, text+"// changed\n")
	plan(fault.DuplicateTool, 1)
	c.ask("memory_get", `{"id":"`+page+`"}`, text+"// changed\n")
	if p = plan(fault.Refetch, 1); p.Faults[len(p.Faults)-1].Page != page {
		t.Errorf("faults are %+v", p.Faults)
	}
	if again := plan("", 0); len(again.Faults) != 0 {
		t.Errorf("told twice: %+v", again.Faults)
	}
}

// again runs a call, has the conversation go on until its result no longer stands in
// full, or only a little if it is to stay, runs between, and the call once more.
func runAgain(t *testing.T, seed int64, stays bool, first, again, between [][3]string) (faults, alerts []fault.Fault) {
	t.Helper()
	k := memoryKernel(t)
	defer k.Close()
	c := newConversation(seed)
	c.user()
	mustPlan(t, k, narrow(c))
	for _, call := range first {
		c.ask(call[0], call[1], call[2])
		mustPlan(t, k, narrow(c))
	}
	asked := fmt.Sprintf("ask_%d", c.n-1)
	for range 2 {
		c.say()
		c.user()
	}
	for n := 0; !stays; n++ {
		p := mustPlan(t, k, narrow(c))
		stands := false
		for i := range p.Messages {
			for j := range p.Messages[i].Parts {
				if r := p.Messages[i].Parts[j].Result; r != nil && r.CallID == asked && r.Content[0].Text == first[len(first)-1][2] {
					stands = true
				}
			}
		}
		if !stands {
			break
		}
		if n > 60 {
			t.Fatal("the result stands for ever")
		}
		c.say()
		c.user()
		mustPlan(t, k, narrow(c))
		c.loop(2, 6000)
	}
	mustPlan(t, k, narrow(c))
	for _, call := range append(between, again...) {
		c.ask(call[0], call[1], call[2])
		p := mustPlan(t, k, narrow(c))
		for _, f := range p.Faults {
			if f.Code == fault.DuplicateTool {
				faults = append(faults, f)
			}
		}
		for _, f := range p.Alerts {
			if f.Code == fault.AlertDuplicateSignature {
				alerts = append(alerts, f)
			}
		}
	}
	return faults, alerts
}

// Any call that only looks and comes to the same is a fault where its result did not
// stand, and an alert where it did. What waits, what is never the same twice, what acts,
// and what asks how things stand after an act, is neither.
func TestRepeatedCalls(t *testing.T) {
	list := newConversation(3).code(3000)
	bash := func(cmd string) [2]string {
		b, _ := json.Marshal(map[string]string{"command": cmd})
		return [2]string{"Bash", string(b)}
	}
	codex := func(id, text string) string {
		return "Chunk ID: " + id + "\nWall time: 0." + id[1:2] + " seconds\nProcess exited with code 0\nOriginal token count: 12\nOutput:\n" + text
	}
	tests := []struct {
		name         string
		call, again  [2]string
		text, now    string // now "" is the same
		between      [][3]string
		fault, alert bool
	}{
		{"grep, spelled otherwise", [2]string{"Grep", `{"pattern":"Take","path":"pkg"}`}, [2]string{"Grep", "{ \"path\" : \"pkg\",\n \"pattern\":\"Take\"}"}, list, "", nil, true, true},
		{"grep, other pattern", [2]string{"Grep", `{"pattern":"Take"}`}, [2]string{"Grep", `{"pattern":"take"}`}, list, "", nil, false, false},
		{"a page of the web", [2]string{"WebFetch", `{"url":"https://example.org/a","prompt":"limits"}`}, [2]string{}, list, "", nil, true, true},
		{"a page that changed", [2]string{"WebFetch", `{"url":"https://example.org/a"}`}, [2]string{}, list, list + "\nnew", nil, false, false},
		{"a record of an MCP server", [2]string{"mcp__tracker__get_issue", `{"id":7}`}, [2]string{}, list, "", nil, true, true},
		{"and after an act of that server", [2]string{"mcp__tracker__get_issue", `{"id":7}`}, [2]string{}, list, "", [][3]string{{"mcp__tracker__update_issue", `{"id":7}`, "updated"}}, false, false},
		{"and after an act of another", [2]string{"mcp__tracker__get_issue", `{"id":7}`}, [2]string{}, list, "", [][3]string{{"mcp__mail__send", `{"to":"a"}`, "sent"}}, true, true},
		{"an act of a server", [2]string{"mcp__tracker__create_issue", `{"title":"x"}`}, [2]string{}, list, "", nil, false, false},
		{"a tool whose name says nothing", [2]string{"weather", `{"city":"Bern"}`}, [2]string{}, list, "", nil, true, true},
		{"the state of a cluster", bash("kubectl -n web get pods"), [2]string{}, list, "", nil, true, true},
		{"as an argument vector", [2]string{"shell", `{"command":["bash","-lc","kubectl get pods | head -30"],"timeout_ms":1000}`}, [2]string{"shell", `{"timeout_ms":9000,"command":["bash","-lc","kubectl get pods | head -30"]}`}, list, "", nil, true, true},
		{"after an edit of a file", bash("kubectl get pods"), [2]string{}, list, "", [][3]string{{"Edit", `{"file_path":"a.go","old_string":"a","new_string":"b"}`, "ok"}}, true, true},
		{"after an act on it", bash("kubectl get pods"), [2]string{}, list, "", [][3]string{{"Bash", `{"command":"kubectl apply -f deploy.yaml"}`, "configured"}}, false, false},
		{"while it is watched", bash("kubectl get pods -w"), [2]string{}, list, "", nil, false, false},
		{"with a wait in it", bash("sleep 30 && kubectl get pods"), [2]string{}, list, "", nil, false, false},
		{"the working tree after an edit", bash("git diff"), [2]string{}, list, "", [][3]string{{"Edit", `{"file_path":"a.go","old_string":"a","new_string":"b"}`, "ok"}}, false, false},
		{"the history after an edit", bash("git log --stat -20"), [2]string{}, list, "", [][3]string{{"Edit", `{"file_path":"a.go","old_string":"a","new_string":"b"}`, "ok"}}, true, true},
		{"tests after an edit", bash("go test ./..."), [2]string{}, list, "", [][3]string{{"Edit", `{"file_path":"a.go","old_string":"a","new_string":"b"}`, "ok"}}, false, false},
		{"a program of their own, nothing done", bash("./ledger report march"), [2]string{}, list, "", nil, true, true},
		{"and something done", bash("./ledger report march"), [2]string{}, list, "", [][3]string{{"Bash", `{"command":"./ledger close"}`, "ok"}}, false, false},
		{"the time", bash("date +%Y"), [2]string{}, list, "", nil, false, false},
		{"processes", bash("ps aux | grep worker"), [2]string{}, list, "", nil, false, false},
		{"chance", bash("head -c 8 /dev/zero; shuf -n1 words"), [2]string{}, list, "", nil, false, false},
		{"output of a task", [2]string{"BashOutput", `{"bash_id":"3"}`}, [2]string{}, list, "", nil, false, false},
		{"a status that is polled", [2]string{"mcp__ci__build_status", `{"id":7}`}, [2]string{}, list, "", nil, false, false},
		{"what Codex writes on each run", [2]string{"exec_command", `{"cmd":"rg -n Take pkg"}`}, [2]string{}, codex("a1", list), codex("b7", list), nil, true, true},
		{"and what came to something else", [2]string{"exec_command", `{"cmd":"rg -n Take pkg"}`}, [2]string{}, codex("a1", list), codex("b7", list+"x"), nil, false, false},
		{"a file by a shell", bash("cd pkg && sed -n '1,80p' queue/ledger.go"), [2]string{}, list, "", nil, true, true},
		{"a list", [2]string{"mcp__cal__list_events", `{"day":"2026-03-01"}`}, [2]string{}, list, "", nil, true, true},
	}
	for i, tt := range tests {
		if i%2 != 0 && !suite.Long() {
			continue
		}
		t.Run(tt.name, func(t *testing.T) {
			if tt.again == [2]string{} {
				tt.again = tt.call
			}
			if tt.now == "" {
				tt.now = tt.text
			}
			first := [][3]string{{tt.call[0], tt.call[1], tt.text}}
			again := [][3]string{{tt.again[0], tt.again[1], tt.now}}
			f, a := runAgain(t, int64(300+i), false, first, again, tt.between)
			if (len(f) == 1) != tt.fault || len(f) > 1 || len(a) != 0 {
				t.Errorf("gone: faults %+v, alerts %+v", f, a)
			}
			if i%3 != 0 && !suite.Long() {
				return
			}
			f, a = runAgain(t, int64(300+i), true, first, again, append([][3]string{{"Read", `{"file_path":"b.go"}`, "package b"}}, tt.between...))
			if (len(a) == 1) != tt.alert || len(a) > 1 || len(f) != 0 {
				t.Errorf("there: faults %+v, alerts %+v", f, a)
			}
		})
	}
}

// A loop that asks until something has happened is no alarm, nor is what moved before.
func TestPolling(t *testing.T) {
	pods := [3]string{"Bash", `{"command":"kubectl get pods"}`, newConversation(3).code(2000)}
	ready := pods
	ready[2] += "ready\n"
	nap := [3]string{"Bash", `{"command":"sleep 20"}`, ""}
	if f, a := runAgain(t, 350, true, [][3]string{pods}, [][3]string{pods, nap, pods, nap, nap, pods, ready, ready}, nil); len(f) > 0 || len(a) > 0 {
		t.Errorf("polled: faults %+v, alerts %+v", f, a)
	}
	if f, a := runAgain(t, 351, false, [][3]string{pods, ready}, [][3]string{ready}, nil); len(f) > 0 || len(a) > 0 {
		t.Errorf("what has moved: faults %+v, alerts %+v", f, a)
	}
}

// Two equal calls of one answer, and what a host ran without asking for a plan, were
// not made for want of anything.
func TestRepeatedBeforeThePlan(t *testing.T) {
	k := memoryKernel(t)
	defer k.Close()
	c := newConversation(352)
	c.user()
	mustPlan(t, k, request(c))
	text := c.code(2000)
	c.add(memkernel.RoleAssistant, call("twin_1", "Read", `{"file_path":"a.go"}`), call("twin_2", "Read", `{"file_path":"a.go"}`))
	c.add(memkernel.RoleUser, result("twin_1", words(text)), result("twin_2", words(text)))
	c.ask("Grep", `{"pattern":"x"}`, text)
	c.ask("Grep", `{"pattern":"x"}`, text)
	if p := mustPlan(t, k, request(c)); len(codes(p.Faults)) > 0 || len(codes(p.Alerts)) > 0 {
		t.Errorf("faults %+v, alerts %+v", p.Faults, p.Alerts)
	}
	c.ask("Grep", `{"pattern":"x"}`, text)
	if p := mustPlan(t, k, request(c)); codes(p.Alerts)[fault.AlertDuplicateSignature] != 1 {
		t.Errorf("alerts %+v", p.Alerts)
	}
}
