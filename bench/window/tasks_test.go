package window

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/serve/ui"
)

// click clicks the first element that has a text, among those of a selector.
func (b *browser) click(selector, text string) {
	b.t.Helper()
	find := fmt.Sprintf(`Array.from(document.querySelectorAll(%q)).find(e => e.checkVisibility() && e.textContent.includes(%q))`, selector, text)
	b.see(find)
	told[bool](b, find+".click() === undefined")
}

// write puts a text into a field, as a person does.
func (b *browser) write(selector, text string) {
	b.t.Helper()
	b.see(fmt.Sprintf("document.querySelector(%q)", selector))
	told[bool](b, fmt.Sprintf(`(e => { e.value = %q; e.dispatchEvent(new Event("input", {bubbles: true})); return true; })(document.querySelector(%q))`, text, selector))
}

// text is what an element shows.
func (b *browser) text(selector string) string {
	b.t.Helper()
	return told[string](b, fmt.Sprintf("document.querySelector(%q)?.innerText ?? ''", selector))
}

// A person who has the address alone finds a session by what was asked, reads its third prompt
// and the answer, and a result whole that memkernel would have shortened.
func TestReadsWhatWasSaid(t *testing.T) {
	b := open(t)
	s := window(t, workspace(t), ui.Options{Window: 128_000, Resolver: "memory_get"}, filepath.Join(root, "testdata/session.jsonl"), filepath.Join(root, "testdata/workspace"))
	b.size(1280, false)
	base := b.enter(s)
	b.see(`document.querySelector(".asked a b")?.textContent.startsWith("Two sailings were oversold")`)
	b.write(".only input", "oversold claude monday 2026-03-09")
	b.see(`document.querySelectorAll(".asked a").length === 1`)
	b.write(".only input", "codex oversold")
	b.see(`document.querySelectorAll(".asked a").length === 0 && document.querySelector(".asked").innerText.includes("No session has these words")`)
	b.write(".only input", "half up thousands")
	b.see(`document.querySelectorAll(".asked a").length === 0`)
	b.write(".only input", "cent short")
	b.see(`document.querySelector(".asked .quote")?.innerText.startsWith("asked: ")`)
	b.click(".asked .quote", "cent short")
	b.see(`document.querySelector(".talk .said")?.innerText.includes("cent short")`)
	told[bool](b, `history.back() === undefined`)
	b.see(`document.querySelector(".only input")?.value === "cent short"`)
	b.write(".only input", "")
	b.see(`document.querySelector(".asked li") && !document.querySelector(".asked .quote")`)
	if row := b.text(".asked li"); !strings.Contains(row, "Claude Code") || !strings.Contains(row, "2026-03-09") || !strings.Contains(row, "17 prompts") {
		t.Errorf("the row says %q", row)
	}
	id, _ := b.sample("session")
	b.click(".asked a", "Two sailings")
	b.see(`document.querySelector(".facts-line")?.textContent.includes("did not plan")`)
	b.click(".outline a", "Let's build offers")
	b.see(`document.activeElement.innerText.startsWith("Prompt 3")`)
	third := told[string](b, `document.activeElement.innerText`)
	answer := told[string](b, `(e => { while (e && !e.classList.contains("k-answer")) e = e.nextElementSibling; return e.innerText; })(document.activeElement)`)
	if !strings.Contains(third, "the first waitlist entry that fits") || len(answer) < 40 || strings.Contains(answer, "{") {
		t.Errorf("the third prompt: %q, its answer: %q", third, answer)
	}
	b.visit(base, "/s/"+id+"?at=340", `document.querySelectorAll(".said").length > 1`)
	shortened := `Array.from(document.querySelectorAll(".k-call summary:has(.badge.level)")).find(e => !e.innerText.includes("left out"))`
	b.see(shortened)
	told[bool](b, shortened+".click() === undefined")
	b.see(`document.querySelector(".k-call details[open] .hint")?.textContent.includes("In later prompts")`)
	b.see(`document.querySelector(".k-call details[open] pre")`)
	whole := `document.querySelector(".k-call details[open] .whole-of")`
	if told[bool](b, "!!"+whole) {
		told[bool](b, whole+".click() === undefined")
		b.see("!" + whole)
	}
	b.click(".k-call details[open] button", "would have seen instead")
	b.see(`document.querySelector(".k-call details[open] .inside .inside pre")?.innerText.length > 10`)
	b.shoot("said-open", false)
	b.calm("what was said")
}

// A prompt that hooks added to says what, and the place leads to the line in memory.
func TestRecalledLeadsToMemory(t *testing.T) {
	b := open(t)
	dir := workspace(t)
	s := window(t, dir, ui.Options{})
	b.size(1280, false)
	base := b.enter(s)
	b.visit(base, "/memory?path=memory%2Fdeployments.md&line=17", `document.querySelector(".wanted")`)
	want := strings.Split(read(t, filepath.Join(dir, "memory/deployments.md")), "\n")[16]
	if got := b.text(".wanted"); !strings.HasPrefix(got, "17") || len(want) < 20 || !strings.Contains(got, strings.TrimLeft(want, "- 0123456789.")[:15]) {
		t.Errorf("line 17 is %q, shown is %q", want, got)
	}
	b.visit(base, "/memory", `document.querySelector(".ask input")`)
	b.write(".ask input", "when do we deploy")
	told[bool](b, `document.querySelector(".ask").requestSubmit() === undefined`)
	b.see(`document.querySelector("header a code")`)
	b.click("header a", ".md#L")
	b.see(`document.querySelector(".entries .wanted")`)
	if told[bool](b, `!!document.querySelector(".add")`) {
		t.Error("a window that only reads offers to write")
	}
	b.calm("memory")
}

func read(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// A person adds a note, edits a line of MEMORY.md, takes it back, and is told if somebody else
// changed the line meanwhile: nothing that they wrote is lost.
func TestWritesMemory(t *testing.T) {
	b := open(t)
	dir := workspace(t)
	memory := filepath.Join(dir, "MEMORY.md")
	s := window(t, dir, ui.Options{Voice: api.VoicePerson})
	b.size(1280, false)
	base := b.enter(s)
	before := read(t, memory)
	b.visit(base, "/memory", `document.querySelector(".entry")`)
	b.write(".add textarea", "Staging listens on port 8081.")
	b.click(".add button", "Add a note")
	b.see(`document.querySelector(".done")?.innerText.includes("Added")`)
	today := "memory/" + time.Now().UTC().Format(time.DateOnly) + ".md" // as remember
	if !strings.Contains(read(t, filepath.Join(dir, today)), "- Staging listens on port 8081.") || !strings.Contains(b.text(".done"), today) {
		t.Errorf("the note is not in %s: %s", today, b.text(".done"))
	}
	b.click(".done a", today)
	b.see(`document.querySelector(".entry.wanted")?.innerText.includes("8081")`)
	told[bool](b, `history.back() === undefined`)
	b.see(`document.querySelector(".file header h2")?.innerText === "MEMORY.md"`)
	b.visit(base, "/memory/changes", `document.querySelector("#main button.main")`)
	b.click("#main button", "Undo the last change")
	b.see(`document.querySelector(".done")?.innerText.includes("taken back")`)
	b.visit(base, "/memory", `document.querySelector(".entry")`)
	if _, err := os.Stat(filepath.Join(dir, today)); err == nil && strings.Contains(read(t, filepath.Join(dir, today)), "8081") {
		t.Error("the note was not taken back")
	}
	told[bool](b, `(document.querySelector(".add select").value = "MEMORY.md") && true`)
	b.write(".add textarea", "Staging listens on port 8081.")
	b.click(".add button", "Add a note")
	b.see(`document.querySelector(".done")?.innerText.includes("Added")`)
	if !strings.Contains(read(t, memory), "- Staging listens on port 8081.") {
		t.Errorf("the note is not in MEMORY.md: %s", b.text(".done"))
	}
	b.click(".done button", "Undo")
	b.see(`document.querySelector(".done")?.innerText.includes("Taken back")`)
	if read(t, memory) != before {
		t.Error("the note was not taken back")
	}
	edit := `document.querySelector("[data-line='5'] .acts button").click() === undefined`
	told[bool](b, edit)
	b.see(`document.activeElement.tagName === "TEXTAREA"`)
	b.write("[data-line='5'] textarea", "Production runs four processes.")
	b.click("[data-line='5'] button", "Save")
	b.see(`document.querySelector("[data-line='5'] .entry-text")?.innerText.includes("four processes")`)
	edited := read(t, memory)
	if !strings.Contains(edited, "- Production runs four processes.") {
		t.Errorf("%s", edited)
	}
	b.click("[data-line='5'] button", "Why")
	b.see(`document.querySelector("[data-line='5'] .why")?.innerText.includes("person")`)
	b.click("[data-line='5'] button", "History")
	b.see(`document.querySelector("[data-line='5'] .versions")?.innerText.includes("three processes")`)
	b.shoot("memory-history", true)
	told[bool](b, edit)
	b.write("[data-line='5'] textarea", "Production runs five processes.")
	if err := os.WriteFile(memory, []byte(strings.Replace(edited, "four processes", "six processes", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	b.click("[data-line='5'] button", "Save")
	b.see(`document.querySelector("[data-line='5'] [role=alert]")?.innerText.includes("nothing was changed")`)
	if kept := told[string](b, `document.querySelector("[data-line='5'] textarea").value`); kept != "Production runs five processes." || !strings.Contains(read(t, memory), "six processes") {
		t.Errorf("what was typed is %q", kept)
	}
	b.shoot("memory-stale", false)
	b.mu.Lock()
	b.trouble = nil // the browser logs the refusal
	b.mu.Unlock()
	b.click("[data-line='5'] [role=alert] a", "load")
	b.see(`document.querySelector("[data-line='5'] .entry-text")?.innerText.includes("six processes")`)
	b.click("[data-line='5'] button", "Forget")
	b.click("[data-line='5'] .more button", "Forget it")
	b.see(`document.querySelector(".done")?.innerText.includes("Took the note out")`)
	if strings.Contains(read(t, memory), "six processes") {
		t.Error("the note is still there")
	}
	b.visit(base, "/memory/changes", `document.querySelector(".versions")`)
	b.click("#main button", "Undo the last change")
	b.see(`document.querySelector(".done")?.innerText.includes("taken back")`)
	if !strings.Contains(read(t, memory), "six processes") {
		t.Error("it was not taken back")
	}
	b.calm("changes")
}

// A home without sessions says what to do, and a warning says what mends it.
func TestEmptyAndHealth(t *testing.T) {
	b := open(t)
	s := window(t, t.TempDir(), ui.Options{Doctor: healthy})
	b.size(390, false)
	base := b.enter(s)
	b.see(`document.querySelector(".asked")?.innerText.includes("memkernel init")`)
	b.visit(base, "/memory", `document.querySelector(".file")?.innerText.includes("memkernel remember")`)
	b.visit(base, "/health", `document.querySelector(".sum")?.innerText.includes("need")`)
	found := told[int](b, `document.querySelectorAll(".rows > .card:not(details) tbody tr").length`)
	if got := b.text(".command-of code"); got != "memkernel reindex" || found == 0 || !strings.HasPrefix(b.text(".sum"), fmt.Sprint(found, " ")) {
		t.Errorf("the command is %q, %d rows: %s", got, found, b.text(".sum"))
	}
	b.calm("an empty home")
}

// What memory lacks is in the one list of findings, with the way to its place.
func TestOneListOfFindings(t *testing.T) {
	b := open(t)
	s := window(t, workspace(t), ui.Options{Doctor: healthy})
	b.size(1280, false)
	base := b.enter(s)
	b.visit(base, "/memory", `document.querySelector(".entry")`)
	if got := b.text(".tabs.links"); strings.Contains(got, "Audit") {
		t.Errorf("a second list of findings: %s", got)
	}
	b.visit(base, "/health", `document.querySelector(".sum")?.innerText.includes("need you")`)
	if found := told[int](b, `document.querySelectorAll(".rows > .card:not(details) tbody tr").length`); found < 2 || !strings.HasPrefix(b.text(".sum"), fmt.Sprint(found, " things need you")) {
		t.Errorf("%d rows: %s", found, b.text(".sum"))
	}
	b.click("td a", "MEMORY.md")
	b.see(`document.querySelector(".entry.wanted")`)
	b.calm("findings")
}

// A person reads what was saved as one sum, and meets the same sum in the list and in the session;
// no simulated figure is among them. Hooks' sessions saved nothing and are not counted.
func TestSaved(t *testing.T) {
	b := open(t)
	dir := workspace(t)
	s := window(t, dir, ui.Options{}, filepath.Join(root, "testdata/session.jsonl"))
	k, err := kernel.Open(t.Context(), dir, &kernel.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer k.Close()
	billed, without, msgs := 0.0, 0.0, []memkernel.Message{}
	at := time.Date(2026, 11, 3, 9, 0, 0, 0, time.UTC)
	for i := range 12 {
		at = at.Add(time.Minute)
		msgs = append(msgs, memkernel.User(fmt.Sprintf("Read list %d with me. ", i)+strings.Repeat(fmt.Sprintf("Barge %d brought timber. ", i), 900)))
		p, err := k.PlanContext(t.Context(), api.PlanRequest{SessionKey: "proxy-7", Model: "claude-sonnet-4-6", ContextWindow: 32_000, Messages: msgs, Now: at, Private: true})
		if err != nil {
			t.Fatal(err)
		}
		msgs = append(msgs, memkernel.Assistant("Noted."))
		ob, err := k.ObserveTurn(t.Context(), api.Turn{SessionKey: "proxy-7", Model: "claude-sonnet-4-6", PlanID: p.ID, Messages: msgs, Now: at, Private: true, Usage: &memkernel.Usage{InputTokens: p.Budgets.PlannedInputTokens, OutputTokens: 5}})
		if err != nil || len(ob.Bills) != 1 {
			t.Fatal(ob, err)
		}
		billed, without = billed+*ob.Bills[0].BilledUSD, without+*ob.Bills[0].Without()
	}
	watched := []memkernel.Message{memkernel.User("And alone?"), memkernel.Assistant("Alone.")}
	if _, err := k.ObserveTurn(t.Context(), api.Turn{SessionKey: "claude:quay-8", Model: "claude-sonnet-4-6", Messages: watched, Now: at, Private: true, Usage: &memkernel.Usage{InputTokens: 900_000, OutputTokens: 5}}); err != nil {
		t.Fatal(err)
	}
	b.size(390, false)
	base := b.enter(s)
	sum := fmt.Sprintf("Without memkernel about $%.2f (an estimate), with it $%.2f (billed)", without, billed)
	whole := sum + ", since 2026-11-03, over 1 session: "
	for _, path := range []string{"/", "/saved"} {
		b.visit(base, path, `document.querySelector(".sum")?.innerText.includes("Without memkernel")`)
		if got := b.text(".sum"); !strings.HasPrefix(got, whole) {
			t.Errorf("%s: %s; want %s", path, got, whole)
		}
	}
	if all := b.text("#main"); strings.Contains(all, "simulated") || strings.Count(all, fmt.Sprintf("$%.2f", billed)) != 3 || !strings.Contains(all, "12 calls") {
		t.Errorf("%s", all)
	}
	b.shoot("saved-sum-390", true)
	b.click("td a", "Read list 0 with me")
	b.see(`document.querySelector(".facts-line")?.innerText.includes("Without memkernel")`)
	if got := b.text(".facts-line"); !strings.HasPrefix(got, sum+": ") {
		t.Errorf("the session: %s", got)
	}
	if got := told[int](b, `Array.from(document.querySelectorAll(".k-prompt")).filter(e => !e.querySelector("time")).length`); got > 0 {
		t.Errorf("%d prompts have no time", got)
	}
	b.click(".tabs.links a", "Numbers")
	b.see(`document.querySelectorAll(".plot svg").length === 2`)
	if got := b.text("#main"); strings.Contains(got, "simulated") || !strings.Contains(b.text(".tiles"), fmt.Sprintf("$%.2f", billed)) {
		t.Errorf("its numbers: %s", got)
	}
	b.calm("what was saved")
}

// Words that no session of the folder has are found in those of other folders, with the command that
// opens the session.
func TestFoundElsewhere(t *testing.T) {
	b := open(t)
	there := filepath.Join(t.TempDir(), "theirs.jsonl")
	if err := os.WriteFile(there, []byte(read(t, filepath.Join(root, "testdata/session.jsonl"))), 0o600); err != nil {
		t.Fatal(err)
	}
	s := window(t, workspace(t), ui.Options{Elsewhere: func() []string { return []string{filepath.Dir(there)} }})
	b.size(390, false)
	b.enter(s)
	b.write(".only input", "cent short")
	b.see(`document.querySelector(".elsewhere")?.innerText.includes("cent short")`)
	if got := b.text(".elsewhere"); !strings.Contains(got, "Two sailings") || !strings.Contains(got, "/home/mika/src/harborline") || b.text(".elsewhere code") != "memkernel ui --transcript "+there {
		t.Errorf("%s", got)
	}
	if over := told[int](b, `document.documentElement.scrollWidth - document.documentElement.clientWidth`); over > 0 {
		t.Errorf("%d px too wide", over)
	}
	b.shoot("elsewhere-390", true)
	b.calm("found elsewhere")
}

// The input of a call is shown by its names, however long it is.
func TestLongInput(t *testing.T) {
	b := open(t)
	path := filepath.Join(t.TempDir(), "long.jsonl")
	long := strings.Repeat("Barge after barge brought timber. ", 600)
	text := `{"type":"user","uuid":"u","sessionId":"s","timestamp":"2026-03-09T09:00:05Z","message":{"role":"user","content":"Write it down."}}` + "\n" +
		fmt.Sprintf(`{"type":"assistant","uuid":"a","parentUuid":"u","sessionId":"s","timestamp":"2026-03-09T09:00:09Z","message":{"role":"assistant","model":"claude-opus-4-5","content":[{"type":"tool_use","id":"t","name":"Write","input":{"file_path":"/quay/list.md","content":%q,"more":[{"mode":"new"}]}}],"usage":{"input_tokens":10,"output_tokens":2}}}`, long) + "\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	s := window(t, workspace(t), ui.Options{}, path)
	b.enter(s)
	b.click(".asked a", "Write it down")
	b.click(".k-call summary", "list.md")
	b.see(`document.querySelector(".k-call .args")`)
	if got := b.text(".k-call .inside"); !strings.Contains(got, long) || strings.ContainsAny(got, `{}"`) {
		t.Errorf("%.300s", got)
	}
	b.calm("a long input")
}
