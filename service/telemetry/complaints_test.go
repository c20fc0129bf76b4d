package telemetry

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
)

// TestComplaints: an unreachable collector is one line of the log, however often it is tried.
func TestComplaints(t *testing.T) {
	var log bytes.Buffer
	c := complaints{log: slog.New(slog.NewTextHandler(&log, nil))}
	for _, text := range []string{"traces export: port 1", "traces export: port 2", "metrics export: port 3"} {
		c.Handle(errors.New(text))
	}
	c.Handle(context.Canceled)
	if got := log.String(); strings.Count(got, "\n") != 2 || !strings.Contains(got, "port 1") || !strings.Contains(got, "port 3") {
		t.Error(got)
	}
}
