package consolidation

import (
	"fmt"
	"strings"
	"time"

	"github.com/memkernel/memkernel/internal/lazyregexp"
	"github.com/memkernel/memkernel/kernel/health"
	"github.com/memkernel/memkernel/markdownstore"
)

var (
	// plans are words of what is yet to come: a date beside one may lie ahead.
	plans = lazyregexp.New(`(?i)\b(?:due|deadline|until|till|by|before|plan\w*|schedul\w*|expir\w*|upcoming|next|will|target|eta|launch\w*|release\w*|renew\w*|valid|ends?|starts?|from|meeting|roadmap|milestone|trip|travel|calendar|event|bis|fällig|geplant|frist|ab|hasta|plazo|jusqu\w*|échéance|prévu\w*|entro|scadenza|até|prazo|todo|reminder|review on|follow[- ]?up)\b|截止|计划|計劃|到期|预计|預計|之前|予定|期限|까지|예정|срок|до\b`)
	// written matches a line that states when something was written down.
	written = lazyregexp.New(`(?i)^[\s*_>-]*(?:last[ -](?:updated|modified|reviewed|checked|verified|edited)|updated|created|modified|written|recorded|verified|as of|stand|aktualisiert|actualizado|mis à jour|最后更新|更新|最終更新)[^0-9]{0,12}`)
)

// futureDates finds dates of past events that lie ahead of today: of logs, of
// sections and entries of memory that begin with one, of notes when something was
// written. Plans may lie ahead.
func (a *auditor) futureDates() {
	tomorrow := a.Now.In(a.Timezone).AddDate(0, 0, 1).Format(time.DateOnly)
	var logs []health.Finding
	for i := range a.snap.Files {
		f := &a.snap.Files[i]
		if f.Kind == markdownstore.KindDaily && f.Date > tomorrow {
			logs = append(logs, ahead(health.Place{Path: f.Path}, f.Date, "is the log of %s, a day that is yet to come"))
			continue
		}
		if f.Date > tomorrow {
			continue // a note ahead of its day
		}
		found := append(futureHeadings(f, tomorrow), futureEntries(f, tomorrow)...)
		a.together(found, severalDates, func(n int) string {
			return fmt.Sprintf("has %d dates of what happened that are yet to come; today is %s", n, a.Now.In(a.Timezone).Format(time.DateOnly))
		})
	}
	a.together(logs, severalDates, func(n int) string {
		return fmt.Sprintf("is one of %d logs of days that are yet to come; today is %s", n, a.Now.In(a.Timezone).Format(time.DateOnly))
	})
}

// severalDates is how many dates ahead of today are told one by one: more have one cause.
const severalDates = 2

func ahead(p health.Place, date, format string) health.Finding {
	return health.Finding{Severity: health.Warning, Place: p, What: fmt.Sprintf(format, date), Hint: "correct the date; a clock or a time zone may be wrong"}
}

// dated reports whether a file's dates are when something happened.
func dated(f *File) bool {
	switch f.Kind {
	case markdownstore.KindMemory, markdownstore.KindDaily, markdownstore.KindObservations:
		return true
	}
	return false
}

// futureHeadings looks at headings that are a date, with or without words behind it.
func futureHeadings(f *File, tomorrow string) (found []health.Finding) {
	if !dated(f) {
		return nil
	}
	for _, u := range markdownstore.Units(f.Doc) {
		if u.Kind != markdownstore.UnitHeading || plans.MatchString(u.Label) {
			continue
		}
		if d, ok := leadingDate(u.Label); ok && d > tomorrow {
			found = append(found, ahead(health.Lines(f.Path, u.StartLine, u.StartLine), d, "has a section of %s, a day that is yet to come"))
		}
	}
	return found
}

func futureEntries(f *File, tomorrow string) (found []health.Finding) {
	for i := range f.Entries {
		e := &f.Entries[i]
		if at := written.FindStringIndex(e.Plain); at != nil && strings.ContainsAny(e.Plain[at[1]:], "0123456789") {
			if d, ok := leadingDate(e.Plain[at[1]:]); ok && d > tomorrow {
				found = append(found, ahead(placeOf(e), d, "says that it was written on %s, a day that is yet to come"))
				continue
			}
		}
		if !dated(f) || e.State == StateOpen || plans.MatchString(e.Plain) || plans.MatchString(strings.Join(e.Trail, " ")) {
			continue
		}
		if d, ok := leadingDate(e.Plain); ok && d > tomorrow {
			found = append(found, ahead(placeOf(e), d, "begins with %s, a day that is yet to come"))
		}
	}
	return found
}
