package ledger_test

import (
	"testing"

	"github.com/memkernel/memkernel/ledger"
)

// A person who tells of a change outdates the sentence that gives the former value.
func TestOutdates(t *testing.T) {
	for _, c := range []struct {
		newer, older string
		want         bool
	}{
		{"we moved that by the way, from now on we deploy on Tuesdays, Kari is on call then", "We deploy on Fridays after the stand-up. Notes go out on Mondays.", true},
		{"is the label wrong? exporter port's 9412 since last week btw, the readme is behind", "The exporter listens on port 8085.\nGauges are polled every 30 seconds, a missed poll is retried.", true},
		{"die Sicherung haben wir auf 4:15 Uhr verlegt", "Die Sicherung läuft täglich um 23:30 Uhr.", true},
		{"Henrik and I raised the limit to 2000 messages", "An alert fires when a queue holds more than 500 messages.", true},
		{"we deploy on Tuesdays", "We deploy on Fridays.", false},                                   // tells of no change
		{"do we deploy on Tuesdays from now on?", "We deploy on Fridays.", false},                   // asks
		{"from now on the band meets on Tuesdays", "We deploy on Fridays.", false},                  // another subject
		{"from now on we deploy on Tuesdays", "We deploy on Tuesdays.", false},                      // the same value
		{"the exporter keeps 30 days now", "The exporter listens on port 8085.", false},             // another thing
		{"we moved the stand-up from Monday to Tuesday", "The stand-up of Friday is short.", false}, // two values
	} {
		if got := ledger.Outdates(c.newer)(c.older); got != c.want {
			t.Errorf("%q, %q: %v", c.newer, c.older, got)
		}
	}
}

// The part of a sentence that tells something before it asks is no question.
func TestAsked(t *testing.T) {
	for text, want := range map[string]bool{
		"which role may merge two tickets?": true, "Thanks. Shall I open a pull request against develop?": true,
		"How long do we keep the uploads, actually?": true, "¿cuánto esperamos la respuesta?": true,
		"wir füllen jetzt samstags ab, kannst du das Datum danach ausrechnen?": false,
		"We moved to Lisbon. So we bill in euros now. Can you change it?":      false, "ok": false,
	} {
		if got := ledger.Asked(text) >= .75; got != want {
			t.Errorf("%q: %v", text, ledger.Asked(text))
		}
	}
}
