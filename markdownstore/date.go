package markdownstore

import (
	"strings"
	"time"
)

// dateLayout is how dates are written, in names and everywhere else.
const dateLayout = "2006-01-02"

// ParseDate reads YYYY-MM-DD as the first moment of that day in loc; a date
// that no calendar has is refused.
func ParseDate(s string, loc *time.Location) (time.Time, bool) {
	t, err := time.ParseInLocation(dateLayout, s, loc)
	return t, err == nil
}

// dateIn finds the date in a path below memory/, without its extension, as
// YYYY-MM-DD: the last one written so in the file's name, else eight digits at
// the name's start, else year, month and day spread over folders
// (2026/03/01, 2026-03/01). A date in a folder's name alone dates nothing.
func dateIn(stem string) string {
	name := stem[strings.LastIndexByte(stem, '/')+1:]
	for i := len(name) - len(dateLayout); i >= 0; i-- {
		if d, ok := dateAt(name, i); ok {
			return d
		}
	}
	if d, ok := compactDate(name); ok {
		return d
	}
	return folderDate(stem, name)
}

// dateAt reads the ten bytes at i; a digit on either side makes it another
// number. The separators may be '-', '_' or '.', both alike.
func dateAt(s string, i int) (string, bool) {
	end := i + len(dateLayout)
	if sep := s[i+4]; sep != s[i+7] || sep != '-' && sep != '_' && sep != '.' {
		return "", false
	}
	if i > 0 && isDigit(s[i-1]) || end < len(s) && isDigit(s[end]) {
		return "", false
	}
	return validDate(s[i:i+4], s[i+5:i+7], s[i+8:end])
}

func compactDate(s string) (string, bool) {
	if len(s) < 8 || len(s) > 8 && isDigit(s[8]) {
		return "", false
	}
	return validDate(s[:4], s[4:6], s[6:8])
}

func folderDate(stem, name string) string {
	flat := strings.ReplaceAll(stem, "/", "-")
	tail := min(len(flat), len(name)+len("2026-03-"))
	flat = flat[len(flat)-tail:]
	if len(name) < 2 || len(flat) < len(dateLayout) || len(name) > 2 && isDigit(name[2]) {
		return ""
	}
	d, _ := dateAt(flat, 0)
	return d
}

// validDate allows the years 1970 to 2199 so that other numbers stay numbers.
func validDate(y, m, d string) (string, bool) {
	s := y + "-" + m + "-" + d
	if y < "1970" || y > "2199" {
		return "", false
	}
	_, ok := ParseDate(s, time.UTC)
	return s, ok
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// Today returns the day that now falls on in the user's time zone, YYYY-MM-DD.
func (s *Store) Today(now time.Time) string {
	return now.In(s.opts.Timezone).Format(dateLayout)
}

// DailyPath returns the path of the log of the day that now falls on.
func (s *Store) DailyPath(now time.Time) string { return dailyPath(s.Today(now)) }

func dailyPath(date string) string { return memoryDir + "/" + date + ".md" }

// DailyLogs returns the logs of today and yesterday, the ones that a session begins with, in the
// user's time zone. A missing or refused log has a path and no modification time.
func (s *Store) DailyLogs(now time.Time) (today, yesterday File) {
	log := func(date string) File {
		f, err := s.Stat(dailyPath(date))
		if err != nil {
			c, _ := Classify(dailyPath(date))
			return File{Path: dailyPath(date), Class: c}
		}
		return f
	}
	return log(s.Today(now)), log(daysAfter(s.Today(now), -1))
}

// Stat describes one file as Walk does. A missing file has no modification time. For a path that
// must not be touched it returns a *DeniedError.
func (s *Store) Stat(path string) (File, error) {
	pl, err := s.locate(path)
	if err != nil {
		return File{}, wrapped("read", path, err)
	}
	if pl.info == nil {
		return File{Path: pl.path, Class: pl.class}, nil
	}
	f := fileOf(pl.path, pl.class, pl.info, s.opts.MaxFileBytes)
	if pl.path == memoryLower {
		if fi, err := s.files.Lstat(memoryName); err == nil && !s.files.Same(pl.info, fi) {
			f.Shadowed, f.Indexed = true, false
		}
	}
	return f, nil
}
