package kernel_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/kernel/health"
	"golang.org/x/sys/unix"
)

// opens counts the files that are opened in the folders of sessions while f runs, by
// folder.
func opens(t *testing.T, dir string, f func()) map[string]int {
	t.Helper()
	fd, err := unix.InotifyInit1(unix.IN_NONBLOCK | unix.IN_CLOEXEC)
	if err != nil {
		t.Skipf("opened files can't be counted here: %v", err)
	}
	defer unix.Close(fd)
	entries, err := os.ReadDir(sessionsDir(dir))
	if err != nil {
		t.Fatal(err)
	}
	folder := map[int32]string{}
	for _, e := range entries {
		wd, err := unix.InotifyAddWatch(fd, filepath.Join(sessionsDir(dir), e.Name()), unix.IN_OPEN)
		if err != nil {
			t.Skipf("opened files can't be counted here: %v", err)
		}
		folder[int32(wd)] = e.Name()
	}
	out := map[string]int{}
	f()
	buf := make([]byte, 1<<20)
	for {
		n, err := unix.Read(fd, buf)
		if n <= 0 || err != nil {
			return out
		}
		for at := 0; at < n; {
			wd, mask, size := int32(binary.NativeEndian.Uint32(buf[at:])), binary.NativeEndian.Uint32(buf[at+4:]), binary.NativeEndian.Uint32(buf[at+12:])
			if mask&unix.IN_Q_OVERFLOW != 0 {
				t.Fatal("more files were opened than could be counted")
			}
			if mask&unix.IN_ISDIR == 0 {
				out[folder[wd]]++
			}
			at += unix.SizeofInotifyEvent + int(size)
		}
	}
}

// crowd is a state folder of many sessions of a question and an answer. The keys of some
// need a file to be told.
func crowd(t *testing.T, n int) (dir string) {
	t.Helper()
	dir = t.TempDir()
	k := openKernel(t, dir)
	defer k.Close()
	for i := range n {
		c := newConversation(int64(i))
		c.user()
		c.say()
		key := fmt.Sprintf("tiny-%03d", i)
		if i%10 == 0 {
			key = fmt.Sprintf("tiny/%03d", i)
		}
		if _, err := k.ObserveTurn(context.Background(), api.Turn{SessionKey: key, Messages: c.msgs, Model: model, Now: c.now}); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// TestStatusOpensFewFiles: a status reads the newest sessions; of the others it opens a
// file only where a folder's name doesn't tell the key.
func TestStatusOpensFewFiles(t *testing.T) {
	const n = 70
	dir := crowd(t, n)
	k := openKernel(t, dir)
	defer k.Close()
	var st *api.Status
	got := opens(t, dir, func() {
		var err error
		if st, err = k.Status(context.Background(), nil); err != nil {
			t.Fatal(err)
		}
	})
	if len(st.Sessions) != api.MostSessions || len(st.Others) != n-api.MostSessions {
		t.Fatalf("%d sessions and %d others", len(st.Sessions), len(st.Others))
	}
	for _, s := range st.Sessions {
		if got[s.Folder] == 0 || s.Turns != 1 {
			t.Errorf("%s was not read: %+v", s.Key, s)
		}
	}
	for _, o := range st.Others {
		want := 0
		if strings.Contains(o.Key, "/") {
			want = 1
		}
		if got[o.Folder] != want || o.Bytes == 0 || o.Last.IsZero() || !strings.HasPrefix(o.Key, "tiny") {
			t.Errorf("%d files of %+v were opened", got[o.Folder], o)
		}
	}
	one := opens(t, dir, func() {
		st, err := k.Status(context.Background(), &api.StatusOptions{Session: "tiny/000"})
		if err != nil || len(st.Sessions) != 1 || st.Sessions[0].Key != "tiny/000" {
			t.Errorf("%v, %+v", err, st)
		}
	})
	if len(one) != 1 {
		t.Errorf("one session is asked for, files of %d were opened", len(one))
	}
	if all, err := k.Status(context.Background(), &api.StatusOptions{All: true}); err != nil || len(all.Sessions) != n {
		t.Errorf("%v, %+v", err, all)
	}
	if k.Held() != 0 {
		t.Errorf("%d sessions are held", k.Held())
	}
}

// TestAuditOpensSessionsOnce: how many pages memory names makes no difference to how often
// a session is opened, and where it names none and there are no blobs, none is.
func TestAuditOpensSessionsOnce(t *testing.T) {
	const n = 12
	dir := crowd(t, n)
	k := openKernel(t, dir)
	defer k.Close()
	count := func(memory string) map[string]int {
		if err := os.WriteFile(filepath.Join(dir, "MEMORY.md"), []byte(memory), 0o600); err != nil {
			t.Fatal(err)
		}
		return opens(t, dir, func() {
			if _, err := k.Maintenance().Audit(context.Background(), api.AuditOptions{Skip: []health.Code{health.Journals}, Now: time.Now()}); err != nil {
				t.Fatal(err)
			}
		})
	}
	if got := count("# Memory\n\n- Nothing is named.\n"); len(got) != 0 {
		t.Errorf("files were opened: %v", got)
	}
	few := count("# Memory\n\n- See ev-0123456789abcdef.\n")
	many := "# Memory\n\n"
	for i := range 20 {
		many += fmt.Sprintf("- See ev-%016x.\n", i)
	}
	if got := count(many); len(few) != n || fmt.Sprint(got) != fmt.Sprint(few) {
		t.Errorf("one page: %v; twenty: %v", few, got)
	}
}

// TestTinySessionOnDisk: a question and its answer leave what says something: the
// answer ends with a question, which is open.
func TestTinySessionOnDisk(t *testing.T) {
	dir := crowd(t, 2)
	if items := read(t, sessionsDir(dir), filepath.Join("tiny-001", "state", "open_items.json")); !strings.Contains(items, "?") {
		t.Errorf("nothing is open: %s", items)
	}
	var names []string
	for _, f := range tree(t, filepath.Join(sessionsDir(dir), "tiny-001")) {
		names = append(names, filepath.Base(f))
		if fi, err := os.Stat(f); err != nil || fi.Size() == 0 && filepath.Base(f) != "lock" {
			t.Errorf("%s says nothing", f)
		}
	}
	if got := strings.Join(names, " "); got != "journal.head journal.jsonl lock session.json open_items.json thread.json" {
		t.Errorf("on disk: %s", got)
	}
}
