package ledger_test

import (
	"testing"
	"time"

	"github.com/memkernel/memkernel/ledger"
)

// A line is out of date by what it says of its own day, and not by any date that it names.
func TestStale(t *testing.T) {
	now := time.Date(2026, 3, 9, 12, 0, 0, 0, time.UTC)
	for line, want := range map[string]string{
		"As of 2023-02-01 we deploy on Fridays.":                           "2023-02-01",
		"The team has six people (as of 2023-02-01).":                      "2023-02-01",
		"Stand 2023-02-01: vier Knoten.":                                   "2023-02-01",
		"Next release: 2023-03-10":                                         "2023-03-10",
		"The next release is planned for March 10, 2023.":                  "2023-03-10",
		"Ines leaves on 2023-04-01.":                                       "2023-04-01",
		"The certificate expires on 2025-12-24, tell Ines before.":         "2025-12-24",
		"As of 2026-02-01 we deploy on Fridays.":                           "",
		"Next release: 2026-04-10":                                         "",
		"We moved to pnpm on 2023-02-01.":                                  "",
		"2023-02-01: the next release is out.":                             "",
		"The release that was due on 2023-02-01 was shipped a week later.": "",
		"~~Next release: 2023-03-10~~":                                     "",
		"Ines was born on 1990-04-01 and works from Turku.":                "",
		"The contract runs since 2023-02-01.":                              "",
	} {
		if day, _ := ledger.Stale(line, now); day != want {
			t.Errorf("%q is out of date since %q, want %q", line, day, want)
		}
	}
}
