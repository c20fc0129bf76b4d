package config_test

import (
	"testing"

	"github.com/memkernel/memkernel/internal/config"
)

func TestTokens(t *testing.T) {
	good := map[string]config.Tokens{"0": 0, "200000": 200000, "200k": 200000, "1m": 1000000, "1M": 1000000, "0.5m": 500000, "25_000": 25000, " 8K ": 8000, "4.35k": 4350}
	for in, want := range good {
		var n config.Tokens
		if err := n.Set(in); err != nil || n != want {
			t.Errorf("Set(%q) = %d, %v; want %d", in, n, err, want)
		}
	}
	for _, in := range []string{"", "k", "-1", "1.5", "many", "1e30", "NaN", "3000m", "0x10", "32MB", "1k2"} {
		var n config.Tokens
		if err := n.Set(in); err == nil {
			t.Errorf("Set(%q) = %d, want an error", in, n)
		}
	}
}

func TestSize(t *testing.T) {
	good := map[string]config.Size{"0": 0, "12": 12, "32MiB": 32 << 20, "32MB": 32e6, "1.5 KB": 1500, "7B": 7, "1gib": 1 << 30}
	for in, want := range good {
		var n config.Size
		if err := n.Set(in); err != nil || n != want {
			t.Errorf("Set(%q) = %d, %v; want %d", in, n, err, want)
		}
	}
	for _, in := range []string{"", "MB", "-1", "0.3B", "1e3", "12 parsecs", "99999999GB"} {
		var n config.Size
		if err := n.Set(in); err == nil {
			t.Errorf("Set(%q) = %d, want an error", in, n)
		}
	}
}

func TestDuration(t *testing.T) {
	good := map[string]string{"0": "0s", "30d": "30d", "24h": "1d", "36h": "1d12h", "1d12h": "1d12h", "90m": "1h30m", "1.5s": "1.5s", "500ms": "500ms", "10m": "10m"}
	for in, want := range good {
		var d config.Duration
		if err := d.Set(in); err != nil || d.String() != want {
			t.Errorf("Set(%q) = %s, %v; want %s", in, d, err, want)
		}
	}
	for _, in := range []string{"", "d", "30", "-1h", "-1d", "1d-2h", "1.5d", "12h1d", "1w", "70000d", "65535d2000000h", "forever"} {
		var d config.Duration
		if err := d.Set(in); err == nil {
			t.Errorf("Set(%q) = %s, want an error", in, d)
		}
	}
}
