package main

const timetableFile = `
// Package timetable reads the port authority's CSV and turns its rows into
// departures.
package timetable

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
)

// Row is one line of the file: a departure that repeats on weekdays.
type Row struct {
	Line             int
	Route, Vessel    string
	From, To         time.Time
	Days             []time.Weekday
	Departs, Arrives string
	Note             string
}

// Trip is one departure on one day.
type Trip struct {
	Route, Vessel    string
	Departs, Arrives time.Time
}

// Parse reads a file. Rows that make no sense are returned as errors with their
// line, joined; the others are still returned.
func Parse(r io.Reader) ([]Row, error) {
	c := csv.NewReader(r)
	c.Comma = ';'
	c.FieldsPerRecord = 8
	if _, err := c.Read(); err != nil {
		return nil, fmt.Errorf("read header: %w", err)
	}
	var rows []Row
	var errs []error
	for {
		rec, err := c.Read()
		if errors.Is(err, io.EOF) {
			return rows, errors.Join(errs...)
		}
		if err != nil {
			return rows, errors.Join(append(errs, err)...)
		}
		line, _ := c.FieldPos(0)
		row, err := parseRow(line, rec)
		if err != nil {
			errs = append(errs, fmt.Errorf("line %d: %w", line, err))
			continue
		}
		rows = append(rows, row)
	}
}

func parseRow(line int, rec []string) (Row, error) {
	days, err := weekdays(rec[4])
	if err != nil {
		return Row{}, err
	}
	from, err := time.Parse(time.DateOnly, rec[2])
	if err != nil {
		return Row{}, err
	}
	to, err := time.Parse(time.DateOnly, rec[3])
	if err != nil {
		return Row{}, err
	}
	return Row{Line: line, Route: rec[0], Vessel: rec[1], From: from, To: to, Days: days, Departs: rec[5], Arrives: rec[6], Note: rec[7]}, nil
}

// weekdays reads ISO weekdays: 1 is Monday, 7 is Sunday.
func weekdays(s string) ([]time.Weekday, error) {
	var out []time.Weekday
	for _, c := range s {
		out = append(out, time.Weekday(int(c-'0')%7))
	}
	return out, nil
}

// Expand lists the departures of a row, in the zone of the departure port.
func Expand(row Row, zone *time.Location) []Trip {
	var out []Trip
	for day := row.From; !day.After(row.To); day = day.AddDate(0, 0, 1) {
		if !on(row.Days, day.Weekday()) {
			continue
		}
		departs := at(day, row.Departs, zone)
		arrives := at(day, row.Arrives, zone)
		out = append(out, Trip{Route: row.Route, Vessel: row.Vessel, Departs: departs, Arrives: arrives})
	}
	return out
}

func on(days []time.Weekday, d time.Weekday) bool {
	for _, x := range days {
		if x == d {
			return true
		}
	}
	return false
}

// at is a clock time on a day.
func at(day time.Time, clock string, zone *time.Location) time.Time {
	var h, m int
	fmt.Sscanf(strings.TrimSpace(clock), "%d:%d", &h, &m)
	return time.Date(day.Year(), day.Month(), day.Day(), h, m, 0, 0, zone)
}
`

const timetableTest = `
package timetable

import (
	"strings"
	"testing"
	"time"
)

const header = "route;vessel;valid_from;valid_to;days;departs;arrives;note\n"

func TestParse(t *testing.T) {
	tests := []struct{ name, in, wantErr string }{
		{"plain", "HVN-LYN;MF Lomvi;2026-06-01;2026-06-07;12345;08:00;09:10;\n", ""},
		{"unknown days", "HVN-LYN;MF Lomvi;2026-06-01;2026-06-07;1;08:00;09:10;\nHVN-LYN;MF Lomvi;2026-06-01;2026-06-07;x;08:00;09:10;\n", "line 3"},
		{"no date", "HVN-LYN;MF Lomvi;soon;2026-06-07;1;08:00;09:10;\n", "line 2"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Parse(strings.NewReader(header + tt.in))
			switch {
			case tt.wantErr == "" && err != nil:
				t.Errorf("Parse = %v", err)
			case tt.wantErr != "" && (err == nil || !strings.Contains(err.Error(), tt.wantErr)):
				t.Errorf("Parse = %v, want error naming %s", err, tt.wantErr)
			}
		})
	}
}

func TestExpand(t *testing.T) {
	rows, err := Parse(strings.NewReader(header + "HVN-LYN;MF Lomvi;2026-06-01;2026-06-07;135;21:35;00:40;\n"))
	if err != nil {
		t.Fatal(err)
	}
	t.Run("past midnight", func(t *testing.T) {
		trips := Expand(rows[0], time.UTC)
		if len(trips) != 3 {
			t.Fatalf("%d trips, want 3", len(trips))
		}
		for i, x := range trips {
			if !x.Arrives.After(x.Departs) {
				t.Errorf("trips[%d] arrives %s before it departs %s", i, x.Arrives.Format("2006-01-02 15:04"), x.Departs.Format("2006-01-02 15:04"))
			}
		}
	})
}
`

const timetableMain = `
// Command timetable imports the port authority's timetable. Without -apply it
// only prints what it would add.
package main

import (
	"flag"
	"fmt"
	"os"
	"time"

	"harborline.example/ferry/internal/timetable"
)

func main() {
	apply := flag.Bool("apply", false, "write to the database")
	zone := flag.String("zone", "Europe/Oslo", "time zone of the departure ports")
	flag.Parse()
	if err := run(flag.Arg(0), *zone, *apply); err != nil {
		fmt.Fprintln(os.Stderr, "timetable:", err)
		os.Exit(1)
	}
}

func run(path, zone string, apply bool) error {
	loc, err := time.LoadLocation(zone)
	if err != nil {
		return err
	}
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	rows, refused := timetable.Parse(f)
	n := 0
	for _, row := range rows {
		for _, t := range timetable.Expand(row, loc) {
			fmt.Printf("+ %s %-14s %s -> %s\n", t.Route, t.Vessel, t.Departs.Format("Mon 2006-01-02 15:04"), t.Arrives.Format("15:04"))
			n++
		}
	}
	fmt.Fprintf(os.Stderr, "timetable: %d departures from %d rows\n", n, len(rows))
	if apply && refused == nil {
		return store(rows, loc)
	}
	return refused
}
`

const holdFile = `// Package hold keeps seats for a customer who has not paid yet.
package hold

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// ErrExpired is returned when a hold is used after its time.
var ErrExpired = errors.New("hold has expired")

// Hold is room on a sailing that is kept for a while.
type Hold struct {
	ID        string
	SailingID string
	Seats     int
	Lane      int
	ExpiresAt time.Time
}

// Rooms takes and gives room on sailings.
type Rooms interface {
	AddSold(ctx context.Context, sailingID string, seats, lane int) error
}

// Keeper makes, extends and releases holds.
type Keeper struct {
	store *Store
	rooms Rooms
	ttl   time.Duration
}

// Take holds room for a party.
func (k *Keeper) Take(ctx context.Context, h *Hold) error {
	if err := k.rooms.AddSold(ctx, h.SailingID, h.Seats, h.Lane); err != nil {
		return fmt.Errorf("take hold on %s: %w", h.SailingID, err)
	}
	h.ExpiresAt = time.Now().UTC().Add(k.ttl)
	return k.store.Insert(ctx, h)
}

// Extend gives a customer more time, once.
func (k *Keeper) Extend(ctx context.Context, h *Hold) error {
	if time.Now().After(h.ExpiresAt) {
		return ErrExpired
	}
	h.ExpiresAt = time.Now().UTC().Add(k.ttl)
	return k.store.Update(ctx, h)
}

// Release lets a hold go and gives its room back.
func (k *Keeper) Release(ctx context.Context, h *Hold) error {
	if err := k.store.Delete(ctx, h.ID); err != nil {
		return fmt.Errorf("release hold %s: %w", h.ID, err)
	}
	return k.rooms.AddSold(ctx, h.SailingID, -h.Seats, -h.Lane)
}

// Sweep releases all holds that have expired.
func (k *Keeper) Sweep(ctx context.Context) (int, error) {
	expired, err := k.store.DeleteExpired(ctx)
	if err != nil {
		return 0, fmt.Errorf("sweep holds: %w", err)
	}
	for _, h := range expired {
		if err := k.rooms.AddSold(ctx, h.SailingID, -h.Seats, -h.Lane); err != nil {
			return 0, err
		}
	}
	return len(expired), nil
}
`

const leakTest = `
package hold

import (
	"context"
	"errors"
	"testing"
)

// crashing fails on the first call that gives room back, as a killed process
// would.
type crashing struct{ sold int }

func (c *crashing) AddSold(ctx context.Context, id string, seats, lane int) error {
	if seats < 0 {
		return errors.New("killed")
	}
	c.sold += seats
	return nil
}

func TestReleaseCrash(t *testing.T) {
	rooms := &crashing{}
	k := &Keeper{store: memStore(t), rooms: rooms, ttl: 900e9}
	h := &Hold{ID: "ho_1", SailingID: "sa_1", Seats: 4}
	if err := k.Take(context.Background(), h); err != nil {
		t.Fatal(err)
	}
	k.Release(context.Background(), h)
	if holds := k.store.count(t); holds == 0 && rooms.sold > 0 {
		t.Errorf("%d seats are lost after a crash in Release", rooms.sold)
	}
}
`
