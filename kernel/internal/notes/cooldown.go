package notes

import (
	"encoding/json"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/pagevm/mask"
	"github.com/memkernel/memkernel/summary"
)

// Cool-downs double from the first to the longest. If the server demands a longer wait, this wait
// is used, up to the longest.
const (
	firstCooldown   = time.Minute
	longestCooldown = 6 * time.Hour
)

// cooldown returns how long a model is left alone after a number of consecutive failures.
func cooldown(failures int, asked time.Duration) time.Duration {
	d := longestCooldown
	if failures < 10 {
		d = min(d, firstCooldown<<max(failures-1, 0))
	}
	return min(max(d, asked), longestCooldown)
}

// cooldowns is the file summary-model.json. The file is derived data. A damaged file is replaced
// by an empty one, and its loss costs one request.
type cooldowns struct {
	state store.Store // of the state directory
	mu    sync.Mutex
}

// OpenCooldowns returns the cool-downs of a state directory. It reads and writes nothing yet.
func OpenCooldowns(state store.Store) *cooldowns { return &cooldowns{state: state} }

// CooldownsFile holds the cool-downs of a state directory.
const CooldownsFile = "summary-model.json"

type cooldownFile struct {
	Version int                     `json:"version"`
	Models  map[string]api.Cooldown `json:"models"`
}

// read returns the present file, since other processes write it too. ok is false if a newer
// version wrote the file, or if the file can't be read now. The file is then left alone.
func (c *cooldowns) read() (f cooldownFile, ok bool) {
	raw, err := c.state.Get(CooldownsFile)
	if store.OutOfReach(err) {
		return cooldownFile{}, false
	}
	if err == nil {
		err = json.Unmarshal(raw, &f)
	}
	if f.Version > 1 {
		return cooldownFile{}, false
	}
	if err != nil || f.Models == nil {
		f.Models = map[string]api.Cooldown{}
	}
	f.Version = 1
	return f, true
}

// Cooling reports whether a model must be left alone.
func (c *cooldowns) Cooling(model string, now time.Time) bool {
	f, _ := c.read()
	return now.Before(f.Models[model].Until)
}

// Note keeps the outcome of a request. e is nil for a usable answer. It ignores a failed write.
// The model is then asked too early, which does no harm.
func (c *cooldowns) Note(model string, e *summary.ModelError, now time.Time) {
	if e != nil && !e.Reason.Counts() {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	f, ok := c.read()
	if !ok {
		return
	}
	m := f.Models[model]
	if e == nil && m.Failures == 0 && now.Sub(m.Answered) < firstCooldown {
		return // nothing new that would be worth a write
	}
	m.Model = model
	if e == nil {
		m.Failures, m.Until, m.Answered = 0, time.Time{}, now.UTC()
	} else {
		m.Failures++
		m.Reason, m.Detail, m.Failed = e.Reason, summary.Excerpt((*mask.Masker)(nil).Text(e.Error()), 300), now.UTC()
		m.Until = now.Add(cooldown(m.Failures, e.RetryAfter)).UTC()
	}
	f.Models[model] = m
	raw, err := json.Marshal(f)
	if err != nil {
		return
	}
	_, _ = c.state.Put(store.Synced, store.Doc{Name: CooldownsFile, Data: raw})
}

// All returns the models that were asked, by name.
func (c *cooldowns) All() []api.Cooldown {
	f, _ := c.read()
	out := []api.Cooldown{}
	for _, name := range slices.Sorted(maps.Keys(f.Models)) {
		out = append(out, f.Models[name])
	}
	return out
}
