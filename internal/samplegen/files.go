package main

// plumbing holds the hand-written files; ~ stands for a back quote.
var plumbing = map[string]string{
	"go.mod": `
module harborline.example/ferry

go 1.25

require (
	example.org/pgdriver v5.7.1
	example.org/ulid v2.1.0
)
`,
	"Makefile": `
.PHONY: test race lint migrate run image

test:
	go test ./...

race:
	go test -race -count=1 ./...

lint:
	go vet ./...
	staticcheck ./...

migrate:
	go run ./cmd/migrate -dir migrations -dsn "$$DATABASE_URL"

run: migrate
	go run ./cmd/harborline -config config/development.yaml

image:
	docker build -t harborline:$$(git rev-parse --short HEAD) .
`,
	"config/production.yaml": `
listen: ":8080"
public_url: https://book.harborline.example
database:
  dsn_from_env: DATABASE_URL
  max_open: 12
  max_idle: 2
  conn_lifetime: 30m
  statement_timeout: 4s
booking:
  hold: 15m
  max_party: 60
  sweep_every: 1m
notice:
  workers: 4
  batch: 250
  max_attempts: 40
  mail_from: ferry@harborline.example
  sms_sender: HARBORLINE
limits:
  requests_per_minute: 0
  body_bytes: 65536
log:
  level: info
  format: json
`,
	"config/development.yaml": `
listen: "127.0.0.1:8080"
public_url: http://localhost:8080
database:
  dsn_from_env: DATABASE_URL
  max_open: 4
  max_idle: 4
  conn_lifetime: 5m
  statement_timeout: 30s
booking:
  hold: 2m
  max_party: 60
  sweep_every: 10s
notice:
  workers: 1
  batch: 10
  max_attempts: 3
  mail_from: dev@harborline.example
limits:
  requests_per_minute: 0
  body_bytes: 65536
log:
  level: debug
  format: text
`,
	"internal/booking/reserve.go": `
package booking

import (
	"context"
	"errors"
	"fmt"

	"harborline.example/ferry/internal/sailing"
)

// ErrFull is returned when a party no longer fits on the sailing.
var ErrFull = errors.New("sailing is full")

// SailingStore is the part of the sailing store that a reservation needs.
type SailingStore interface {
	Get(ctx context.Context, id string) (*sailing.Sailing, error)
	AddSold(ctx context.Context, id string, seats, lane int) error
}

// Reserver puts bookings on sailings.
type Reserver struct {
	bookings *Store
	sailings SailingStore
}

// NewReserver wires a reserver.
func NewReserver(b *Store, s SailingStore) *Reserver {
	return &Reserver{bookings: b, sailings: s}
}

// Reserve checks that the party fits, writes the booking and takes the room.
func (r *Reserver) Reserve(ctx context.Context, x *Booking, infants int) error {
	trip, err := r.sailings.Get(ctx, x.SailingID)
	if err != nil {
		return fmt.Errorf("reserve on %s: %w", x.SailingID, err)
	}
	seats := x.Seats(infants)
	if !trip.Fits(seats, x.LaneMeters) {
		return ErrFull
	}
	if err := r.bookings.Insert(ctx, x); err != nil {
		return err
	}
	if err := r.sailings.AddSold(ctx, trip.ID, seats, x.LaneMeters); err != nil {
		return fmt.Errorf("reserve %s: %w", x.Reference, err)
	}
	return nil
}

// Release gives the room of a lapsed hold back.
func (r *Reserver) Release(ctx context.Context, x *Booking, infants int) error {
	if x.Status != StatusHeld {
		return fmt.Errorf("release %s: status is %s", x.Reference, x.Status)
	}
	return r.sailings.AddSold(ctx, x.SailingID, -x.Seats(infants), -x.LaneMeters)
}
`,
	"internal/sailing/sold.go": `
package sailing

import (
	"context"
	"fmt"
)

// AddSold moves the sold counters by a party's size, which is negative when
// room is given back.
func (s *Store) AddSold(ctx context.Context, id string, seats, lane int) error {
	_, err := s.db.ExecContext(ctx, ~UPDATE sailings
		SET seats_sold = seats_sold + $2, lane_sold = lane_sold + $3, updated_at = now()
		WHERE id = $1~, id, seats, lane)
	if err != nil {
		return fmt.Errorf("add sold on %s: %w", id, err)
	}
	return nil
}
`,
	"internal/booking/reserve_test.go": `
package booking

import (
	"context"
	"errors"
	"sync"
	"testing"

	"harborline.example/ferry/internal/sailing"
)

// memSailings is a sailing store in memory.
type memSailings struct {
	mu   sync.Mutex
	trip sailing.Sailing
}

func (m *memSailings) Get(ctx context.Context, id string) (*sailing.Sailing, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	c := m.trip
	return &c, nil
}

func (m *memSailings) AddSold(ctx context.Context, id string, seats, lane int) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.trip.SeatsSold += seats
	m.trip.LaneSold += lane
	return nil
}

func TestReserveFull(t *testing.T) {
	m := &memSailings{trip: sailing.Sailing{ID: "sa_1", Seats: 4, SeatsSold: 4}}
	r := NewReserver(testStore(t), m)
	x := valid()
	x.SailingID, x.Passengers = "sa_1", 1
	if err := r.Reserve(context.Background(), x, 0); !errors.Is(err, ErrFull) {
		t.Fatalf("Reserve on a full ship = %v, want %v", err, ErrFull)
	}
}
`,
	"internal/notice/sender.go": `
package notice

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"
)

// Transport delivers one message.
type Transport interface {
	Deliver(ctx context.Context, n *Notice, body string) error
}

// Sender drains the queue with a few workers.
type Sender struct {
	store   *Store
	mail    Transport
	sms     Transport
	log     *slog.Logger
	workers int
	render  func(n *Notice) (string, error)
}

// Run works until ctx ends. Each round reads one batch.
func (s *Sender) Run(ctx context.Context, every time.Duration) error {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		if err := s.round(ctx); err != nil {
			s.log.ErrorContext(ctx, "notice round failed", "err", err)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
}

func (s *Sender) round(ctx context.Context) error {
	due, err := s.store.due(ctx, time.Now(), 250)
	if err != nil {
		return fmt.Errorf("read queue: %w", err)
	}
	work := make(chan *Notice)
	var wg sync.WaitGroup
	for range s.workers {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for n := range work {
				s.one(ctx, n)
			}
		}()
	}
	for _, n := range due {
		work <- n
	}
	close(work)
	wg.Wait()
	return nil
}

// one delivers a notice or puts it back with a pause.
func (s *Sender) one(ctx context.Context, n *Notice) {
	body, err := s.render(n)
	if err == nil {
		err = s.transport(n).Deliver(ctx, n, body)
	}
	if err == nil {
		s.store.SetStatus(ctx, n.ID, StatusQueued, StatusSent)
		return
	}
	n.Attempts++
	n.NextTry = time.Now().Add(Backoff(n.Attempts))
	s.log.WarnContext(ctx, "delivery failed", "id", n.ID, "attempt", n.Attempts, "next", n.NextTry, "err", err)
	s.store.reschedule(ctx, n)
}

func (s *Sender) transport(n *Notice) Transport {
	if n.Channel == "sms" {
		return s.sms
	}
	return s.mail
}
`,
	"internal/notice/templates/confirmed.en.txt": `
Subject: You are booked: {{.Route}} on {{.Date}}

Dear {{.Name}},

your place on the {{.Vessel}} is confirmed. Your reference is {{.Reference}}.

  Departure  {{.Departs}} from {{.From}}, gate {{.Gate}}
  Arrival    {{.Arrives}} in {{.To}}
  Party      {{.Party}}

The gate closes 20 minutes before departure for vehicles and 10 minutes for foot
passengers. Please have your reference ready on a screen or on paper.

Fair winds,
Harborline
`,
	"internal/notice/templates/confirmed.nb.txt": `
Subject: Du er booket: {{.Route}} {{.Date}}

Hei {{.Name}},

plassen din på {{.Vessel}} er bekreftet. Referansen din er {{.Reference}}.

  Avgang    {{.Departs}} fra {{.From}}, port {{.Gate}}
  Ankomst   {{.Arrives}} i {{.To}}
  Følge     {{.Party}}

Porten stenger 20 minutter før avgang for kjøretøy og 10 minutter for gående.
Ha referansen klar på skjerm eller papir.

God tur,
Harborline
`,
	"internal/notice/templates/confirmed.de.txt": `
Subject: Ihre Buchung: {{.Route}} am {{.Date}}

Guten Tag {{.Name}},

Ihr Platz auf der {{.Vessel}} ist bestätigt. Ihre Buchungsnummer: {{.Reference}}.

  Abfahrt   {{.Departs}} ab {{.From}}, Tor {{.Gate}}
  Ankunft   {{.Arrives}} in {{.To}}
  Reisende  {{.Party}}

Das Tor schließt 20 Minuten vor Abfahrt für Fahrzeuge, 10 Minuten für Fußgänger.
Bitte halten Sie die Buchungsnummer bereit.

Gute Überfahrt
Harborline
`,
	"internal/httpapi/middleware.go": middlewareFile,
	"cmd/harborline/main.go":         mainFile,
	"docs/runbook.md": `
# Runbook

## Holds and the sweeper
A booking is *held* for ~booking.hold~ (15 minutes in production) until it is paid.
The sweeper runs every minute and releases lapsed holds. Two sweepers may run at
the same time: ~SetStatus~ only moves a row that is still in the state it expects.

## Alerts
| alert | means | first look |
|---|---|---|
| ~p99_booking_ms > 2000~ | bookings are slow | pool waits: ~db_wait_count~, then the slow query log |
| ~notice_queue > 5000~ | mails are stuck | bounces by template; is the mail gateway up? |
| ~oversold_sailings > 0~ | more sold than seats | stop sales on the sailing, call the port |

## Database
Pool size is per process. Postgres allows 100 connections; three processes with
~max_open: 12~ leave room for migrations and the reporting job. Statement timeout
is 4 seconds: anything slower is a bug.

## Releasing
1. ~make race~ on main.
2. Tag ~vX.Y.Z~; the pipeline builds the image and runs the migrations.
3. Watch ~oversold_sailings~ and the 5xx rate for ten minutes.
4. Roll back with the previous tag. Migrations are forward only, so a column is
   never dropped in the release that stops using it.
`,
	"Dockerfile": `
FROM golang:1.25-alpine AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
RUN CGO_ENABLED=0 go build -trimpath -ldflags="-s -w" -o /out/harborline ./cmd/harborline

FROM gcr.example/distroless/static
COPY --from=build /out/harborline /harborline
COPY config /config
USER 65532:65532
ENTRYPOINT ["/harborline", "-config", "/config/production.yaml"]
`,
}
