package main

// Files that the agent writes in the course of the script; ~ is a back quote.

const offerFile = `
package waitlist

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// ErrLapsed is returned when an offer is accepted too late.
var ErrLapsed = errors.New("offer has lapsed")

// List is where entries wait.
type List interface {
	Waiting(ctx context.Context, sailingID string) ([]*Entry, error)
	SetStatus(ctx context.Context, id string, from, to Status) error
}

// Room is where seats and deck length come from.
type Room interface {
	Left(ctx context.Context, sailingID string) (seats, lane int, err error)
	AddSold(ctx context.Context, sailingID string, seats, lane int) error
}

// Queue sends a mail some time soon.
type Queue interface {
	Enqueue(ctx context.Context, template string, e *Entry) error
}

// Offerer hands room that came free to those who wait for it.
type Offerer struct {
	list  List
	room  Room
	queue Queue
}

// NewOfferer wires an offerer.
func NewOfferer(l List, r Room, q Queue) *Offerer {
	return &Offerer{list: l, room: r, queue: q}
}

// Offer offers the room on a sailing to the entries that wait, in order, and
// returns those that were asked. The room is taken with the offer.
func (o *Offerer) Offer(ctx context.Context, sailingID string) ([]*Entry, error) {
	waiting, err := o.list.Waiting(ctx, sailingID)
	if err != nil {
		return nil, fmt.Errorf("offer on %s: %w", sailingID, err)
	}
	seats, lane, err := o.room.Left(ctx, sailingID)
	if err != nil {
		return nil, fmt.Errorf("offer on %s: %w", sailingID, err)
	}
	var asked []*Entry
	for _, x := range waiting {
		if x.Seats > seats || x.Lane > lane {
			break // too large for what is left
		}
		if err := o.room.AddSold(ctx, sailingID, x.Seats, x.Lane); err != nil {
			return asked, err
		}
		seats, lane = seats-x.Seats, lane-x.Lane
		x.OfferedAt = time.Now().UTC()
		if err := o.list.SetStatus(ctx, x.ID, StatusWaiting, StatusOffered); err != nil {
			return asked, err
		}
		if err := o.queue.Enqueue(ctx, "offer", x); err != nil {
			return asked, fmt.Errorf("tell %s: %w", x.ID, err)
		}
		asked = append(asked, x)
	}
	return asked, nil
}

// Lapse takes an offer back that nobody accepted, and gives its room back.
func (o *Offerer) Lapse(ctx context.Context, x *Entry) error {
	if err := o.list.SetStatus(ctx, x.ID, StatusOffered, StatusLapsed); err != nil {
		return err
	}
	return o.room.AddSold(ctx, x.SailingID, -x.Seats, -x.Lane)
}
`

const offerTest = `
package waitlist

import (
	"context"
	"slices"
	"testing"
	"time"
)

// memRoom is a sailing in memory.
type memRoom struct{ seats, lane int }

func (m *memRoom) Left(ctx context.Context, id string) (int, int, error) { return m.seats, m.lane, nil }

func (m *memRoom) AddSold(ctx context.Context, id string, seats, lane int) error {
	m.seats -= seats
	m.lane -= lane
	return nil
}

// memQueue counts mails.
type memQueue struct{ sent []string }

func (m *memQueue) Enqueue(ctx context.Context, template string, e *Entry) error {
	m.sent = append(m.sent, template+" "+e.ID)
	return nil
}

func TestOfferOrder(t *testing.T) {
	at := time.Date(2026, 3, 9, 12, 0, 0, 0, time.UTC)
	tests := []struct {
		name  string
		seats int
		list  []*Entry
		want  []string
		left  int
	}{
		{"first come", 4, []*Entry{{ID: "wa_1", Seats: 2}, {ID: "wa_2", Seats: 2}}, []string{"wa_1", "wa_2"}, 0},
		{"small party passes large one", 4, []*Entry{{ID: "wa_1", Seats: 6}, {ID: "wa_2", Seats: 3}, {ID: "wa_3", Seats: 1}}, []string{"wa_2", "wa_3"}, 0},
		{"nobody fits", 1, []*Entry{{ID: "wa_1", Seats: 2}}, nil, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			room := &memRoom{seats: tt.seats}
			o := NewOfferer(&memList{tt.list}, room, &memQueue{})
			o.now = func() time.Time { return at }
			asked, err := o.Offer(context.Background(), "sa_1")
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, x := range asked {
				got = append(got, x.ID)
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("offered to %v, want %v", got, tt.want)
			}
			if room.seats != tt.left {
				t.Errorf("%d seats left, want %d", room.seats, tt.left)
			}
		})
	}
}
`

const memList = `// memList is a waitlist in memory.
type memList struct{ entries []*Entry }

func (m *memList) Waiting(ctx context.Context, id string) ([]*Entry, error) { return m.entries, nil }

func (m *memList) SetStatus(ctx context.Context, id string, from, to Status) error {
	for _, x := range m.entries {
		if x.ID == id {
			x.Status = to
		}
	}
	return nil
}
`

const actorFile = `
// Package actor carries the name of whoever acts through a context.
package actor

import "context"

type key struct{}

// System is the actor of jobs and of requests that name nobody.
const System = "system"

// With returns a context in which name acts; an empty name changes nothing.
func With(ctx context.Context, name string) context.Context {
	if name == "" {
		return ctx
	}
	return context.WithValue(ctx, key{}, name)
}

// From says who acts.
func From(ctx context.Context) string {
	if name, ok := ctx.Value(key{}).(string); ok {
		return name
	}
	return System
}
`

const gateTest = `package sailing

import (
	"testing"
	"time"
)

var base = time.Now()

func TestClosed(t *testing.T) {
	tests := []struct {
		name    string
		before  time.Duration
		vehicle bool
		want    bool
	}{
		{"vehicle 21 minutes before", 21 * time.Minute, true, false},
		{"vehicle 19 minutes before", 20*time.Minute - 500*time.Millisecond, true, true},
		{"foot 11 minutes before", 11 * time.Minute, false, false},
		{"foot 9 minutes before", 9 * time.Minute, false, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			x := &Sailing{DepartsAt: base.Add(tt.before)}
			time.Sleep(600 * time.Millisecond)
			base = time.Now()
			if got := x.Closed(base, tt.vehicle); got != tt.want {
				t.Errorf("Closed(vehicle) = %v, want %v", got, tt.want)
			}
		})
	}
}
`

const gateTestFixed = `func TestClosed(t *testing.T) {
	departs := time.Date(2026, 6, 1, 9, 30, 0, 0, time.UTC)
	tests := []struct {
		name    string
		before  time.Duration
		vehicle bool
		want    bool
	}{
		{"vehicle 21 minutes before", 21 * time.Minute, true, false},
		{"vehicle 20 minutes before", 20 * time.Minute, true, false},
		{"vehicle 19 minutes before", 19 * time.Minute, true, true},
		{"foot 11 minutes before", 11 * time.Minute, false, false},
		{"foot 9 minutes before", 9 * time.Minute, false, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			x := &Sailing{DepartsAt: departs}
			if got := x.Closed(departs.Add(-tt.before), tt.vehicle); got != tt.want {
				t.Errorf("Closed = %v, want %v", got, tt.want)
			}
		})
	}
}`

const limiterFile = `
package httpapi

import (
	"net"
	"net/http"
	"strconv"
	"sync"
	"time"
)

// limiter is a token bucket per client address.
type limiter struct {
	perMinute int
	burst     int
	now       func() time.Time

	mu      sync.Mutex
	buckets map[string]*bucket
}

type bucket struct {
	tokens float64
	last   time.Time
}

func newLimiter(perMinute, burst int) *limiter {
	return &limiter{perMinute: perMinute, burst: burst, now: time.Now, buckets: map[string]*bucket{}}
}

// take tells whether a client may go on, and how long it should wait if not.
func (l *limiter) take(client string) (ok bool, wait time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	b := l.buckets[client]
	if b == nil {
		b = &bucket{tokens: float64(l.burst), last: now}
		l.buckets[client] = b
	}
	perSecond := float64(l.perMinute) / 60
	b.tokens = min(float64(l.burst), b.tokens+now.Sub(b.last).Seconds()*perSecond)
	b.last = now
	if b.tokens >= 1 {
		b.tokens--
		return true, 0
	}
	return false, time.Duration((1 - b.tokens) / perSecond * float64(time.Second))
}

// limited answers 429 to clients that ask too often.
func (a *API) limited(l *limiter, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host, _, err := net.SplitHostPort(r.RemoteAddr)
		if err != nil {
			host = r.RemoteAddr
		}
		if ok, wait := l.take(host); !ok {
			w.Header().Set("Retry-After", strconv.Itoa(int(wait.Seconds())+1))
			a.problem(w, r, http.StatusTooManyRequests, "slow down")
			return
		}
		next.ServeHTTP(w, r)
	})
}
`

const limiterTest = `
package httpapi

import (
	"fmt"
	"testing"
	"time"
)

func TestLimiter(t *testing.T) {
	now := time.Date(2026, 3, 9, 16, 0, 0, 0, time.UTC)
	l := newLimiter(60, 5)
	l.now = func() time.Time { return now }
	for i := range 5 {
		if ok, _ := l.take("192.0.2.7"); !ok {
			t.Fatalf("request %d of the burst was refused", i+1)
		}
	}
	ok, wait := l.take("192.0.2.7")
	if ok || wait != time.Second {
		t.Fatalf("sixth request: %v, %v; want refusal for a second", ok, wait)
	}
	now = now.Add(time.Second)
	if ok, _ := l.take("192.0.2.7"); !ok {
		t.Error("a second later it is still refused")
	}
}

func TestLimiterForgets(t *testing.T) {
	now := time.Date(2026, 3, 9, 16, 0, 0, 0, time.UTC)
	l := newLimiter(60, 5)
	l.now = func() time.Time { return now }
	for i := range 10_000 {
		l.take(fmt.Sprintf("192.0.2.%d", i))
	}
	now = now.Add(10 * time.Minute)
	l.take("198.51.100.1")
	if n := len(l.buckets); n > 1 {
		t.Errorf("%d buckets are kept for clients that left", n)
	}
}
`
