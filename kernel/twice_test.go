package kernel_test

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/memkernel/memkernel/consolidation"
)

// twice lives through a night two times, and fails if the second time changed a byte of the
// workspace or of the state but the record of jobs, and what is kept of files that the first
// changed.
func twice(t *testing.T, dir string, at time.Time) {
	t.Helper()
	lived(t, dir, at)
	before := photograph(t, dir)
	again := lived(t, dir, at)
	for p, now := range photograph(t, dir) {
		if before[p] != now && !strings.HasSuffix(p, "jobs.jsonl") && p != "/.memkernel" {
			t.Errorf("%s: the second run changed %s: %d added, %d moved", at.Format(time.DateOnly), p, len(again.Curated.Entries), len(again.Pruned.Moves))
		}
	}
}

// machineLines are the lines with content of MEMORY.md that are not a person's.
func machineLines(t *testing.T, dir, people string) (out []string) {
	t.Helper()
	for _, l := range memoryLines(t, dir) {
		if strings.TrimSpace(l) != "" && !slices.Contains(strings.Split(people, "\n"), l) {
			out = append(out, l)
		}
	}
	return out
}

const longPeople = "# Memory\n\n## Mine\n\n"

// A night that is run again changes nothing, even if more was worth keeping than there was room for,
// and whatever a section of a log or the working buffer still holds.
func TestNightTwice(t *testing.T) {
	dir := t.TempDir()
	people := longPeople + repeat("- Pier %d was measured %d times by me.\n", 60)
	putAt(t, filepath.Join(dir, "MEMORY.md"), people, nightAt.AddDate(0, -1, 0))
	for n := range 9 {
		at := nightAt.AddDate(0, 0, n)
		log := "# Log\n\n## Lessons learned\n\n"
		for i := range 7 {
			log += fmt.Sprintf("- The %s crane of quay %d only starts because its %s valve was opened before.\n", words10[i], n, words10[(i+n)%10])
		}
		for i := range 9 {
			log += fmt.Sprintf("- %02d:00 [decision] Gate %d-%d is closed with a %s chain from now on.\n", i+9, n, i, words10[i])
		}
		putAt(t, filepath.Join(dir, "memory", at.Format(time.DateOnly)+".md"), log, at.Add(-time.Hour))
		putAt(t, filepath.Join(dir, "memory", "working-buffer.md"), "Notes of somebody on the "+words10[n]+" quay.\n", at.Add(-time.Hour))
		twice(t, dir, at)
		if got := machineLines(t, dir, people); len(got) > consolidation.MachineLines {
			t.Errorf("night %d: %d lines are memkernel's:\n%s", n, len(got), strings.Join(got, "\n"))
		}
		if text := readFile(t, dir, "MEMORY.md"); !strings.HasPrefix(text, people) {
			t.Fatalf("night %d: a person's lines changed:\n%s", n, text)
		}
	}
}

// An entry that leaves MEMORY.md is in a topic file, the newest day first. A person's word leaves last.
func TestWhatLeavesIsInTopics(t *testing.T) {
	dir := t.TempDir()
	putAt(t, filepath.Join(dir, "MEMORY.md"), longPeople, nightAt.AddDate(0, -1, 0))
	putAt(t, filepath.Join(dir, "memory", "lamps.md"), "# Lamps\n\nThey hang on the quay.\n", nightAt.AddDate(0, -1, 0))
	var said []string
	for n := range 14 {
		at := nightAt.AddDate(0, 0, n)
		a, b := words10[n%10], words10[n/10]
		lines := []string{fmt.Sprintf("Boats of the %s %s line moor at the north pier.", a, b), fmt.Sprintf("The %s %s winch slips when it rains.", a, b)}
		said = append(said, lines...)
		log := "- 09:00 [decision] " + lines[0] + "\n- 10:00 [lesson] " + lines[1] + "\n"
		if n == 0 {
			log += "- 11:00 [human] Never open the flood gate at night.\n- 12:00 [lesson] Wet lamps go out in a storm.\n"
		}
		putAt(t, filepath.Join(dir, "memory", at.Format(time.DateOnly)+".md"), log, at.Add(-time.Hour))
		twice(t, dir, at)
	}
	memory := readFile(t, dir, "MEMORY.md")
	if !strings.Contains(memory, "Never open the flood gate at night.") {
		t.Errorf("a person's word left:\n%s", memory)
	}
	if lamps := readFile(t, dir, "memory/lamps.md"); !strings.HasPrefix(lamps, "# Lamps\n\nThey hang on the quay.\n") || !strings.Contains(lamps, "Wet lamps go out") {
		t.Errorf("what is about lamps is not there:\n%s", lamps)
	}
	all := memory
	for _, topic := range []string{"decisions", "lessons"} {
		text := readFile(t, dir, "memory/"+topic+".md")
		all += text
		days := regexp.MustCompile(`(?m)^## (\S+)$`).FindAllString(text, -1)
		if len(days) < 5 || !slices.IsSortedFunc(days, func(a, b string) int { return strings.Compare(b, a) }) || len(days) != len(slices.Compact(slices.Clone(days))) {
			t.Errorf("the days of %s are %q", topic, days)
		}
	}
	for _, s := range said {
		if n := strings.Count(all, s); n != 1 {
			t.Errorf("%q is there %d times", s, n)
		}
	}
}

// Entries that say the same become one, with the sources of both.
func TestSameEntriesAreMerged(t *testing.T) {
	dir := t.TempDir()
	putAt(t, filepath.Join(dir, "MEMORY.md"), longPeople, nightAt.AddDate(0, -1, 0))
	for n := range 12 {
		at := nightAt.AddDate(0, 0, n)
		log := fmt.Sprintf("- 09:00 [decision] Boats of the %s line moor at pier %d.\n- 10:00 [decision] The %s ferry calls at quay %d.\n", words10[n%10], n, words10[n%10], n)
		if n == 0 || n == 5 {
			log += "- 11:00 [human] Never open the old flood gate of the inner harbour basin at night" + map[int]string{0: ", whoever wants", 5: ", whoever may want"}[n] + " it and whatever the weather is like at that hour of the day.\n"
		}
		putAt(t, filepath.Join(dir, "memory", at.Format(time.DateOnly)+".md"), log, at.Add(-time.Hour))
		twice(t, dir, at)
	}
	memory := readFile(t, dir, "MEMORY.md")
	said := regexp.MustCompile(`(?m)^.*old flood gate.*$`).FindAllString(memory, -1)
	if len(said) != 1 || !strings.Contains(said[0], "memory/2026-03-09.md#L3") || !strings.Contains(said[0], "memory/2026-03-14.md#L3") {
		t.Errorf("it is said %q in\n%s", said, memory)
	}
}

// A MEMORY.md with a secret is not pruned, and does not grow over its limit either; no night fails
// for it.
func TestNightsWithASecret(t *testing.T) {
	dir := t.TempDir()
	people := longPeople + "- The password of the gate is Xk9$mPq2vL8nRt4w\n"
	putAt(t, filepath.Join(dir, "MEMORY.md"), people, nightAt.AddDate(0, -1, 0))
	for n := range 9 {
		at := nightAt.AddDate(0, 0, n)
		log := ""
		for i := range 6 {
			log += fmt.Sprintf("- %02d:00 [decision] Boats of the %s %s line moor at the north pier.\n", i+9, words10[i], words10[n])
		}
		putAt(t, filepath.Join(dir, "memory", at.Format(time.DateOnly)+".md"), log, at.Add(-time.Hour))
		twice(t, dir, at)
	}
	if got := machineLines(t, dir, people); len(got) == 0 || len(got) > consolidation.MachineLines {
		t.Errorf("%d lines are memkernel's", len(got))
	}
	if all := readFile(t, dir, "MEMORY.md") + readFile(t, dir, "memory/learned.md"); strings.Count(all, "moor at the north pier") != 54 {
		t.Errorf("of 54 decisions %d are there", strings.Count(all, "moor at the north pier"))
	}
}
