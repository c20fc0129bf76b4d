package main

import (
	"fmt"
	"time"
)

// playMorning: an oversold ferry, then a mail queue that spins.
func playMorning(s *session) {
	oversold(s)
	oversoldFix(s)
	mailStorm(s)
	mailFix(s)
}

func oversold(s *session) {
	s.user(0, "Two sailings were oversold this weekend (one by 3 seats, one by 1). Nobody touched capacity. Please find out how that can happen and fix it with a test. The runbook is in docs/runbook.md, alerts are described there.")
	s.think("They saw oversold sailings. The likely cause is a check-then-act race between reading the sailing's room and writing the sold counter. Let me look at the layout of the repository first and read the reservation code before assuming.")
	s.turn("I'll start with the layout and the runbook, then read the reservation path.", s.list(""), s.read("docs/runbook.md"))
	s.turn("", s.glob("internal/", ".go"))
	s.turn("The reservation lives in `internal/booking`. Reading it together with the sailing side.",
		s.read("internal/booking/reserve.go"), s.read("internal/sailing/sailing.go"), s.read("internal/sailing/sold.go"))
	s.turn("", s.read("internal/booking/booking.go"), s.read("internal/booking/store.go"))
	s.turn("Let me see who else moves the sold counters.", s.grep("AddSold", ""), s.grep("seats_sold", ""))
	s.turn("Now the figures in the database for the weekend.",
		s.bash(`psql "$REPORTING_URL" -c "select id, route_code route, departs_at, seats, seats_sold sold, lane_total lane, lane_sold from sailings where departs_at > '2026-03-06' order by seats_sold - seats desc limit 42"`, "List the fullest sailings", rowsOf(s.r, 42)))
	s.turn("And the log around the bookings that tipped it over.",
		s.bash(`zgrep -h '"sailing":"sa_4c1e09b7d2"' logs/harborline-2026-03-07.json.gz | head -80`, "Log lines of the oversold sailing",
			serverLog(s.r, 78, time.Date(2026, 3, 7, 9, 31, 4, 0, time.UTC), oversoldStory)))
	s.think("Two requests at 09:31:12.408 and 09:31:12.415 both read 236 sold of 240, both needed 4 seats; both passed Fits. So Reserve is check-then-act without a lock. The counter update has no condition. The fix: make AddSold conditional in SQL (WHERE seats_sold + $2 <= seats) and take the room before inserting the booking, releasing on failure.")
	s.turn("The log shows it: two reservations read the same 236 of 240 seats seven milliseconds apart, and both were granted four. `Reserve` checks first and takes the room afterwards, and `AddSold` has no condition. I'll look at the existing tests before changing that.",
		s.read("internal/booking/reserve_test.go"), s.read("internal/booking/booking_test.go"))
	s.turn("", s.todo("> reproduce the race in a test", "take the room atomically in SQL", "give the room back if the insert fails", "run the suite with the race detector"))
}

var oversoldStory = []string{
	`"level":"DEBUG","msg":"fits","sailing":"sa_4c1e09b7d2","seats":240,"sold":236,"want":4,"trace":"9f13a2"`,
	`"level":"DEBUG","msg":"fits","sailing":"sa_4c1e09b7d2","seats":240,"sold":236,"want":4,"trace":"0be771"`,
	`"level":"INFO","msg":"booking created","id":"bo_77a01c9e4f","reference":"HRB4K2","sailing":"sa_4c1e09b7d2","trace":"9f13a2"`,
	`"level":"INFO","msg":"booking created","id":"bo_c2550de19b","reference":"HRB9TQ","sailing":"sa_4c1e09b7d2","trace":"0be771"`,
	`"level":"ERROR","msg":"oversold","sailing":"sa_4c1e09b7d2","seats":240,"sold":244`,
}

const reserveTest = `// TestReserveRace lets many parties try for the last seats at once. However they
// interleave, no more seats may be sold than there are.
func TestReserveRace(t *testing.T) {
	m := &memSailings{trip: sailing.Sailing{ID: "sa_1", Seats: 240, SeatsSold: 236}}
	r := NewReserver(testStore(t), m)
	var wg sync.WaitGroup
	for i := range 16 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			x := valid()
			x.ID, x.SailingID, x.Passengers = fmt.Sprintf("bo_%02d", i), "sa_1", 4
			if err := r.Reserve(context.Background(), x, 0); err != nil && !errors.Is(err, ErrFull) {
				t.Errorf("Reserve: %v", err)
			}
		}()
	}
	wg.Wait()
	if m.trip.SeatsSold > m.trip.Seats {
		t.Fatalf("sold %d of %d seats", m.trip.SeatsSold, m.trip.Seats)
	}
}
`

func oversoldFix(s *session) {
	const test = "internal/booking/reserve_test.go"
	s.turn("First the test that shows it.",
		s.edit(test, "func TestReserveFull(", reserveTest+"\nfunc TestReserveFull("),
		s.edit(test, "\t\"errors\"\n\t\"sync\"", "\t\"errors\"\n\t\"fmt\"\n\t\"sync\""))
	s.turn("", s.fails("go test ./internal/booking/ -run TestReserve -count=20", "Run the new test", 1,
		testFails("booking", "reserve_test.go", "TestReserveRace", s.r, fmt.Sprintf("%d: sold 248 of 240 seats", s.w.line(test, "sold %d of")), fmt.Sprintf("%d: sold 244 of 240 seats", s.w.line(test, "sold %d of")))))
	s.turn("Red, as it should be. Now the counter becomes conditional: the row is only moved if the party still fits.",
		s.edit("internal/sailing/sold.go", "\t_, err := s.db.ExecContext(", "\tres, err := s.db.ExecContext("),
		s.edit("internal/sailing/sold.go", "\t\tWHERE id = $1`, id, seats, lane)", "\t\tWHERE id = $1\n\t\t  AND seats_sold + $2 BETWEEN 0 AND seats\n\t\t  AND lane_sold + $3 BETWEEN 0 AND lane_total`, id, seats, lane)"),
		s.edit("internal/sailing/sold.go", "\t\treturn fmt.Errorf(\"add sold on %s: %w\", id, err)\n\t}\n\treturn nil", "\t\treturn fmt.Errorf(\"add sold on %s: %w\", id, err)\n\t}\n\tif n, _ := res.RowsAffected(); n == 0 {\n\t\treturn ErrNoRoom\n\t}\n\treturn nil"),
		s.edit("internal/sailing/sold.go", "// AddSold moves", "// ErrNoRoom is returned when a change would sell more than there is, or give\n// back more than was sold.\nvar ErrNoRoom = errors.New(\"no room left\")\n\n// AddSold moves"),
		s.edit("internal/sailing/sold.go", "\t\"context\"\n\t\"fmt\"", "\t\"context\"\n\t\"errors\"\n\t\"fmt\""))
	s.turn("Then the order in `Reserve`: take the room, insert, and give it back if the insert fails.",
		s.edit("internal/booking/reserve.go", `	if err := r.bookings.Insert(ctx, x); err != nil {
		return err
	}
	if err := r.sailings.AddSold(ctx, trip.ID, seats, x.LaneMeters); err != nil {
		return fmt.Errorf("reserve %s: %w", x.Reference, err)
	}
	return nil`, `	if err := r.sailings.AddSold(ctx, trip.ID, seats, x.LaneMeters); err != nil {
		if errors.Is(err, sailing.ErrNoRoom) {
			return ErrFull
		}
		return fmt.Errorf("reserve %s: %w", x.Reference, err)
	}
	if err := r.bookings.Insert(ctx, x); err != nil {
		// The room goes back even if the caller has gone away.
		back := context.WithoutCancel(ctx)
		return errors.Join(err, r.sailings.AddSold(back, trip.ID, -seats, -x.LaneMeters))
	}
	return nil`))
	s.turn("", s.fails("go test ./internal/booking/ -run TestReserve -count=20", "Run the test again", 1,
		testFails("booking", "reserve_test.go", "TestReserveRace", s.r, fmt.Sprintf("%d: sold 244 of 240 seats", s.w.line(test, "sold %d of")))))
	s.think("The in-memory fake does not have the condition, so the test still fails. The fake must honour the same contract: update only if it fits.")
	s.turn("The fake in the test still sells without looking. It has to keep the contract that the SQL keeps now.",
		s.edit(test, "\tm.trip.SeatsSold += seats\n", "\tif sold := m.trip.SeatsSold + seats; sold < 0 || sold > m.trip.Seats {\n\t\treturn sailing.ErrNoRoom\n\t}\n\tm.trip.SeatsSold += seats\n"))
	s.turn("", slow(s.bash("go test -race ./internal/booking/ ./internal/sailing/ -count=50", "Race detector, fifty rounds", fmt.Sprintf("ok  \t%s/internal/booking\t6.214s\nok  \t%s/internal/sailing\t1.090s\n", module, module)), 71*time.Second),
		slow(s.bash("go vet ./... && go test ./...", "The whole suite", testsPass(s.r)), 22*time.Second))
	s.turn("", s.gitDiff("internal/sailing/sold.go", "internal/booking/reserve.go", test),
		s.read("internal/booking/reserve.go", 35, 40))
	s.turn("", s.commit("booking: take the room before the booking is written", "internal/sailing/sold.go", "internal/booking/reserve.go", test))
	s.say("The two sailings were oversold by a race, not by a wrong capacity.\n\n**Cause.** `Reserver.Reserve` read the room that was left, decided, and only then moved the counter. Two requests seven milliseconds apart both saw 236 of 240 seats sold and both took four.\n\n**Fix.** `Store.AddSold` moves the counter only while the party still fits (one `UPDATE` with the condition inside, `ErrNoRoom` otherwise), and `Reserve` takes the room before it writes the booking; if the write fails, the room goes back.\n\n**Shown by** `TestReserveRace`: sixteen parties for four seats, fifty rounds under the race detector.\n\nThe two sailings that are oversold stay so until somebody calls the passengers; I left the data alone.")
}

func mailStorm(s *session) {
	s.user(9*time.Minute, "thanks! next: since last night the sender burns a whole core and the mail gateway throttles us. queue isn't even long. can you look?")
	s.turn("I'll look at the profile of the running process and at its log at the same time.",
		s.bash("go tool pprof -top -nodecount=24 http://localhost:6060/debug/pprof/profile?seconds=30", "CPU profile of the sender", profile(s.r, senderProfile)),
		s.bash("journalctl -u harborline -o cat --since -5min | grep delivery | tail -60", "Last deliveries", deliveryLog(s)))
	s.think("Attempt numbers are 29, 30, 31... and `next` lies in the past or is the same instant. Backoff doubles 30s << attempt: 30e9 << 29 overflows int64, becoming negative, so `d > 2h` is false and the negative pause means retry at once.")
	s.turn("`next` lies before the line's own time, for attempts from 28 on. That smells of an overflow in the pause. Reading the code.",
		s.read("internal/notice/notice.go"), s.read("internal/notice/sender.go"))
	s.turn("", s.read("internal/notice/store.go"), s.read("config/production.yaml"), s.grep("Backoff(", ""))
	s.turn("Confirming with numbers instead of believing it.",
		s.bash("cat > /tmp/b_test.go <<'E'\npackage notice\n\nimport \"testing\"\n\nfunc TestPrint(t *testing.T) {\n\tfor _, n := range []int{1, 5, 8, 27, 28, 29, 30, 33, 40} {\n\t\tt.Log(n, Backoff(n))\n\t}\n}\nE\ncp /tmp/b_test.go internal/notice/zz_test.go && go test ./internal/notice -run TestPrint -v; rm internal/notice/zz_test.go", "Print the pauses",
			"=== RUN   TestPrint\n    zz_test.go:7: 1 1m0s\n    zz_test.go:7: 5 16m0s\n    zz_test.go:7: 8 2h0m0s\n    zz_test.go:7: 27 2h0m0s\n    zz_test.go:7: 28 2h0m0s\n    zz_test.go:7: 29 -651h18m23.379015168s\n    zz_test.go:7: 30 -1302h36m46.758030336s\n    zz_test.go:7: 33 -173h59m0.642459648s\n    zz_test.go:7: 40 -2147h16m47.1h\n--- PASS: TestPrint (0.00s)\nPASS\n"))
	s.turn("", s.bash("git log --oneline -12 -- internal/notice config/production.yaml", "When did that change", gitLog(s.r, noticeHistory)))
}

var senderProfile = []string{
	"runtime.selectgo", "harborline.example/ferry/internal/notice.(*Sender).one", "crypto/internal/fips140/nistec.p256MulInternal", "harborline.example/ferry/internal/notice.(*Store).reschedule",
	"encoding/json.(*encodeState).string", "runtime.mallocgc", "log/slog.(*JSONHandler).Handle", "syscall.Syscall6", "text/template.(*state).walk", "runtime.scanobject",
	"example.org/pgdriver.(*conn).exec", "crypto/tls.(*Conn).writeRecordLocked", "runtime.memmove", "time.Time.appendFormat", "net.(*netFD).Write", "database/sql.(*DB).conn",
	"runtime.findRunnable", "strconv.appendQuotedWith", "bufio.(*Writer).Flush", "runtime.futex",
}

var noticeHistory = []string{"config: give notices 40 attempts instead of 12", "notice: render in the locale of the booking", "notice: workers from the configuration", "notice: do not send twice after a restart", "config: statement timeout 4s", "notice: bounce on 550", "notice: mail_from per environment", "notice: first version of the sender"}

func gitLog(r *rng, subjects []string) string {
	out := ""
	for _, s := range subjects {
		out += r.hex(7) + " " + s + "\n"
	}
	return out
}

func deliveryLog(s *session) string {
	out := ""
	at := s.now
	for range 58 {
		at = at.Add(time.Duration(s.r.between(2, 60)) * time.Millisecond)
		n := s.r.between(27, 36)
		next := at.Add(-time.Duration(s.r.between(170, 1300)) * time.Hour)
		out += fmt.Sprintf(`{"time":%q,"level":"WARN","msg":"delivery failed","id":"no_%s","attempt":%d,"next":%q,"err":"421 4.7.0 too many messages, slow down"}`+"\n",
			at.Format(time.RFC3339Nano), s.r.hex(10), n, next.Format(time.RFC3339))
	}
	return out
}

func mailFix(s *session) {
	s.turn("There it is: forty attempts since Friday's configuration, and from attempt 29 on `30s << attempt` overflows, so the pause is negative and the notice is due at once. The table test first.",
		s.edit("internal/notice/notice_test.go", "func TestNoticeValidate(", `func TestBackoff(t *testing.T) {
	last := time.Duration(0)
	for n := 1; n < 200; n++ {
		d := Backoff(n)
		if d < last || d > 2*time.Hour {
			t.Fatalf("Backoff(%d) = %v after %v", n, d, last)
		}
		last = d
	}
	if got := Backoff(-3); got < 0 {
		t.Errorf("Backoff(-3) = %v", got)
	}
}

func TestNoticeValidate(`))
	s.turn("", s.fails("go test ./internal/notice", "Red first", 1, testFails("notice", "notice_test.go", "TestBackoff", s.r, fmt.Sprintf("%d: Backoff(29) = -651h18m23.379015168s after 2h0m0s", s.w.line("internal/notice/notice_test.go", "t.Fatalf(\"Backoff")))))
	s.turn("", s.edit("internal/notice/notice.go", s.w.around("internal/notice/notice.go", "func Backoff("), `func Backoff(attempt int) time.Duration {
	const longest = 2 * time.Hour
	// Eight doublings reach the longest pause; more would overflow in time.
	if attempt >= 8 {
		return longest
	}
	return min(30*time.Second<<max(attempt, 0), longest)
}`))
	s.turn("The sender also shouldn't hammer a gateway that says 421. I'll make a throttled round stop early.",
		s.edit("internal/notice/sender.go", "\tfor _, n := range due {\n\t\twork <- n\n\t}\n", "\tfor _, n := range due {\n\t\tif s.throttled.Load() {\n\t\t\tbreak // the rest is still due in the next round\n\t\t}\n\t\twork <- n\n\t}\n\ts.throttled.Store(false)\n"),
		s.edit("internal/notice/sender.go", "\tn.Attempts++\n", "\tvar t *ThrottledError\n\tif errors.As(err, &t) {\n\t\ts.throttled.Store(true)\n\t}\n\tn.Attempts++\n"),
		s.edit("internal/notice/sender.go", "\trender  func(n *Notice) (string, error)\n", "\trender  func(n *Notice) (string, error)\n\t// throttled is set by the first delivery of a round that is told to wait.\n\tthrottled atomic.Bool\n"))
	s.turn("", s.fails("go build ./...", "Build", 1, "# harborline.example/ferry/internal/notice\ninternal/notice/sender.go:26:12: undefined: atomic\ninternal/notice/sender.go:77:8: undefined: ThrottledError\ninternal/notice/sender.go:78:5: undefined: errors\n"))
	s.turn("", s.edit("internal/notice/sender.go", "import (\n\t\"context\"\n\t\"fmt\"\n\t\"log/slog\"\n\t\"sync\"\n\t\"time\"\n)\n", `import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"
)

// ThrottledError is a gateway's request to slow down (421 or 450).
type ThrottledError struct {
	Code int
	Text string
}

func (e *ThrottledError) Error() string { return fmt.Sprintf("%d %s", e.Code, e.Text) }
`))
	s.turn("", slow(s.bash("go build ./... && go test -race ./internal/notice -count=10", "Build and test", fmt.Sprintf("ok  \t%s/internal/notice\t2.871s\n", module)), 31*time.Second))
	s.turn("", s.read("internal/notice/sender.go"), s.bash("go vet ./internal/notice && go test ./...", "Everything", testsPass(s.r)))
	s.turn("", s.gitDiff("internal/notice/notice.go", "internal/notice/sender.go", "internal/notice/notice_test.go"))
	s.turn("", s.commit("notice: the pause between attempts never overflows", "internal/notice/notice.go", "internal/notice/sender.go", "internal/notice/notice_test.go"))
	s.say("Fixed. Friday's change to 40 attempts met an old overflow: `30s << 29` is negative, so a notice at attempt 29 was due again at once, and a few hundred of those kept four workers and the gateway busy.\n\n- `Backoff` stops at two hours from attempt 8 on and can't go negative.\n- A gateway that answers 421 ends the round; what is left stays due.\n\nUntil the release is out you can set `max_attempts: 28` to stop the spinning.")
}
