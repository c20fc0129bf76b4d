package main

import (
	"fmt"
	"strings"
	"time"
)

// playAfternoon: a new endpoint, an importer, a slow query, a sweep over every
// package, a pipeline that fails, and a driver upgrade.
func playAfternoon(s *session) {
	waitlistEndpoint(s)
	timetableImport(s)
	slowList(s)
	auditColumns(s)
	pipeline(s)
	rounding(s)
	driverUpgrade(s)
}

func waitlistEndpoint(s *session) {
	s.branch = "waitlist-offers"
	s.user(17*time.Minute, "Let's build offers: when a hold lapses or somebody cancels, the first waitlist entry that fits gets an offer (mail), which stands 45 minutes. POST /v1/waitlist_entries/{id}/accept turns it into a booking. Please plan it first, then do it.")
	s.think("I need to look at waitlist package, its store and service, httpapi routes and handler, notice sender templates. Then plan: Offerer in waitlist with small interfaces; handler accept; tests.")
	s.turn("Reading what is there before planning.", s.read("internal/waitlist/waitlist.go"), s.read("internal/waitlist/service.go"), s.read("internal/waitlist/store.go"))
	s.turn("", s.read("internal/httpapi/waitlist.go"), s.read("internal/httpapi/api.go"))
	s.turn("", s.read("migrations/0005_waitlist_entries.up.sql"), s.read("internal/notice/templates/confirmed.en.txt"), s.read("internal/notice/templates/confirmed.nb.txt"), s.read("internal/notice/templates/confirmed.de.txt"))
	s.say("Here is the plan.\n\n1. `waitlist.Offerer` with two small interfaces of its own: where room appears (`Room(ctx, sailing)`) and who mails (`Queue(ctx, notice)`).\n2. `Offer` walks the list in the order of `Less` and offers to the first entry that fits; it goes on while room is left, so that one large cancellation can serve three small parties.\n3. An offer takes the room at once (through `AddSold`), so an offered seat can't be sold twice. `Lapse` gives it back.\n4. `POST …/accept` is idempotent: accepting twice answers with the same booking.\n5. Templates `offer.{en,nb,de}.txt`.\n\nOne question: may a later, smaller party be served if the first one is too large for the room? I would say yes, with the first keeping its place. Shall I?")
	s.user(4*time.Minute, "yes, smaller parties may be served. go")
	s.turn("", s.todo("> offerer with tests", "accept endpoint", "templates", "OpenAPI"), s.create("internal/waitlist/offer.go", offerFile))
	s.turn("", s.create("internal/waitlist/offer_test.go", offerTest))
	s.turn("", s.fails("go test ./internal/waitlist", "First run", 1, "# harborline.example/ferry/internal/waitlist [harborline.example/ferry/internal/waitlist.test]\ninternal/waitlist/offer_test.go:44:17: undefined: memList\ninternal/waitlist/offer_test.go:58:12: o.now undefined (type *Offerer has no field or method now)\nFAIL\tharborline.example/ferry/internal/waitlist [build failed]\n"))
	s.turn("", s.edit("internal/waitlist/offer.go", "\tqueue Queue\n}", "\tqueue Queue\n\tnow   func() time.Time\n}"),
		s.edit("internal/waitlist/offer.go", "return &Offerer{list: l, room: r, queue: q}", "return &Offerer{list: l, room: r, queue: q, now: time.Now}"),
		s.edit("internal/waitlist/offer.go", "x.OfferedAt = time.Now().UTC()", "x.OfferedAt = o.now().UTC()"),
		s.edit("internal/waitlist/offer_test.go", "// memRoom is", memList+"\n// memRoom is"))
	line := s.w.line("internal/waitlist/offer_test.go", "t.Errorf(\"offered to")
	s.turn("", s.fails("go test ./internal/waitlist", "Again", 1, testFails("waitlist", "offer_test.go", "TestOfferOrder/small_party_passes_large_one", s.r, fmt.Sprintf("%d: offered to [wa_1], want [wa_2 wa_3]", line), fmt.Sprintf("%d: 2 seats left, want 0", line+3))))
	s.think("The loop breaks when the first does not fit. It should continue. In my code there's `break` on !fits. Change it to continue.")
	s.turn("The loop stops at the first party that doesn't fit. It has to go on.", s.edit("internal/waitlist/offer.go", "\t\t\tbreak // too large for what is left\n", "\t\t\tcontinue // too large for what is left; it keeps its place\n"))
	s.turn("", s.bash("go test -race ./internal/waitlist -v -run 'TestOffer|TestEntry'", "Run", testVerbose(s.r, "waitlist")))
	s.turn("Now the endpoint.", s.edit("internal/httpapi/waitlist.go", "func viewEntry(", `// acceptEntry turns an offer into a booking. A second call answers with the
// booking that the first one made.
func (a *API) acceptEntry(w http.ResponseWriter, r *http.Request) {
	b, err := a.offers.Accept(r.Context(), r.PathValue("id"))
	switch {
	case errors.Is(err, waitlist.ErrNotFound):
		a.problem(w, r, http.StatusNotFound, "no such entry")
	case errors.Is(err, waitlist.ErrLapsed):
		a.problem(w, r, http.StatusGone, "the offer has lapsed")
	case err != nil:
		a.fail(w, r, err)
	default:
		w.Header().Set("Location", "/v1/bookings/"+b.ID)
		a.json(w, r, http.StatusOK, viewBooking(b))
	}
}

func viewEntry(`),
		s.edit("internal/httpapi/api.go", "\tmux.HandleFunc(\"GET /healthz\", a.health)\n", "\tmux.HandleFunc(\"POST /v1/waitlist_entries/{id}/accept\", a.acceptEntry)\n\tmux.HandleFunc(\"GET /healthz\", a.health)\n"))
	s.turn("", s.create("internal/notice/templates/offer.en.txt", "Subject: A place on the {{.Vessel}} is yours until {{.Until}}\n\nDear {{.Name}},\n\nroom has come up on {{.Route}}, {{.Date}} at {{.Departs}}, for your party of {{.Party}}.\nWe keep it for you until {{.Until}}. To take it, open\n\n  {{.AcceptURL}}\n\nIf you let it go, the next in line is asked. You need not do anything.\n\nHarborline\n"),
		s.create("internal/notice/templates/offer.nb.txt", "Subject: En plass på {{.Vessel}} er din til {{.Until}}\n\nHei {{.Name}},\n\ndet er blitt ledig på {{.Route}}, {{.Date}} kl. {{.Departs}}, for følget ditt på {{.Party}}.\nVi holder plassen til {{.Until}}. Ta den her:\n\n  {{.AcceptURL}}\n\nGjør du ingenting, spør vi den neste på listen.\n\nHarborline\n"),
		s.create("internal/notice/templates/offer.de.txt", "Subject: Ein Platz auf der {{.Vessel}} gehört Ihnen bis {{.Until}}\n\nGuten Tag {{.Name}},\n\nauf {{.Route}}, {{.Date}} um {{.Departs}}, ist Platz für Ihre {{.Party}} Reisenden frei geworden.\nWir halten ihn bis {{.Until}}. Zum Annehmen öffnen Sie bitte\n\n  {{.AcceptURL}}\n\nOhne Antwort fragen wir die Nächsten auf der Liste.\n\nHarborline\n"))
	s.turn("", s.read("api/openapi.json"))
	s.turn("", s.edit("api/openapi.json", "    \"/healthz\": {", "    \"/v1/waitlist_entries/{id}/accept\": {\n      \"post\": {\n        \"operationId\": \"acceptEntry\",\n        \"parameters\": [{\"name\": \"id\", \"in\": \"path\", \"required\": true, \"schema\": {\"type\": \"string\"}}],\n        \"responses\": {\n          \"200\": {\"description\": \"the booking\", \"content\": {\"application/json\": {\"schema\": {\"$ref\": \"#/components/schemas/Booking\"}}}},\n          \"404\": {\"$ref\": \"#/components/responses/NotFound\"},\n          \"410\": {\"description\": \"the offer has lapsed\"}\n        }\n      }\n    },\n    \"/healthz\": {"))
	s.turn("", slow(s.bash("go vet ./... && go test -race ./...", "Everything", testsPass(s.r)), 64*time.Second), s.gitDiff("internal/httpapi/waitlist.go", "internal/httpapi/api.go", "api/openapi.json"))
	s.turn("", s.commit("waitlist: offer room that comes free, accept it over HTTP", "internal/waitlist/offer.go", "internal/waitlist/offer_test.go", "internal/httpapi/waitlist.go", "internal/httpapi/api.go", "internal/notice/templates/offer.en.txt", "internal/notice/templates/offer.nb.txt", "internal/notice/templates/offer.de.txt", "api/openapi.json"))
	s.say("Offers are in, on the branch `waitlist-offers`:\n\n- `internal/waitlist/offer.go`: `Offerer.Offer` and `Lapse`, smaller parties pass larger ones, room is taken with the offer;\n- `POST /v1/waitlist_entries/{id}/accept`, idempotent, 410 once lapsed;\n- three templates and the OpenAPI entry.\n\nNot done: the sweeper doesn't call `Lapse` yet, since it lives in `internal/wire`, which I haven't touched.")
}

func slowList(s *session) {
	s.branch = "main"
	s.user(38*time.Minute, "p99_booking_ms alert fired twice today. can you see which query it is? you have read access to the reporting replica")
	s.turn("The runbook says pool waits first, then the slow query log. Both at once.",
		s.bash("curl -s localhost:6060/debug/vars | jq '.db'", "Pool figures", `{
  "max_open": 12,
  "open": 12,
  "in_use": 12,
  "idle": 0,
  "wait_count": 48211,
  "wait_duration_ms": 9318442,
  "max_idle_closed": 30917,
  "max_lifetime_closed": 288
}
`),
		s.bash("grep -h 'duration:' /var/log/postgres/slow-2026-03-09.log | sed 's/duration: //' | sort -rn | head -45", "Slow queries", slowLog(s.r)))
	s.turn("Two things: the pool is always full and closes idle connections all the time (`max_idle: 2`), and one query is behind nearly every slow line. Its plan:",
		s.bash(`psql "$REPORTING_URL" -c "explain (analyze, buffers) select * from bookings where sailing_id = 'sa_4c1e09b7d2' order by created_at desc limit 50"`, "Explain the query", queryPlan(s.r, "bookings", "")),
		s.bash(`psql "$REPORTING_URL" -c '\d bookings'`, "Indexes of the table", tableOf("bookings")))
	s.turn("", s.read("migrations/0001_bookings.up.sql"), s.read("internal/booking/store.go", 20, 60), s.grep("sailing_id", "internal/"))
	s.think("Index needed: (sailing_id, created_at desc) on bookings. Create concurrently, can't be in a transaction. The migration runner: does it wrap in a transaction? Files have BEGIN/COMMIT themselves, so a file without is fine.")
	s.turn("`bookings` has an index on `reference` and on `created_at`, none on `sailing_id`, so every gate screen scans the table. I'll add the index without locking, and raise `max_idle`.",
		s.create("migrations/0010_bookings_sailing.up.sql", "-- The gate screen lists the bookings of one sailing, newest first. Built without\n-- a lock on writes, so this file has no transaction of its own.\nCREATE INDEX CONCURRENTLY IF NOT EXISTS bookings_sailing_created_idx\n    ON bookings (sailing_id, created_at DESC);\n"),
		s.edit("config/production.yaml", "  max_idle: 2\n", "  max_idle: 12\n"))
	s.turn("Trying the index on the replica's copy of the table.",
		slow(s.bash(`psql "$SCRATCH_URL" -f migrations/0010_bookings_sailing.up.sql -c "explain (analyze, buffers) select * from bookings where sailing_id = 'sa_4c1e09b7d2' order by created_at desc limit 50"`, "Build it and explain again", "CREATE INDEX\n"+queryPlan(s.r, "bookings", "bookings_sailing_created_idx")), 96*time.Second))
	s.turn("", s.bash("go test ./internal/booking -bench 'List' -run '^$' -count=5", "Bench the store against the scratch database", bench(s.r, "booking", []string{"ListBySailing", "ListByReference", "InsertHeld"}, 412_000)))
	s.turn("", s.edit("docs/runbook.md", "is 4 seconds: anything slower is a bug.\n", "is 4 seconds: anything slower is a bug.\n\nKeep `max_idle` at `max_open`: with fewer, every burst opens connections anew and\n`wait_count` climbs although the pool is large enough.\n"),
		s.bash("psql \"$REPORTING_URL\" -c \"select date_trunc('hour', at) h, count(*), percentile_disc(0.99) within group (order by ms) p99 from request_log where path like '/v1/bookings%' group by 1 order by 1\"", "p99 by hour", hourly(s.r)))
	s.turn("", s.commit("bookings: index for the gate screen, keep idle connections", "migrations/0010_bookings_sailing.up.sql", "config/production.yaml", "docs/runbook.md"))
	s.say("It's `SELECT … FROM bookings WHERE sailing_id = $1 ORDER BY created_at DESC LIMIT 50`, which the gate screens run every few seconds: no index, so a scan of the whole table (about 2 s), and with twelve of those the pool is full.\n\nAdded `bookings_sailing_created_idx` (built concurrently) and `max_idle: 12`. On the scratch copy the query went from about 2 s to under 1 ms.")
}

func slowLog(r *rng) string {
	var b strings.Builder
	for range 44 {
		q := pick(r, []string{
			"SELECT id, reference, sailing_id, passengers, lane_decimeters, total_cents, currency, held_until, status, created_at, updated_at FROM bookings WHERE sailing_id = $1 ORDER BY created_at DESC LIMIT $2",
			"SELECT id, reference, sailing_id, passengers, lane_decimeters, total_cents, currency, held_until, status, created_at, updated_at FROM bookings WHERE sailing_id = $1 ORDER BY created_at DESC LIMIT $2",
			"SELECT count(*) FROM notices WHERE status = $1",
			"UPDATE sailings SET seats_sold = seats_sold + $2, lane_sold = lane_sold + $3, updated_at = now() WHERE id = $1",
		})
		fmt.Fprintf(&b, "%d.%03d ms  execute s_%s: %s\n", r.between(1700, 3990), r.n(1000), r.hex(4), q)
	}
	return b.String()
}

func tableOf(table string) string {
	for i := range entities {
		e := &entities[i]
		if e.plural != table {
			continue
		}
		out := "                Table \"public." + table + "\"\n     Column      |           Type           | Nullable | Default \n-----------------+--------------------------+----------+---------\n id              | text                     | not null | \n"
		for _, f := range e.fields {
			out += fmt.Sprintf(" %-15s | %-24s | not null | \n", f.column, strings.TrimPrefix(f.typ, "time."))
		}
		return out + fmt.Sprintf("Indexes:\n    \"%s_pkey\" PRIMARY KEY, btree (id)\n    \"%s_reference_idx\" btree (reference)\n    \"%s_created_idx\" btree (created_at DESC)\n", table, table, table)
	}
	return ""
}

func hourly(r *rng) string {
	out := "           h            | count | p99  \n------------------------+-------+------\n"
	for h := range 13 {
		out += fmt.Sprintf(" 2026-03-09 %02d:00:00+00 | %5d | %4d\n", h, r.between(900, 19000), r.between(180, 3900))
	}
	return out + "(13 rows)\n"
}

// auditColumns touches every package the same way: a long loop of parallel calls.
func auditColumns(s *session) {
	s.user(6*time.Minute, "The auditors want to know who changed a row. Every table gets updated_by (text, default 'system'), every SetStatus takes the actor from the context. Please do all packages in one go, one commit.")
	s.think("Nine packages. For each: migration, store SetStatus, and callers unaffected because the actor comes from the context. I'll write internal/actor first.")
	s.turn("A small package for the actor first.", s.create("internal/actor/actor.go", actorFile), s.grep("func (s *Store) SetStatus", "internal/"))
	for i := range entities {
		e := &entities[i]
		store := "internal/" + e.pkg + "/store.go"
		at := s.w.line(store, "// SetStatus moves")
		text := ""
		if i%3 == 0 {
			text = fmt.Sprintf("Next: `%s`.", e.pkg)
		}
		s.turn(text, s.read(store, max(1, at-30), 50), s.read("internal/"+e.pkg+"/service.go"))
		s.turn("", s.edit(store, "SET status = $3, updated_at = now()", "SET status = $3, updated_at = now(), updated_by = $4"),
			s.edit(store, "WHERE id = $1 AND status = $2`, id, from, to)", "WHERE id = $1 AND status = $2`, id, from, to, actor.From(ctx))"),
			s.edit(store, "\t\"time\"\n)", "\t\"time\"\n\n\t\"harborline.example/ferry/internal/actor\"\n)"))
		if i == 3 {
			s.turn("", s.fails("go build ./internal/...", "Build what is done so far", 1, "# harborline.example/ferry/internal/fare\ninternal/fare/service.go:46:38: not enough arguments in call to s.store.SetStatus\n\thave (context.Context, string, Status)\n\twant (context.Context, string, Status, Status)\n"))
			s.turn("", s.read("internal/fare/service.go", 30, 40), s.grep("store.SetStatus(ctx, id, StatusPublished", "internal/fare"))
		}
	}
	var sql strings.Builder
	sql.WriteString("-- Who changed a row last. A default keeps writers of the last release working.\nBEGIN;\n")
	for i := range entities {
		fmt.Fprintf(&sql, "ALTER TABLE %s ADD COLUMN updated_by text NOT NULL DEFAULT 'system';\n", entities[i].plural)
	}
	sql.WriteString("COMMIT;\n")
	s.turn("The migration for all tables, and the middleware that sets the actor.", s.create("migrations/0011_updated_by.up.sql", sql.String()), s.read("internal/httpapi/middleware.go"))
	s.turn("", s.edit("internal/httpapi/middleware.go", "// recovered turns", `// acting puts the caller's name into the context, for the audit column.
func (a *API) acting(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := r.Header.Get("X-Harborline-Actor")
		next.ServeHTTP(w, r.WithContext(actor.With(r.Context(), name)))
	})
}

// recovered turns`), s.edit("internal/httpapi/middleware.go", "\t\"runtime/debug\"\n\t\"time\"\n)", "\t\"runtime/debug\"\n\t\"time\"\n\n\t\"harborline.example/ferry/internal/actor\"\n)"),
		s.edit("internal/httpapi/api.go", "return a.logged(a.recovered(mux))", "return a.logged(a.recovered(a.acting(mux)))"))
	s.turn("", slow(s.bash("go vet ./... && go test ./... -v", "Everything, verbose", testVerbose(s.r)), 25*time.Second))
	stores := []string{}
	for i := range entities {
		stores = append(stores, "internal/"+entities[i].pkg+"/store.go")
	}
	s.turn("", s.gitDiff(append(stores, "internal/httpapi/middleware.go")...))
	s.turn("", s.commit("store: record who changed a row", append(stores, "internal/actor/actor.go", "migrations/0011_updated_by.up.sql", "internal/httpapi/middleware.go", "internal/httpapi/api.go")...))
	s.say("Done in one commit: nine tables have `updated_by`, nine stores write it, and the actor comes from `X-Harborline-Actor` through the context (`internal/actor`). Jobs write `system`.")
}

func pipeline(s *session) {
	s.user(61*time.Minute, "pipeline is red on main, can you look? job 48813")
	failing := "=== RUN   TestClosed\n=== RUN   TestClosed/vehicle_19_minutes_before\n    sailing_gate_test.go:31: Closed(vehicle) = false, want true\n--- FAIL: TestClosed (0.61s)\n    --- FAIL: TestClosed/vehicle_19_minutes_before (0.60s)\nFAIL\nFAIL\tharborline.example/ferry/internal/sailing\t0.688s\n" + race(s.r, "sailing", "TestClosed.func2 internal/sailing/sailing_gate_test.go:29", "(*Sailing).Closed internal/sailing/sailing.go:71")
	s.turn("Getting the log of the job.", s.bash("ci log 48813 --raw", "Log of the failed job", ciLog(s.r, failing)))
	s.w.files["internal/sailing/sailing_gate_test.go"] = gateTest
	s.turn("One test, and it touches the clock.", s.read("internal/sailing/sailing_gate_test.go"), s.grep("Closed(", "internal/"))
	s.turn("", s.read("internal/sailing/sailing.go", 60, 40), s.bash("go test ./internal/sailing -run TestClosed -count=40", "Does it fail here", fmt.Sprintf("ok  \t%s/internal/sailing\t26.104s\n", module)))
	s.think("Test shares `base` across parallel subtests and uses time.Now with sleep; on a slow machine the margin is missed. Make it deterministic: fixed times, no sleeping, no shared variable.")
	s.turn("It passes here and fails on a busy runner: the subtests run in parallel, share `base`, and sleep past a margin. `Closed` takes the time as an argument, so nothing needs a clock.",
		s.edit("internal/sailing/sailing_gate_test.go", s.w.around("internal/sailing/sailing_gate_test.go", "func TestClosed("), gateTestFixed))
	s.turn("", s.edit("internal/sailing/sailing_gate_test.go", "var base = time.Now()\n\n", ""))
	s.turn("", slow(s.bash("go test -race ./internal/sailing -run TestClosed -count=2000 -cpu 1,2,8", "Two thousand rounds", fmt.Sprintf("ok  \t%s/internal/sailing\t3.377s\n", module)), 20*time.Second))
	s.turn("", s.commit("sailing: the gate test needs no clock", "internal/sailing/sailing_gate_test.go"))
	s.say("`TestClosed` was flaky: parallel subtests shared a package variable taken from `time.Now()`, and slept. It uses fixed times now; 2,000 rounds on 1, 2 and 8 processors pass under the race detector.")
}

func rounding(s *session) {
	s.user(3*time.Minute, "bookkeeping says invoices are a cent short now and then, always down. quick look?")
	s.turn("", s.read("internal/invoice/invoice.go"), s.read("internal/invoice/invoice_test.go"), s.grep(".Tax()", "internal/"))
	s.turn("`Tax` divides integers, so it always rounds down. The law here wants half up. Test first.",
		s.edit("internal/invoice/invoice_test.go", "func TestInvoiceValidate(", "func TestTaxRounds(t *testing.T) {\n\tfor net, want := range map[int64]int64{0: 0, 1: 0, 2: 1, 99: 25, 101: 25, 10_002: 2501, 33_330: 8333} {\n\t\tx := &Invoice{NetCents: net, TaxPermille: 250}\n\t\tif got := x.Tax(); got != want {\n\t\t\tt.Errorf(\"Tax of %d = %d, want %d\", net, got, want)\n\t\t}\n\t}\n}\n\nfunc TestInvoiceValidate("))
	at := s.w.line("internal/invoice/invoice_test.go", "t.Errorf(\"Tax of")
	s.turn("", s.fails("go test ./internal/invoice -run TestTax", "Red", 1, testFails("invoice", "invoice_test.go", "TestTaxRounds", s.r, fmt.Sprintf("%d: Tax of 2 = 0, want 1", at), fmt.Sprintf("%d: Tax of 99 = 24, want 25", at), fmt.Sprintf("%d: Tax of 10002 = 2500, want 2501", at), fmt.Sprintf("%d: Tax of 33330 = 8332, want 8333", at))))
	s.turn("", s.edit("internal/invoice/invoice.go", "\treturn x.NetCents * int64(x.TaxPermille) / 1000\n", "\treturn (x.NetCents*int64(x.TaxPermille) + 500) / 1000\n"),
		s.edit("internal/invoice/invoice.go", "// Tax is the tax on the net sum.", "// Tax is the tax on the net sum, half a cent rounded up."))
	s.turn("", s.bash("go test ./internal/invoice ./internal/refund ./internal/fare -v", "Green", testVerbose(s.r, "invoice", "refund", "fare")),
		s.bash(`psql "$REPORTING_URL" -c "select count(*), sum(((net_cents*tax_permille+500)/1000) - (net_cents*tax_permille/1000)) cents from invoices where created_at >= '2026-01-01'"`, "How many invoices", " count | cents \n-------+-------\n  3184 |  1577\n(1 row)\n"))
	s.turn("", s.commit("invoice: round tax half up", "internal/invoice/invoice.go", "internal/invoice/invoice_test.go"))
	s.say("`Invoice.Tax` cut off instead of rounding. It rounds half up now. Since January 1,577 invoices of 3,184 were a cent short, 15.77 in all; correcting those is bookkeeping's decision, so I only changed what comes.")
}
