package hook

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/memkernel/memkernel/checkpoint"
	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/transcript"
)

// TakeIn commits the new messages of a transcript that a host wrote without hooks. It uses the
// key that hooks give the session, so that a resumed session continues from these messages. It
// returns the number of new messages, and an error for each part that the kernel did not take. With
// a nil kernel it only counts the messages, and changes nothing. For a host that runs no hooks, h
// is the name that the host's plugin puts into keys.
func TakeIn(ctx context.Context, k *kernel.Kernel, stateDir string, h Host, path string) (messages int, lost []error, err error) {
	key, err := KeyOf(h, path)
	if err != nil {
		return 0, nil, err
	}
	if k != nil {
		unlock, err := lockSession(ctx, stateDir, key)
		if err != nil {
			return 0, nil, err
		}
		defer unlock()
	}
	r, _ := readRecord(stateDir, key) // an unreadable record counts as new, so that the whole transcript is read again
	switch st, err := os.Stat(path); {
	case err != nil: // readNews reports the error
	case st.Size() == r.Taken:
		return 0, nil, nil
	case k != nil && carries(k, key, time.Time{}, st.ModTime()):
		r.Taken = st.Size() // the proxy or daemon that planned the calls has committed the turns
		return 0, nil, r.write(stateDir)
	}
	n, err := readNews(h, path, r.Seam)
	if err != nil {
		return 0, nil, err
	}
	messages, lost = len(n.msgs), slices.Clone(n.lost)
	if k == nil {
		return messages, lost, nil
	}
	r.Model = cmp.Or(n.model, r.Model)
	turn := api.Turn{SessionKey: key, Model: r.Model, Private: true, Source: checkpoint.Source{File: path, Channel: string(h), Compactions: n.compactions}}
	if err := n.commit(ctx, k, turn, false, func(err error) { lost = append(lost, err) }); err != nil {
		return 0, nil, err
	}
	if r.Taken = n.size; h.row().name != "" {
		r.Seam = n.next // the transcripts of other hosts can't be read from the middle
	}
	return messages, lost, r.write(stateDir)
}

// KeyOf returns the key under which [TakeIn] commits a transcript. Claude Code uses the session's id
// as the name of the file. Other hosts write it into the first record.
func KeyOf(h Host, path string) (string, error) {
	if h == claude {
		return h.Key(strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))), nil
	}
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	id := transcript.SessionID(f)
	if id == "" {
		return "", fmt.Errorf("read transcript %s: its first record names no session", path)
	}
	return h.Key(id), nil
}

// Unread reports whether a transcript has something that [TakeIn] has not read.
func Unread(stateDir string, h Host, path string, size int64) bool {
	key, err := KeyOf(h, path)
	if err != nil {
		return true // TakeIn reports why it can't be read
	}
	r, _ := readRecord(stateDir, key) // an unreadable record counts as new
	return r.Taken != size
}
