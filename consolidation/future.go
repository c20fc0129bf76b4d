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
	for i := range a.snap.Files {
		f := &a.snap.Files[i]
		if f.Kind == markdownstore.KindDaily && f.Date > tomorrow {
			a.ahead(health.Place{Path: f.Path}, f.Date, "is the log of %s, a day that is yet to come")
			continue
		}
		a.futureHeadings(f, tomorrow)
		a.futureEntries(f, tomorrow)
	}
}

func (a *auditor) ahead(p health.Place, date, format string) {
	a.add(health.Finding{Severity: health.Warning, Place: p, What: fmt.Sprintf(format, date),
		Hint: "correct the date; a clock or a time zone may be wrong"})
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
func (a *auditor) futureHeadings(f *File, tomorrow string) {
	if !dated(f) {
		return
	}
	for _, u := range markdownstore.Units(f.Doc) {
		if u.Kind != markdownstore.UnitHeading || plans.MatchString(u.Label) {
			continue
		}
		if d, ok := leadingDate(u.Label); ok && d > tomorrow {
			a.ahead(health.Lines(f.Path, u.StartLine, u.StartLine), d, "has a section of %s, a day that is yet to come")
		}
	}
}

func (a *auditor) futureEntries(f *File, tomorrow string) {
	for i := range f.Entries {
		e := &f.Entries[i]
		if at := written.FindStringIndex(e.Plain); at != nil && strings.ContainsAny(e.Plain[at[1]:], "0123456789") {
			if d, ok := leadingDate(e.Plain[at[1]:]); ok && d > tomorrow {
				a.ahead(placeOf(e), d, "says that it was written on %s, a day that is yet to come")
				continue
			}
		}
		if !dated(f) || e.State == StateOpen || plans.MatchString(e.Plain) || plans.MatchString(strings.Join(e.Trail, " ")) {
			continue
		}
		if d, ok := leadingDate(e.Plain); ok && d > tomorrow {
			a.ahead(placeOf(e), d, "begins with %s, a day that is yet to come")
		}
	}
}
