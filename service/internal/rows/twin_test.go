package rows

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// twin asks a server and a model the same, one statement at a time, and fails the test if they
// answer differently.
type twin struct {
	database
	t     testing.TB
	asks  *sync.Mutex // shared by all who ask the server
	model *client
}

// WithTwin compares the server's answers with those of a model from now on. Whoever else asks the
// schema must have the same model and mutex.
func (s *Store) WithTwin(t testing.TB, m *Model, asks *sync.Mutex) *Store {
	wire := func(st Statement) error { return st.Do() }
	s.core.db = &twin{s.core.db, t, asks, &client{m: m, wire: wire}}
	return s
}

func (w *twin) Ask(ctx context.Context, s *statement, a []any, row func(func(...any) error) error) error {
	w.asks.Lock()
	defer w.asks.Unlock()
	var real, model []string
	var types []any // into which the rows are read
	err := w.database.Ask(ctx, s, a, func(scan func(...any) error) error {
		return row(func(into ...any) error {
			err := scan(into...)
			real, types = append(real, shown(into)), into
			return err
		})
	})
	if err != nil {
		w.t.Errorf("%s %v: %v", s.name, a, err)
		return err
	}
	err = w.model.Ask(ctx, s, a, func(scan func(...any) error) error {
		if types == nil {
			model = append(model, "a row more")
			return nil
		}
		into := make([]any, len(types))
		for i, to := range types {
			into[i] = reflect.New(reflect.TypeOf(to).Elem()).Interface()
		}
		err := scan(into...)
		model = append(model, shown(into))
		return err
	})
	slices.Sort(real)
	slices.Sort(model)
	if err != nil || !slices.Equal(real, model) {
		w.t.Errorf("the model answers otherwise than the server: %v\n%s\n%v\nserver: %q\nmodel:  %q", err, strings.Join(strings.Fields(s.text), " "), a, real, model)
	}
	return nil
}

// shown is a row without its times.
func shown(row []any) string {
	var b strings.Builder
	for _, col := range row {
		switch v := reflect.ValueOf(col).Elem().Interface().(type) {
		case time.Time, *time.Time, []time.Time:
			b.WriteString("a time")
		case []byte:
			fmt.Fprintf(&b, "%t %q", v == nil, v)
		case *string:
			if v != nil {
				b.WriteString(*v)
			}
			fmt.Fprint(&b, v == nil)
		default:
			fmt.Fprint(&b, v)
		}
		b.WriteString("|")
	}
	return b.String()
}
