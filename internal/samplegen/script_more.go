package main

import (
	"fmt"
	"strings"
	"time"
)

// timetable is n rows of the port authority's CSV, with its usual blemishes.
func timetable(r *rng, n int) string {
	var b strings.Builder
	b.WriteString("route;vessel;valid_from;valid_to;days;departs;arrives;note\n")
	routes := []string{"TRD-KRS", "BOO-MSK", "HVN-LYN", "SVK-HAL", "ALT-OKS", "FLO-MAL", "KRS-TRD", "MSK-BOO", "LYN-HVN"}
	ships := []string{"MF Skarven", "MF Havella", "MF Tindra", "MF Lomvi", "MF Aurora Nord"}
	notes := []string{"", "", "", "", "not 17 May", "summer only", "call ahead", "vehicles < 3,5 m"}
	for i := range n {
		h, m := r.between(5, 22), 5*r.n(12)
		arrive := h*60 + m + r.between(25, 230)
		days := pick(r, []string{"1234567", "12345", "67", "7", "135", "x"})
		if days == "x" && i%17 != 3 {
			days = "1234567"
		}
		fmt.Fprintf(&b, "%s;%s;2026-0%d-%02d;2026-%02d-%02d;%s;%02d:%02d;%02d:%02d;%s\n", pick(r, routes), pick(r, ships), r.between(3, 5), r.between(1, 28),
			r.between(6, 11), r.between(1, 28), days, h, m, arrive/60%24, arrive%60, pick(r, notes))
	}
	return b.String()
}

// timetableImport: a file format, its parser and its odd rows.
func timetableImport(s *session) {
	s.user(14*time.Minute, "the port authority sends the summer timetable as csv (data/timetable-2026.csv). write an importer: cmd/timetable, dry run by default, prints what it would add. watch out for sailings past midnight")
	s.w.files["data/timetable-2026.csv"] = timetable(s.r, 260)
	s.turn("First what the file looks like, from both ends.", s.read("data/timetable-2026.csv", 1, 110), s.bash("wc data/timetable-2026.csv; file data/timetable-2026.csv; cut -d';' -f5 data/timetable-2026.csv | sort | uniq -c", "Size, encoding and day patterns", "   261    611  17204 data/timetable-2026.csv\ndata/timetable-2026.csv: Unicode text, UTF-8 text\n     47 12345\n    121 1234567\n     29 135\n     31 67\n     29 7\n      1 days\n      3 x\n"))
	s.turn("Days are ISO weekdays; three rows say `x`, which the format doesn't explain. I'll look at those and at the rows that end past midnight.", s.bash("grep -n ';x;' data/timetable-2026.csv; awk -F';' 'NR>1 && $7 < $6' data/timetable-2026.csv", "Odd rows", "5:HVN-LYN;MF Lomvi;2026-04-11;2026-09-14;x;21:35;00:40;call ahead\n174:ALT-OKS;MF Tindra;2026-05-02;2026-08-30;x;09:20;11:05;\n"+pastMidnight(s.r, 26)),
		s.read("internal/sailing/sailing.go"), s.read("internal/vessel/vessel.go"))
	s.think("x rows: unknown, refuse with line number rather than guessing. Past midnight: arrival day +1. DST: times are local to the departure port. I'd use time.Date with location and let Go normalise; nonexistent local times (02:30 on 29 March) need care: no rows there.")
	s.turn("The importer goes into a package of its own, so that it can be tested without a database.", s.create("internal/timetable/timetable.go", timetableFile), s.create("internal/timetable/timetable_test.go", timetableTest))
	at := s.w.line("internal/timetable/timetable_test.go", "t.Errorf(\"trips")
	s.turn("", s.fails("go test ./internal/timetable", "Run", 1, testFails("timetable", "timetable_test.go", "TestExpand/past_midnight", s.r, fmt.Sprintf("%d: trips[0] arrives 2026-06-01 00:40 before it departs 2026-06-01 21:35", at))))
	s.turn("", s.edit("internal/timetable/timetable.go", "\t\tarrives := at(day, row.Arrives, zone)\n", "\t\tarrives := at(day, row.Arrives, zone)\n\t\tif !arrives.After(departs) {\n\t\t\tarrives = at(day.AddDate(0, 0, 1), row.Arrives, zone)\n\t\t}\n"))
	s.turn("", s.fails("go test ./internal/timetable", "Run", 1, testFails("timetable", "timetable_test.go", "TestParse/unknown_days", s.r, fmt.Sprintf("%d: Parse = nil, want error naming line 3", s.w.line("internal/timetable/timetable_test.go", "want error naming")))))
	s.turn("", s.edit("internal/timetable/timetable.go", "\tfor _, c := range s {\n", "\tif s == \"\" || strings.Trim(s, \"1234567\") != \"\" {\n\t\treturn nil, fmt.Errorf(\"days %q are not ISO weekdays\", s)\n\t}\n\tfor _, c := range s {\n"))
	s.turn("", s.bash("go test -race ./internal/timetable -count=5 && go vet ./internal/timetable", "Run", fmt.Sprintf("ok  \t%s/internal/timetable\t1.212s\n", module)))
	s.turn("Now the command, dry by default.", s.create("cmd/timetable/main.go", timetableMain), s.read("cmd/harborline/main.go"))
	s.turn("", slow(s.fails("go run ./cmd/timetable data/timetable-2026.csv | tail -70", "Dry run", 1, dryRun(s.r, 66)+"timetable: 2 rows refused:\n  data/timetable-2026.csv:5: days \"x\" are not ISO weekdays\n  data/timetable-2026.csv:174: days \"x\" are not ISO weekdays\n"), 3*time.Second))
	s.turn("", slow(s.bash("go vet ./... && go test ./...", "Everything", testsPass(s.r)), 21*time.Second), s.read("internal/timetable/timetable.go"))
	s.turn("", s.commit("timetable: import the port authority's CSV, dry by default", "internal/timetable/timetable.go", "internal/timetable/timetable_test.go", "cmd/timetable/main.go"))
	s.say("`go run ./cmd/timetable data/timetable-2026.csv` prints what it would add; `-apply` does it.\n\n- Departures past midnight arrive on the next day.\n- Two rows have `x` for days. I refuse those with their line numbers (5 and 174) instead of guessing; please ask the port authority what they mean.\n- Times are local to the departure port, as on the paper timetable.")
}

func pastMidnight(r *rng, n int) string {
	var b strings.Builder
	for range n {
		fmt.Fprintf(&b, "%s;%s;2026-0%d-%02d;2026-09-%02d;%s;2%d:%02d;0%d:%02d;\n", pick(r, []string{"TRD-KRS", "HVN-LYN", "ALT-OKS"}), pick(r, []string{"MF Skarven", "MF Lomvi"}),
			r.between(3, 6), r.between(1, 28), r.between(1, 28), pick(r, []string{"1234567", "12345", "67"}), r.n(4), 5*r.n(12), r.n(3), 5*r.n(12))
	}
	return b.String()
}

func dryRun(r *rng, n int) string {
	var b strings.Builder
	for range n {
		d := time.Date(2026, time.Month(r.between(4, 9)), r.between(1, 28), r.between(5, 23), 5*r.n(12), 0, 0, time.UTC)
		fmt.Fprintf(&b, "+ %s %-14s %s -> %s  seats %3d lane %4d\n", pick(r, []string{"TRD-KRS", "BOO-MSK", "HVN-LYN", "SVK-HAL"}), pick(r, []string{"MF Skarven", "MF Havella", "MF Tindra"}),
			d.Format("Mon 2006-01-02 15:04"), d.Add(time.Duration(r.between(25, 230))*time.Minute).Format("15:04"), pick(r, []int{120, 180, 240}), pick(r, []int{1800, 2400}))
	}
	return b.String()
}

// driverUpgrade: a dependency with breaking changes, over many files.
func driverUpgrade(s *session) {
	s.user(7*time.Minute, "pgdriver 6 is out and 5 gets no more security fixes. please upgrade, changelog is in vendor-notes/pgdriver-6.md")
	s.w.files["vendor-notes/pgdriver-6.md"] = driverNotes(s.r)
	s.turn("", s.read("vendor-notes/pgdriver-6.md"), s.read("go.mod"), s.grep("pgdriver", ""))
	s.turn("Two changes concern us: arguments of type `time.Time` must be UTC, and `Exec` reports `RowsAffected` as an error value when the server doesn't. Where do we rely on either?", s.grep("RowsAffected()", "internal/"), s.grep("time.Now()", "internal/"))
	s.turn("", slow(s.bash("sed -i 's#example.org/pgdriver v5.7.1#example.org/pgdriver v6.0.2#' go.mod && go mod download && go build ./...", "Upgrade and build", ""), 24*time.Second))
	s.w.files["go.mod"] = strings.Replace(s.w.files["go.mod"], "v5.7.1", "v6.0.2", 1)
	for _, pkg := range []string{"booking", "waitlist", "notice", "invoice", "refund", "fare"} {
		store := "internal/" + pkg + "/store.go"
		s.turn("", s.read(store), s.grep("SetStatus", "internal/"+pkg))
		s.turn("", s.edit(store, "\tif n, _ := res.RowsAffected(); n == 0 {", "\tn, err := res.RowsAffected()\n\tif err != nil {\n\t\treturn fmt.Errorf(\"count rows of "+pkg+" %s: %w\", id, err)\n\t}\n\tif n == 0 {"))
	}
	s.turn("", s.fails("go test ./... 2>&1 | grep -v '^ok'", "Test", 1, testFails("booking", "store_test.go", "TestStoreInsert", s.r, "61: insert booking bo_19c0aa77e1: pgdriver: time argument $10 is not UTC (location Local)")+testFails("notice", "sender_test.go", "TestRound", s.r, "88: read queue: pgdriver: time argument $1 is not UTC (location Local)")))
	s.turn("", s.edit("internal/notice/sender.go", "\tdue, err := s.store.due(ctx, time.Now(), 250)", "\tdue, err := s.store.due(ctx, time.Now().UTC(), 250)"), s.edit("internal/notice/sender.go", "\tn.NextTry = time.Now().Add(Backoff(n.Attempts))", "\tn.NextTry = time.Now().UTC().Add(Backoff(n.Attempts))"), s.grep("HeldUntil", "internal/"))
	s.turn("", s.read("internal/booking/service.go"), s.read("internal/booking/booking_test.go"))
	s.turn("", slow(s.bash("go vet ./... && go test -race ./... -v", "Everything", testVerbose(s.r)+testsPass(s.r)), 83*time.Second))
	s.turn("", s.gitDiff("internal/booking/store.go", "internal/waitlist/store.go", "internal/notice/store.go", "internal/invoice/store.go", "internal/refund/store.go", "internal/fare/store.go", "internal/notice/sender.go", "go.mod"))
	s.turn("", s.commit("pgdriver 6: times in UTC, row counts checked", "go.mod", "internal/notice/sender.go", "internal/booking/store.go", "internal/waitlist/store.go", "internal/notice/store.go", "internal/invoice/store.go", "internal/refund/store.go", "internal/fare/store.go"))
	s.say("Upgraded to pgdriver 6.0.2. Two of its breaking changes touched us: six stores now look at the error of `RowsAffected`, and the sender passes UTC times. The new `prefer_simple_protocol` default doesn't matter here, since we don't use a pooler.")
}

func driverNotes(r *rng) string {
	var b strings.Builder
	b.WriteString("# pgdriver 6\n\nMajor release. Go 1.24 or later. Version 5 gets security fixes until the end of March.\n\n## Breaking\n\n- Times: an argument of type `time.Time` must be in UTC. The driver used to convert, and hid mistakes around clock changes.\n- `Result.RowsAffected` returns an error when the server sends no count. It used to return 0 and no error.\n- `Config.PreferSimple` is gone. Use `prefer_simple_protocol=on` in the connection string.\n- `Listen` returns an iterator. The channel form was removed.\n- Arrays of composite types are no longer scanned into `[]any`.\n\n## Added\n\n")
	what := []string{"pipelines of up to %d statements", "a cache of %d prepared statements per connection", "COPY at %d MB/s on the reference machine", "traces with %d attributes, following the database conventions", "a pool that warms %d connections before it says ready", "cancellation within %d ms when a context ends"}
	for range 5 {
		for _, w := range what {
			fmt.Fprintf(&b, "- "+w+" (#%d)\n", r.between(4, 900), r.between(1100, 2900))
		}
	}
	b.WriteString("\n## Fixed\n\n")
	bugs := []string{"a nil pointer in %s when the server restarts", "%s could block for ever after a cancelled context", "wrong offset in the error position of %s", "%s leaked a goroutine per failed handshake", "numeric precision lost in %s beyond 15 digits"}
	for range 7 {
		for _, bug := range bugs {
			fmt.Fprintf(&b, "- "+bug+" (#%d)\n", pick(r, []string{"Conn.Exec", "Rows.Next", "Pool.Acquire", "Batch.Close", "CopyFrom", "Conn.Ping", "Tx.Commit"}), r.between(1100, 2900))
		}
	}
	return b.String()
}

// fleetReport: numbers for people, from queries and a script.
func fleetReport(s *session) {
	s.user(19*time.Minute, "finance wants load factor per route and vessel for the winter (nov-feb), as a table i can paste, plus the five worst departures. read-only please")
	s.turn("", s.read("migrations/0002_sailings.up.sql"), s.read("internal/sailing/sailing.go"), s.read("internal/vessel/vessel.go"))
	s.turn("Load factor is seats sold over seats, and deck sold over deck; I'll get both per route and ship.", slow(s.bash(`psql "$REPORTING_URL" -c "select route_code, v.name, date_trunc('month', departs_at)::date m, count(*) trips, sum(seats_sold) sold, sum(s.seats) seats, round(100.0*sum(seats_sold)/sum(s.seats),1) pct, round(100.0*sum(lane_sold)/nullif(sum(lane_total),0),1) deck from sailings s join vessels v on v.id = vessel_id where departs_at >= '2025-11-01' and departs_at < '2026-03-01' group by 1,2,3 order by 1,2,3"`, "Load by route, ship and month", loadTable(s.r, 96)), 11*time.Second))
	s.turn("", s.bash(`psql "$REPORTING_URL" -c "select id, route_code, departs_at, seats, seats_sold, lane_total, lane_sold from sailings where departs_at >= '2025-11-01' and departs_at < '2026-03-01' and status = 'arrived' order by seats_sold::float/seats limit 40"`, "The emptiest departures", rowsOf(s.r, 40)), s.bash("psql \"$REPORTING_URL\" -Atc \"select json_agg(x) from (select route_code, count(*) filter (where seats_sold = 0) empty, count(*) n from sailings where departs_at >= '2025-11-01' group by 1) x\"", "Trips without anybody", `[{"route_code":"TRD-KRS","empty":3,"n":1441},{"route_code":"BOO-MSK","empty":0,"n":967},{"route_code":"HVN-LYN","empty":41,"n":1188},{"route_code":"SVK-HAL","empty":17,"n":720},{"route_code":"ALT-OKS","empty":9,"n":482},{"route_code":"FLO-MAL","empty":1,"n":603}]`+"\n"))
	s.think("Some rows show sold > seats because of the overselling; mention. HVN-LYN has 41 empty trips. Check whether those were cancelled for weather: status 'arrived' only excludes. Query notices with template cancelled by sailing.")
	s.turn("Forty-one empty trips on HVN-LYN look like cancellations that were never marked. Checking against the mails that went out.", s.bash(`psql "$REPORTING_URL" -c "select date(n.created_at) d, count(*) mails, count(distinct b.sailing_id) sailings from notices n join bookings b on b.id = n.booking_id join sailings s on s.id = b.sailing_id where n.template = 'cancelled' and s.route_code = 'HVN-LYN' and n.created_at >= '2025-11-01' group by 1 order by 1"`, "Cancellation mails by day", cancelledDays(s.r, 31)), s.bash("zgrep -h 'route\":\"HVN-LYN' logs/harborline-2026-01-*.json.gz | tail -60", "Log of the route in January", serverLog(s.r, 58, time.Date(2026, 1, 12, 6, 2, 0, 0, time.UTC), []string{`"level":"INFO","msg":"sailing cancelled","route":"HVN-LYN","reason":"wind 24 m/s"`, `"level":"INFO","msg":"sailing cancelled","route":"HVN-LYN","reason":"wind 27 m/s"`})))
	s.say("Load factor, November to February (seats / car deck):\n\n| route | trips | seats | deck |\n|---|---|---|---|\n| TRD-KRS | 1,441 | 61.4 % | 72.9 % |\n| BOO-MSK | 967 | 70.2 % | 55.1 % |\n| HVN-LYN | 1,188 | 38.7 % | 64.0 % |\n| SVK-HAL | 720 | 33.1 % | 41.8 % |\n| ALT-OKS | 482 | 29.5 % | 47.3 % |\n| FLO-MAL | 603 | 44.9 % | 38.2 % |\n\nMind two things before this goes to finance: 38 of the 41 empty trips on HVN-LYN were cancelled for wind but stand as *arrived*, so its true figure is about 40.0 %; and two sailings count above 100 % because they were oversold.")
}

func loadTable(r *rng, n int) string {
	var b strings.Builder
	b.WriteString(" route_code |      name      |     m      | trips | sold  | seats |  pct  | deck \n------------+----------------+------------+-------+-------+-------+-------+------\n")
	for range n {
		trips := r.between(40, 190)
		seats := trips * pick(r, []int{120, 180, 240})
		sold := seats * r.between(18, 88) / 100
		fmt.Fprintf(&b, " %-10s | %-14s | %s | %5d | %5d | %5d | %5.1f | %4.1f\n", pick(r, []string{"TRD-KRS", "BOO-MSK", "HVN-LYN", "SVK-HAL", "ALT-OKS", "FLO-MAL"}), pick(r, []string{"MF Skarven", "MF Havella", "MF Tindra", "MF Lomvi"}),
			pick(r, []string{"2025-11-01", "2025-12-01", "2026-01-01", "2026-02-01"}), trips, sold, seats, 100*float64(sold)/float64(seats), float64(r.between(200, 900))/10)
	}
	return b.String() + fmt.Sprintf("(%d rows)\n", n)
}

func cancelledDays(r *rng, n int) string {
	var b strings.Builder
	b.WriteString("     d      | mails | sailings \n------------+-------+----------\n")
	at := time.Date(2025, 11, 4, 0, 0, 0, 0, time.UTC)
	for range n {
		fmt.Fprintf(&b, " %s | %5d | %8d\n", at.Format(time.DateOnly), r.between(4, 160), r.between(1, 3))
		at = at.AddDate(0, 0, r.between(1, 6))
	}
	return b.String() + fmt.Sprintf("(%d rows)\n", n)
}

// reviewBranch: a colleague's branch, read file by file.
func reviewBranch(s *session) {
	s.branch = "review/holds-in-redis"
	s.user(26*time.Minute, "can you review jo's branch (holds in a separate table instead of bookings.status)? be frank but kind, i'll post it")
	s.turn("", s.bash("git fetch -q && git log --oneline main..origin/holds-table && git diff --stat main..origin/holds-table", "What is in it", gitLog(s.r, []string{"holds: sweep by expiry", "booking: confirm from hold", "holds: own table and store"})+" internal/hold/hold.go | 118 +++\n internal/hold/store.go | 96 +++\n internal/booking/service.go | 54 +-\n migrations/0013_holds.up.sql | 31 +\n 4 files changed, 282 insertions(+), 17 deletions(-)\n"))
	s.w.files["internal/hold/hold.go"] = holdFile
	s.turn("", s.bash("git diff main..origin/holds-table -- internal/hold migrations", "The new package", unified("internal/hold/hold.go", "", holdFile, s.r)), s.read("internal/booking/service.go"))
	s.turn("I want to see how it meets the reservation path and the sweeper.", s.read("internal/booking/reserve.go"), s.read("internal/booking/booking.go"), s.grep("StatusHeld", "internal/"))
	s.turn("", slow(s.bash("git switch -q origin/holds-table --detach && go vet ./... && go test -race ./... -v", "Run its tests", testVerbose(s.r)), 77*time.Second))
	s.think("Points: 1) Extend uses time.Now() twice, clock injection missing. 2) Release deletes the hold before giving room back: crash in between leaks seats. 3) Sweep has no limit/ORDER BY, lock contention. 4) migration copies held bookings but not HeldUntil null; also drops index used by gate screen. 5) Good: tests for expiry, naming. I should verify 2 by a test.")
	s.turn("One suspicion deserves a test: a crash between the two steps of `Release`.", s.create("internal/hold/leak_test.go", leakTest), s.read("internal/hold/hold.go"))
	at := s.w.line("internal/hold/leak_test.go", "t.Errorf")
	s.turn("", s.fails("go test ./internal/hold -run TestReleaseCrash", "Does it leak", 1, testFails("hold", "leak_test.go", "TestReleaseCrash", s.r, fmt.Sprintf("%d: 4 seats are lost after a crash in Release", at))))
	s.turn("", s.bash(`psql "$SCRATCH_URL" -c "explain (analyze, buffers) delete from holds where expires_at < now()"`, "The sweep's plan", queryPlan(s.r, "holds", "")), s.bash("git switch -q main && rm -f internal/hold/leak_test.go && git status --short", "Back to main", ""))
	s.say("A review that you can post:\n\n> Nice split: `Hold` reads well, the expiry tests use a fixed clock, and `Confirm` is much easier to follow than the status dance we have now. Three things before it goes in, and one question.\n>\n> 1. **`Release` can lose seats.** It deletes the hold first and gives the room back afterwards; a crash in between leaves four seats sold to nobody (test below). One transaction, or room first.\n> 2. **The sweep deletes everything at once.** On the scratch copy that is a sequential scan and one long lock. An index on `expires_at` and batches of 100 would do.\n> 3. **`Extend` reads the clock twice**, so a hold can be extended and expired at the same time. Pass `now` in, as the rest of the package does.\n>\n> Question: what happens to holds that exist when the migration runs? `0013` copies them, but I see nothing that stops the old release from writing new ones meanwhile.\n\nI left the test out of the branch; say so if I should push it.")
}
