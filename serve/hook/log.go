package hook

import (
	"fmt"
	"strings"
	"time"

	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/pagevm/mask"
)

// logFile is the file in the state directory in which the hooks record failures and the model's
// memories.
const logFile = "hook.log"

// maxLog is the size in bytes at which the log is renamed to hook.log.1. Both files together stay
// below twice maxLog and a line.
const maxLog = 256 << 10 // 256 KiB

// maxLogLine bounds a line, in bytes.
const maxLogLine = 2 << 10 // 2 KiB

// logLine appends a line to the log, with secrets masked. It does not create a missing state
// directory.
func logLine(stateDir string, now time.Time, text string) error {
	dir := store.Files(stateDir)
	if _, err := dir.Stat(""); err != nil {
		return err
	}
	if st, err := dir.Stat(logFile); err == nil && st.Size >= maxLog {
		if err := dir.Move(store.Unsynced, logFile, logFile+".1"); err != nil {
			return err
		}
	}
	masked, _ := mask.Mask(text)
	text = strings.Join(strings.Fields(masked), " ")
	if len(text) > maxLogLine {
		text = strings.ToValidUTF8(text[:maxLogLine], "") + "…"
	}
	log, err := dir.Journal(logFile) // appended to by several processes: a write that fails may take a line of another with it
	if err != nil {
		return err
	}
	defer log.Close()
	size, err := log.Size()
	if err == nil {
		_, err = log.Append(size, fmt.Appendf(nil, "%s %s\n", now.UTC().Format(time.RFC3339), text), false)
	}
	return err
}
