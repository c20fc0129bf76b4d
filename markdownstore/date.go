package markdownstore

import (
	"strings"
	"time"
)

// dateLayout is the format of dates in names and texts.
const dateLayout = "2006-01-02"

// ParseDate returns the first moment in loc of the day YYYY-MM-DD. It returns false for a date that
// does not exist.
func ParseDate(s string, loc *time.Location) (time.Time, bool) {
	t, err := time.ParseInLocation(dateLayout, s, loc)
	return t, err == nil
}

// dateIn returns the date in a path below memory/, as YYYY-MM-DD, or "". stem is the path without its
// extension. It looks for the last date in the file's name, else for eight digits at the beginning of
// the name, else for year, month and day in folders and name (2026/03/01, 2026-03/01). A date only in
// the name of a folder does not count.
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

// dateAt reads a date of ten bytes at i. The two separators must be equal: '-', '_' or '.'. A digit
// directly before or after it means that it is no date.
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

// validDate returns the date of a year, a month and a day. It accepts only the years 1970 to 2199,
// because other numbers are probably no years.
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
