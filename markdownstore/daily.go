package markdownstore

import (
	"time"
)

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
