package main

import (
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/memkernel/memkernel/internal/config"
	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/sessions"
)

// pastSessions are the settings of past sessions as the kernel takes them.
func pastSessions(s *config.Sessions) kernel.SessionOptions {
	o := kernel.SessionOptions{Enabled: s.Enabled, NoOwn: !s.Own, Agent: s.Agent, DeltaBytes: int64(s.DeltaBytes), DeltaMessages: s.DeltaMessages, Settle: time.Duration(s.Settle)}
	for _, f := range s.Folders {
		agent, path, ok := strings.Cut(f, "=")
		if !ok || strings.ContainsAny(agent, `/\`) {
			agent, path = "", f
		}
		o.Sources = append(o.Sources, sessions.Source{Path: path, Agent: agent})
	}
	return o
}

// inWorkspace is a folder as the configuration names it: relative to the workspace,
// or to the user's home where it begins with ~/.
func (a *app) inWorkspace(path string) string {
	if rest, ok := strings.CutPrefix(path, "~/"); ok {
		if home, err := os.UserHomeDir(); err == nil {
			return filepath.Join(home, rest)
		}
	}
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(a.workspace, path)
}

// syncOptions are the settings of programs that keep running.
func syncOptions(s *config.Sync) kernel.SyncOptions {
	return kernel.SyncOptions{OnStart: s.OnSessionStart, OnSearch: s.OnSearch, Interval: time.Duration(s.Interval), Watch: s.Watch, Debounce: time.Duration(s.Debounce)}
}
