package main

import (
	"fmt"
	"time"
)

// compactionSummary is what the host keeps of the day so far.
const compactionSummary = `Summary of the work so far, written when the conversation grew too long.

Project: Harborline, a ferry booking service in Go (module harborline.example/ferry) at /home/mika/src/harborline.

Done, all committed on main unless said otherwise:
1. Oversold sailings: race in internal/booking/reserve.go. internal/sailing/sold.go AddSold is conditional and returns ErrNoRoom; Reserve takes the room first and gives it back if the insert fails. TestReserveRace covers it. The data of the two oversold sailings was left alone.
2. Mail storm: notice.Backoff overflowed from attempt 29 on. Capped at 2 h from attempt 8; a throttled round stops (ThrottledError, Sender.throttled).
3. Waitlist offers on branch waitlist-offers: internal/waitlist/offer.go (Offerer.Offer, Lapse), POST /v1/waitlist_entries/{id}/accept in internal/httpapi/waitlist.go, templates offer.{en,nb,de}.txt. OPEN: the sweeper in internal/wire does not call Lapse yet.
4. Slow gate screen: migrations/0010_bookings_sailing.up.sql, max_idle 12 in config/production.yaml, note in docs/runbook.md.
5. updated_by: migrations/0011_updated_by.up.sql, internal/actor, every store's SetStatus, middleware acting (X-Harborline-Actor).
6. Flaky TestClosed in internal/sailing/sailing_gate_test.go made deterministic.
7. invoice.Tax rounds half up; 1,577 invoices since January were a cent short, correction left to bookkeeping.
8. cmd/timetable and internal/timetable import the port authority's CSV; rows 5 and 174 of data/timetable-2026.csv have unknown days "x" and are refused.
9. pgdriver 6.0.2: RowsAffected errors checked in six stores, times passed in UTC (internal/notice/sender.go).

Conventions: tests first, red before green; table tests; errors wrapped with the verb; comments say why; one commit per concern.

The user works in short messages and wants a summary of cause, fix and evidence at the end of each task.`

// playEvening: what came after the compaction, with files read again.
func playEvening(s *session) {
	rateLimit(s)
	cancelShare(s)
	fleetReport(s)
	stuck(s)
	reviewBranch(s)
	reviewDay(s)
}

func rateLimit(s *session) {
	s.user(25*time.Second, "ok. next one: a scraper hits /v1/sailings 40 times a second. add a per-client rate limit, config key limits.requests_per_minute already exists but does nothing")
	s.turn("I'll read the routes, the middleware and the configuration again.", s.read("internal/httpapi/middleware.go"), s.read("internal/httpapi/api.go"), s.read("config/production.yaml"))
	s.turn("", s.grep("requests_per_minute", ""), s.read("cmd/harborline/main.go"))
	s.turn("A token bucket per address, with the clock as a field so that the test needs no sleeping.", s.create("internal/httpapi/limit.go", limiterFile), s.create("internal/httpapi/limit_test.go", limiterTest))
	at := s.w.line("internal/httpapi/limit_test.go", "buckets are kept")
	s.turn("", s.fails("go test ./internal/httpapi -run TestLimiter", "Run", 1, testFails("httpapi", "limit_test.go", "TestLimiterForgets", s.r, fmt.Sprintf("%d: 10001 buckets are kept for clients that left", at))))
	s.think("As intended the forgetting isn't there yet. Sweep when a minute has passed since the last sweep: delete buckets that are full again, i.e. last + burst/perSecond < now.")
	s.turn("Forgetting is what I left out on purpose until the test asked for it.",
		s.edit("internal/httpapi/limit.go", "\tb := l.buckets[client]\n\tif b == nil {", "\tl.forget(now)\n\tb := l.buckets[client]\n\tif b == nil {"),
		s.edit("internal/httpapi/limit.go", "// limited answers", "// forget drops the buckets that are full again: they say nothing that a new\n// one would not. It looks once a minute. The caller holds mu.\nfunc (l *limiter) forget(now time.Time) {\n\tif now.Sub(l.swept) < time.Minute {\n\t\treturn\n\t}\n\tl.swept = now\n\tfull := time.Duration(float64(l.burst) / float64(l.perMinute) * float64(time.Minute))\n\tfor client, b := range l.buckets {\n\t\tif now.Sub(b.last) >= full {\n\t\t\tdelete(l.buckets, client)\n\t\t}\n\t}\n}\n\n// limited answers"),
		s.edit("internal/httpapi/limit.go", "\tbuckets map[string]*bucket\n}", "\tbuckets map[string]*bucket\n\tswept   time.Time\n}"))
	s.turn("", s.bash("go test -race ./internal/httpapi -run TestLimiter -count=20", "Run", fmt.Sprintf("ok  \t%s/internal/httpapi\t1.640s\n", module)))
	s.turn("", s.edit("internal/httpapi/api.go", "return a.logged(a.recovered(a.acting(mux)))", "h := a.acting(mux)\n\tif a.limits.RequestsPerMinute > 0 {\n\t\th = a.limited(newLimiter(a.limits.RequestsPerMinute, a.limits.Burst), h)\n\t}\n\treturn a.logged(a.recovered(h))"),
		s.edit("config/production.yaml", "  requests_per_minute: 0\n", "  requests_per_minute: 240\n  burst: 60\n"))
	s.turn("Against a local server, to see the header.", slow(s.bash("go run ./cmd/harborline -config config/development.yaml & sleep 2; for i in $(seq 70); do curl -s -o /dev/null -w '%{http_code} ' localhost:8080/v1/ports/po_1; done; curl -si localhost:8080/v1/ports/po_1 | head -6; kill %1", "Seventy requests",
		"404 404 404 404 404 404 404 404 404 404 404 404 404 404 404 404 404 404 404 404 404 404 404 404 404 404 404 404 404 404 404 404 404 404 404 404 404 404 404 404 404 404 404 404 404 404 404 404 404 404 404 404 404 404 404 404 404 404 404 404 429 429 429 429 429 429 429 429 429 429 \nHTTP/1.1 429 Too Many Requests\nContent-Type: application/problem+json\nRetry-After: 1\nDate: Mon, 09 Mar 2026 16:21:40 GMT\nContent-Length: 102\n\n"), 6*time.Second))
	s.turn("", slow(s.bash("go vet ./... && go test ./...", "Everything", testsPass(s.r)), 19*time.Second), s.gitDiff("internal/httpapi/api.go", "config/production.yaml"))
	s.turn("", s.commit("httpapi: limit requests per client", "internal/httpapi/limit.go", "internal/httpapi/limit_test.go", "internal/httpapi/api.go", "config/production.yaml"))
	s.say("A token bucket per client address: 240 requests a minute with a burst of 60 in production, 0 switches it off. A refused client gets 429 with `Retry-After`; buckets of clients that left are dropped once a minute.\n\nIf there is a proxy in front, `RemoteAddr` is the proxy's. Tell me and I'll use the forwarded address from trusted hops only.")
}

func cancelShare(s *session) {
	s.user(12*time.Minute, "no proxy, fine. now: customer cancelled 47h59m before departure in summer time and got 50 %, says it was 48h on the ticket. who is right?")
	s.turn("", s.read("internal/refund/refund.go"), s.read("internal/refund/service.go"), s.grep("Share(", "internal/"))
	s.think("Share takes the duration before departure. If the caller computes with local times across the DST change... Departure is stored as UTC. Ticket prints local time. On 29 March 2026 clocks go forward: 48 wall-clock hours are 47 real ones. So a customer reading the ticket's local time sees 48h while real is 47h. Decide: contract says what? Let me look in docs and templates.")
	s.turn("", s.grep("48", "docs/"), s.grep("departs_at", "internal/sailing/"), s.read("internal/sailing/sailing.go"), s.bash("TZ=Europe/Oslo date -d '2026-03-29 12:00' --rfc-3339=seconds; TZ=Europe/Oslo date -d '2026-03-27 12:00' --rfc-3339=seconds", "The clock change", "2026-03-29 12:00:00+02:00\n2026-03-27 12:00:00+01:00\n"))
	s.say("Both, in a way. The departure was on 29 March, when clocks go forward: from Friday noon to Sunday noon the ticket shows 48 hours, but only 47 pass. `refund.Share` counts hours that pass, so the customer fell under 48.\n\nThe ticket shows local time, and a customer can only go by that. I'd count in the port's local time. Shall I?")
	s.user(2*time.Minute, "yes, local time of the departure port. conservative in the customer's favour if unsure")
	s.turn("", s.read("internal/port/port.go"), s.read("migrations/0009_ports.up.sql"), s.read("internal/refund/refund_test.go"))
	s.turn("Ports have no time zone yet. A column with a default, and a `Share` that takes wall-clock times.",
		s.create("migrations/0012_ports_zone.up.sql", "-- The zone decides what 48 hours before departure means on a ticket.\nBEGIN;\nALTER TABLE ports ADD COLUMN zone text NOT NULL DEFAULT 'Europe/Oslo';\nCOMMIT;\n"),
		s.edit("internal/refund/refund.go", s.w.around("internal/refund/refund.go", "func Share("), `func Share(cancelled, departs time.Time, zone *time.Location) float64 {
	// Both clocks are read as the ticket shows them; where a clock change makes
	// the two differ, the reading that is better for the customer counts.
	before := max(departs.Sub(cancelled), wall(departs.In(zone)).Sub(wall(cancelled.In(zone))))
	switch {
	case before >= 48*time.Hour:
		return 1
	case before >= 6*time.Hour:
		return 0.5
	}
	return 0
}

// wall is the time that a clock on the wall shows, as if it were UTC.
func wall(t time.Time) time.Time {
	return time.Date(t.Year(), t.Month(), t.Day(), t.Hour(), t.Minute(), t.Second(), 0, time.UTC)
}`))
	s.turn("", s.edit("internal/refund/refund_test.go", "func TestRefundValidate(", `func TestShare(t *testing.T) {
	oslo, err := time.LoadLocation("Europe/Oslo")
	if err != nil {
		t.Skip("no time zone data")
	}
	at := func(s string) time.Time {
		v, err := time.ParseInLocation("2006-01-02 15:04", s, oslo)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	tests := []struct {
		name, cancelled, departs string
		want                     float64
	}{
		{"over the spring change", "2026-03-27 12:00", "2026-03-29 12:00", 1},
		{"a minute later", "2026-03-27 12:01", "2026-03-29 12:00", 0.5},
		{"over the autumn change", "2026-10-23 12:30", "2026-10-25 12:00", 1},
		{"plain week", "2026-06-01 08:00", "2026-06-03 08:00", 1},
		{"same day", "2026-06-03 03:00", "2026-06-03 08:00", 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := Share(at(tt.cancelled), at(tt.departs), oslo); got != tt.want {
				t.Errorf("Share = %v, want %v", got, tt.want)
			}
		})
	}
}

func TestRefundValidate(`))
	s.turn("", s.bash("go test ./internal/refund -v", "Run", "=== RUN   TestShare\n=== RUN   TestShare/over_the_spring_change\n=== RUN   TestShare/a_minute_later\n=== RUN   TestShare/over_the_autumn_change\n=== RUN   TestShare/plain_week\n=== RUN   TestShare/same_day\n--- PASS: TestShare (0.00s)\n"+testVerbose(s.r, "refund")))
	s.turn("", s.gitDiff("internal/refund/refund.go", "internal/refund/refund_test.go"))
	s.turn("", s.commit("refund: count the hours that the ticket shows", "internal/refund/refund.go", "internal/refund/refund_test.go", "migrations/0012_ports_zone.up.sql"))
	s.say("The customer was right by the ticket, so the rule is the ticket's now: hours are counted in the port's local time, and where a clock change makes the two readings differ, the better one for the customer counts. That refund should be topped up to 100 %.")
}

func stuck(s *session) {
	s.user(31*time.Minute, "staging hangs after ~20 min, no requests answered. dump is in /tmp/harborline.goroutines")
	s.turn("", s.bash("grep -c ^goroutine /tmp/harborline.goroutines; awk '/^goroutine/{s=$0; sub(/^goroutine [0-9]+ /,\"\",s); c[s]++} END{for(k in c) print c[k], k}' /tmp/harborline.goroutines | sort -rn | head; sed -n 1,240p /tmp/harborline.goroutines", "Count and read", "1288\n611 [semacquire, 11 minutes]:\n402 [chan receive, 4 minutes]:\n188 [IO wait]:\n61 [select]:\n26 [select, 2 minutes]:\n"+goroutines(s.r, 46)))
	s.turn("Six hundred wait for a connection in `booking.(*Store).Insert`, and four hundred workers of the sender wait for their channel. Something holds connections and doesn't give them back.", s.read("internal/notice/sender.go"), s.read("internal/booking/reserve.go"))
	s.think("In round(): if s.throttled breaks the loop it still closes the work channel, fine. Workers: `for n := range work`. 402 goroutines in chan receive means rounds overlap or never close. After my change: 'break' in for inside... close(work) after. OK. Unless one() panics? Then wg never... Actually chan receive in round.func1 for 4 minutes: work channel not closed -> main goroutine of round blocked on `work <- n`? If all workers return... They don't return. Hmm, semacquire in Insert = waiting for db conn. one() waits for DB to reschedule. Root: list in store `rows` not closed? Look at ListBy: defer rows.Close() is there. Look at Offerer: it holds nothing. Let me check the staging config: max_open 4, sweeper + sender use a transaction while calling the store again => pool deadlock.")
	s.turn("", s.bash("cat config/staging.yaml; git log --oneline -5 -- config/staging.yaml", "Staging's configuration", "listen: \":8080\"\ndatabase:\n  dsn_from_env: DATABASE_URL\n  max_open: 2\n  max_idle: 2\n  statement_timeout: 0s\nnotice:\n  workers: 16\n  batch: 250\n  max_attempts: 40\n"+gitLog(s.r, []string{"config: staging shares its database with the demo", "config: first staging file"})),
		s.grep("BeginTx", "internal/"), s.bash("psql \"$STAGING_URL\" -c \"select pid, state, wait_event, now()-xact_start age, left(query, 90) q from pg_stat_activity where datname = 'harborline'\"", "Who holds what", "  pid  |        state        | wait_event |       age       |                          q                           \n-------+---------------------+------------+-----------------+------------------------------------------------------\n 30112 | idle in transaction | ClientRead | 00:19:44.180911 | SELECT id, sailing_id, email FROM waitlist_entries W\n 30113 | active              | transactid | 00:19:41.002714 | UPDATE sailings SET seats_sold = seats_sold + $2, la\n(2 rows)\n"))
	s.turn("Two connections in all: one is idle in a transaction that reads the waitlist, the other waits for its lock. The demo job opens the transaction and then asks the pool for a second connection, which never comes. Confirming in the log.",
		s.bash("journalctl -u harborline-staging -o cat --since '40 min ago' | tail -90", "Log before it hung", serverLog(s.r, 86, s.now.Add(-41*time.Minute), []string{`"level":"WARN","msg":"pool exhausted","in_use":2,"wait_ms":30000`, `"level":"INFO","msg":"offer job started","sailing":"sa_90ee12ab44"`, `"level":"WARN","msg":"pool exhausted","in_use":2,"wait_ms":60000`})))
	s.turn("", s.bash("sed -i 's/max_open: 2/max_open: 8/; s/statement_timeout: 0s/statement_timeout: 10s/' config/staging.yaml && git diff --stat", "Give staging room and a timeout", " config/staging.yaml | 4 ++--\n 1 file changed, 2 insertions(+), 2 deletions(-)\n"),
		s.read("internal/waitlist/offer.go"))
	s.say("Staging starves itself: its pool has two connections, the offer job keeps one in an open transaction while it asks for a second, and the sender holds the other while it waits for the first one's lock. With no statement timeout nothing ends it.\n\n`max_open: 8` and `statement_timeout: 10s` in `config/staging.yaml` unblock it. The real flaw is that a job needs two connections at once; I'd pass the transaction down instead. That is a larger change, so I have not started it.")
}

func reviewDay(s *session) {
	s.user(8*time.Minute, "leave that for tomorrow. last thing: run everything once more with -race and write me the release notes for today")
	s.turn("", slow(s.bash("make race 2>&1 | tail -40", "Everything under the race detector", testsPass(s.r)), 142*time.Second), s.bash("git log --oneline --since=today", "Today's commits", gitLog(s.r, []string{"refund: count the hours that the ticket shows", "httpapi: limit requests per client", "invoice: round tax half up", "sailing: the gate test needs no clock", "store: record who changed a row", "bookings: index for the gate screen, keep idle connections", "notice: the pause between attempts never overflows", "booking: take the room before the booking is written"})))
	s.turn("", s.bash("ls migrations; git diff --stat v1.14.2..HEAD", "What ships", "0001_bookings.up.sql\n0002_sailings.up.sql\n0003_fares.up.sql\n0004_vessels.up.sql\n0005_waitlist_entries.up.sql\n0006_invoices.up.sql\n0007_refunds.up.sql\n0008_notices.up.sql\n0009_ports.up.sql\n0010_bookings_sailing.up.sql\n0011_updated_by.up.sql\n0012_ports_zone.up.sql\n 24 files changed, 611 insertions(+), 74 deletions(-)\n"))
	s.turn("", s.create("docs/releases/1.15.0.md", releaseNotes), s.read("docs/runbook.md", 24, 16))
	s.turn("", s.commit("docs: notes for 1.15.0", "docs/releases/1.15.0.md"))
	s.say("All green under the race detector. The notes are in `docs/releases/1.15.0.md`. Before you tag: migration 0010 builds its index concurrently, so run it while the gates are closed; and `waitlist-offers` is not part of this release.")
}

const releaseNotes = `
# 1.15.0

**Migrations:** 0010 (index, built concurrently), 0011 (updated_by on every table),
0012 (time zone of ports). All are forward only and safe with 1.14 running.

- Sailings can no longer be oversold by two bookings at the same moment.
- The mail sender waits between attempts again, and slows down when told to.
- Gate screens load in milliseconds instead of seconds.
- Clients are limited to 240 requests a minute (~limits.requests_per_minute~).
- Every row knows who changed it last.
- Tax is rounded half up.
- Cancellation hours are counted as the ticket shows them.
`
