package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/memkernel/memkernel/serve"
)

const root = "../.."

// TestClientsAreCurrent fails when the clients know another protocol than the daemon has.
func TestClientsAreCurrent(t *testing.T) {
	files, err := generate(root)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range files {
		got, err := os.ReadFile(filepath.Join(root, name))
		if err != nil || string(got) != want {
			t.Errorf("%s is not what the daemon's source makes (%v): run make contract", name, err)
		}
	}
}

// TestEveryMethodIsTyped: each has a call in every language, with what it needs.
func TestEveryMethodIsTyped(t *testing.T) {
	files, err := generate(root)
	if err != nil {
		t.Fatal(err)
	}
	ts, py, golang := files["integrations/typescript/protocol.d.ts"], files["integrations/python/memkernel/_methods.py"], files["client/methods.go"]
	for _, m := range serve.Methods() {
		if !strings.Contains(ts, "  "+camel(m.Name)+"(params") {
			t.Errorf("TypeScript has no %s", m.Name)
		}
		if m.Name != "initialize" && !strings.Contains(golang, "func (m *Methods) "+goName(m.Name)+"(ctx context.Context, p *protocol.") {
			t.Errorf("Go has no %s", m.Name)
		}
		if name := "def " + pyName(m.Name) + "(self, "; m.Name != "initialize" && (!strings.Contains(py, "    "+name) || !strings.Contains(py, "    async "+name)) {
			t.Errorf("Python has no %s", m.Name)
		}
	}
	for _, want := range []string{
		"search(params: SearchParams, options?: CallOptions): Promise<Search>;",
		"  query: string;",
		"  conversation?: Conversation;",
		`  op: "append" | "merge" | "set_with_version";`,
		"  planned_cost_usd: number | null;",
		"  host?: [number, number];",
	} {
		if !strings.Contains(ts, want) {
			t.Errorf("TypeScript lacks %q", want)
		}
	}
	for _, want := range []string{"def read(self, path: str, *, ", "from_: Optional[int] = None", `"from": from_`, "-> p.Planned:"} {
		if !strings.Contains(py, want) {
			t.Errorf("Python lacks %q", want)
		}
	}
}
