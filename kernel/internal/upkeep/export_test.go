package upkeep

import (
	"context"

	"github.com/memkernel/memkernel/kernel/api"
)

// RunJobs runs jobs as a night's.
func (k *Keeper) RunJobs(names []string, runs ...func() error) ([]api.NightlyStep, error) {
	var all []job
	for i, name := range names {
		all = append(all, job{name, runs[i]})
	}
	return k.run(context.Background(), all, k.Now())
}
