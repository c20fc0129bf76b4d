package hook

import (
	"fmt"
	"strings"
	"time"

	"github.com/memkernel/memkernel/internal/statedir"
	"github.com/memkernel/memkernel/pagevm/mask"
)

// LogFile is where the hooks record what went wrong, in the state directory.
const LogFile = "hook.log"

// maxLog is the size at which the log is put aside as hook.log.1, in bytes; so that
// both together stay below twice of it and a line.
const maxLog = 256 << 10 // 256 KiB

// maxLogLine bounds a line, in bytes.
const maxLogLine = 2 << 10 // 2 KiB

// logLine appends a line to the log, secrets masked. A state directory that isn't there is not made
// for it.
func logLine(stateDir string, now time.Time, text string) error {
	dir := statedir.At(stateDir)
	if st, err := dir.Stat(LogFile); err == nil && st.Size() >= maxLog {
		if err := dir.Rename(LogFile, LogFile+".1"); err != nil {
			return err
		}
	}
	masked, _ := mask.Mask(text)
	text = strings.Join(strings.Fields(masked), " ")
	if len(text) > maxLogLine {
		text = strings.ToValidUTF8(text[:maxLogLine], "") + "…"
	}
	f, err := dir.OpenAppend(LogFile, 0o600)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(f, "%s %s\n", now.UTC().Format(time.RFC3339), text)
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	return err
}
