package cli

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/memkernel/memkernel/internal/display"
)

// version is the document of version.
type version struct {
	Schema  string `json:"schema"`
	Version string `json:"version"`
	// Revision is "" if unknown. Modified reports whether the program was built from a changed
	// tree.
	Revision string `json:"revision"`
	Modified bool   `json:"modified"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

// Build returns the version that the toolchain wrote into the binary.
func Build() version {
	v := version{Schema: "memkernel/version/v1", Version: "devel", Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return v
	}
	if info.Main.Version != "" && info.Main.Version != "(devel)" {
		v.Version = info.Main.Version
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			v.Revision = s.Value
		case "vcs.modified":
			v.Modified = s.Value == "true"
		}
	}
	return v
}

// Line returns the version on one line.
func (v version) Line() string {
	return fmt.Sprintf("memkernel %s %s %s", v.Version, v.Go, v.Platform)
}

// VersionVerb is the verb version.
func VersionVerb(a *App) *cobra.Command {
	return &cobra.Command{
		RunE: func(cmd *cobra.Command, args []string) error {
			return Answer(a, Build(), Build(), func(s *display.Sheet, v version) { s.Line(v.Line()) })
		},
	}
}
