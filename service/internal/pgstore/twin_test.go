package pgstore

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// twin asks a server and a model the same, one statement at a time, and fails the test where
// they answer differently.
type twin struct {
	t    testing.TB
	real database
	m    *Client
}

// OpenTwin opens a root as Open does, with a model beside it. Who else asks the schema has
// to be a twin with the same model.
func OpenTwin(t testing.TB, o Options, m *Model) (*Store, error) {
	s, err := Open(context.Background(), o)
	if err != nil {
		return nil, err
	}
	s.pool = &twin{t, s.pool, m.client(nil)}
	return s, nil
}

func (w *twin) Acquire(ctx context.Context) (conn, error) {
	c, err := w.real.Acquire(ctx)
	if err != nil {
		return nil, err
	}
	return &twinConn{w, c}, nil
}

func (w *twin) Reset() { w.real.Reset() }
func (w *twin) Close() { w.real.Close() }

func (w *twin) Query(ctx context.Context, sql string, a ...any) (pgx.Rows, error) {
	return w.query(ctx, w.real, sql, a)
}

func (w *twin) Exec(ctx context.Context, sql string, a ...any) (pgconn.CommandTag, error) {
	r, err := w.Query(ctx, sql, a...)
	if err != nil {
		return pgconn.CommandTag{}, err
	}
	r.Close()
	return r.CommandTag(), r.Err()
}

type asks interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
}

func (w *twin) query(ctx context.Context, real asks, sql string, a []any) (pgx.Rows, error) {
	if strings.HasPrefix(sql, "SELECT pg_terminate_backend") {
		return real.Query(ctx, sql, a...) // no session of the model's
	}
	w.m.m.twins.Lock()
	r, err := real.Query(ctx, sql, a...)
	if err != nil {
		w.m.m.twins.Unlock()
		return nil, err
	}
	model, err := w.m.Query(ctx, sql, a...)
	if err != nil {
		w.t.Error(err)
		model = &rows{}
	}
	return &twinRows{Rows: r, w: w, sql: sql, args: a, left: model.(*rows).left, done: sync.OnceFunc(w.m.m.twins.Unlock)}, nil
}

type twinConn struct {
	w *twin
	conn
}

func (c *twinConn) Query(ctx context.Context, sql string, a ...any) (pgx.Rows, error) {
	return c.w.query(ctx, c.conn, sql, a)
}

func (c *twinConn) QueryRow(ctx context.Context, sql string, a ...any) pgx.Row {
	r, err := c.Query(ctx, sql, a...)
	return oneRow{r, err}
}

func (c *twinConn) SendBatch(ctx context.Context, b *pgx.Batch) pgx.BatchResults {
	c.w.m.m.twins.Lock()
	out := &twinResults{BatchResults: c.conn.SendBatch(ctx, b), w: c.w, done: sync.OnceFunc(c.w.m.m.twins.Unlock)}
	var err error
	if out.left, err = c.w.m.connect().ask(ctx, b.QueuedQueries...); err != nil {
		c.w.t.Error(err)
		out.left = make([]answer, len(b.QueuedQueries))
	}
	out.qs = b.QueuedQueries
	return out
}

type twinResults struct {
	pgx.BatchResults
	w    *twin
	qs   []*pgx.QueuedQuery
	left []answer
	done func()
}

func (r *twinResults) Query() (pgx.Rows, error) {
	q, a := r.qs[0], r.left[0]
	r.qs, r.left = r.qs[1:], r.left[1:]
	rows, err := r.BatchResults.Query()
	if err != nil {
		return nil, err
	}
	return &twinRows{Rows: rows, w: r.w, sql: q.SQL, args: q.Arguments, left: a.rows, done: func() {}}, nil
}

func (r *twinResults) QueryRow() pgx.Row {
	rows, err := r.Query()
	return oneRow{rows, err}
}

func (r *twinResults) Close() error {
	defer r.done()
	return r.BatchResults.Close()
}

// twinRows are the server's, compared with the model's when they are closed.
type twinRows struct {
	pgx.Rows
	w    *twin
	sql  string
	args []any
	left [][]any
	real []string
	into []any
	gave bool // all were read
	once sync.Once
	done func()
}

func (r *twinRows) Next() bool {
	more := r.Rows.Next()
	r.gave = !more
	return more
}

func (r *twinRows) Scan(into ...any) error {
	err := r.Rows.Scan(into...)
	if err == nil {
		r.real, r.into = append(r.real, shown(into)), into
	}
	return err
}

func (r *twinRows) Close() {
	r.once.Do(func() {
		defer r.done()
		r.Rows.Close()
		if r.Rows.Err() != nil || r.into == nil && len(r.left) == 0 {
			return
		}
		var model []string
		for m := (&rows{left: r.left}); m.Next() && (r.gave || len(model) < len(r.real)); {
			into := make([]any, len(r.into))
			for i, to := range r.into {
				into[i] = reflect.New(reflect.TypeOf(to).Elem()).Interface()
			}
			if err := m.Scan(into...); err != nil {
				r.w.t.Errorf("the model's answer to %s%v: %v", r.sql, r.args, err)
				return
			}
			model = append(model, shown(into))
		}
		slices.Sort(model)
		slices.Sort(r.real)
		if !slices.Equal(model, r.real) {
			r.w.t.Errorf("the model answers otherwise than the server:\n%s\n%v\nserver: %q\nmodel:  %q", strings.Join(strings.Fields(r.sql), " "), r.args, r.real, model)
		}
	})
}

// shown is a row without its times, and without an order of what a column has many of.
func shown(row []any) string {
	var b strings.Builder
	for _, col := range row {
		switch v := reflect.ValueOf(col).Elem().Interface().(type) {
		case time.Time:
			b.WriteString("a time")
		case *int64:
			if v == nil {
				b.WriteString("NULL")
			} else {
				fmt.Fprint(&b, *v)
			}
		case []int64:
			fmt.Fprint(&b, slices.Sorted(slices.Values(v)))
		case []string:
			fmt.Fprint(&b, slices.Sorted(slices.Values(v)))
		case []byte:
			fmt.Fprintf(&b, "%q", v)
		default:
			fmt.Fprint(&b, v)
		}
		b.WriteString("|")
	}
	return b.String()
}
