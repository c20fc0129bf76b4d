package meter

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/serve/proxy"
)

// Run is one run of a proxy.
type Run struct {
	Started time.Time `json:"started"`
	// Ended is the time of the run's last call.
	Ended time.Time `json:"ended"`
	// Command is the name of the program that ran through the proxy. It is "" for a proxy without
	// a program.
	Command string `json:"command,omitempty"`
	// Models has the unknown properties of each model at the model's last call.
	Models map[string]Lack `json:"models,omitempty"`
	Sum
}

// Lack has the unknown properties of a model.
type Lack struct {
	Window bool `json:"window,omitempty"`
	Price  bool `json:"price,omitempty"`
}

// Unknown names the models whose window or price is unknown, in order.
type Unknown struct {
	// Window names models that were planned without a known window. Price names models whose
	// calls no cost includes.
	Window []string `json:"models_without_window"`
	Price  []string `json:"models_without_price"`
}

// unknownIn returns the unknown properties of each model in its newest run. Runs must be oldest
// first.
func unknownIn(runs ...Run) Unknown {
	newest := map[string]Lack{}
	for i := range runs {
		maps.Copy(newest, runs[i].Models)
	}
	u := Unknown{[]string{}, []string{}}
	for _, model := range slices.Sorted(maps.Keys(newest)) {
		if newest[model].Window {
			u.Window = append(u.Window, model)
		}
		if newest[model].Price {
			u.Price = append(u.Price, model)
		}
	}
	return u
}

// maxModels bounds the models of a run, because clients choose the names.
const maxModels = 100

// lacks notes which properties of a call's model are unknown. A call without a plan says nothing
// about the window.
func (r *Run) lacks(b *proxy.Billed, unpriced bool) {
	old, met := r.Models[b.Model]
	if b.Model == "" || !met && len(r.Models) >= maxModels {
		return
	}
	if r.Models == nil {
		r.Models = map[string]Lack{}
	}
	if b.Plan != nil {
		old.Window = b.Plan.Budgets.WindowFrom == api.WindowUnknown
	}
	r.Models[b.Model] = Lack{old.Window, unpriced}
}

// folder is the folder of the runs in the state directory.
const folder = "gain"

// runName returns the name of a run. It has the time in nanoseconds and a number that is specific
// to the process.
func runName(now time.Time) string {
	return fmt.Sprintf("%s-%d.json", now.UTC().Format("20060102T150405.000000000"), os.Getpid())
}

// write replaces the document of a run. It does not sync the document, because a power failure
// loses only a few calls of a sum.
func (r *Run) write(s store.Store, name string) error {
	data, err := json.Marshal(r)
	if err == nil {
		_, err = s.In(folder).Put(store.Unsynced, store.Doc{Name: name, Data: append(data, '\n')})
	}
	return err
}

// Runs reads all runs of a state directory since a moment, oldest first. It leaves out runs that
// can't be read. The error names them and is returned together with the other runs.
func Runs(s store.Store, since time.Time) ([]Run, error) {
	in := s.In(folder)
	list, err := in.List("")
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var out []Run
	var bad []error
	for _, e := range list {
		if !strings.HasSuffix(e.Name, ".json") {
			continue
		}
		data, err := in.Get(e.Name)
		var r Run
		if err == nil {
			err = json.Unmarshal(data, &r)
		}
		if err != nil {
			bad = append(bad, fmt.Errorf("%s: %w; remove it", in.Where(e.Name), err))
			continue
		}
		if !r.Ended.Before(since) {
			out = append(out, r)
		}
	}
	slices.SortFunc(out, func(a, b Run) int { return a.Started.Compare(b.Started) })
	return out, errors.Join(bad...)
}

// Day is the sum of the runs that began on a day.
type Day struct {
	// Name is YYYY-MM-DD.
	Name string `json:"day"`
	Sum
}

// Days adds runs up by day.
func Days(runs []Run, in *time.Location) (days []Day, all Sum) {
	for _, r := range runs {
		name := r.Started.In(in).Format(time.DateOnly)
		if n := len(days); n == 0 || days[n-1].Name != name {
			days = append(days, Day{Name: name})
		}
		days[len(days)-1].Add(r.Sum)
		all.Add(r.Sum)
	}
	return days, all
}

// Gain is the sum of all runs.
type Gain struct {
	Schema string `json:"schema"`
	// Total is the sum of all calls that went through wrap and proxy.
	Total Sum `json:"total"`
	// Saved is the share of the cost without memkernel that was not billed. It is negative if
	// more was billed.
	Saved float64 `json:"saved"`
	Unknown
	// Days are the days with calls, in the workspace's time zone, oldest first.
	Days []Day `json:"days"`
}

// GainOf sums runs up.
func GainOf(runs []Run, in *time.Location) *Gain {
	days, all := Days(runs, in)
	return &Gain{"memkernel/gain/v1", all, all.Saved(), unknownIn(runs...), append([]Day{}, days...)}
}
