package verbs

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/memkernel/memkernel/internal/cli"
	"github.com/memkernel/memkernel/internal/display"
	"github.com/memkernel/memkernel/internal/document"
	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/serve/install"
)

func statusVerb(a *cli.App) *cobra.Command {
	var o api.StatusOptions
	cmd := &cobra.Command{
		Long: fmt.Sprintf(`status says what is stored where, and how big it is. It reads the %d sessions that were
written to last; of the others it says size and time alone, and what is in them is not
counted. --all reads every session, --session one. Memories that Claude Code and Codex
keep of their own are named.`, api.MostSessions),
		RunE: with(a, &o, runStatus),
	}
	cmd.Flags().StringVarP(&o.Session, "session", "s", "", "`key` of the only session to read")
	cmd.Flags().BoolVar(&o.All, "all", false, "read every session")
	cmd.MarkFlagsMutuallyExclusive("session", "all")
	return cmd
}

func runStatus(ctx context.Context, a *cli.App, o *api.StatusOptions) error {
	st, err := ask(ctx, a, cli.Needs{}, "", (*kernel.Kernel).Status, o)
	if err != nil {
		return err
	}
	sync := a.Config.Index.Sync // the settings of programs that keep running
	st.Memory.Sync.OnStart, st.Memory.Sync.OnSearch, st.Memory.Sync.IntervalSeconds = sync.OnSessionStart, sync.OnSearch, time.Duration(sync.Interval).Seconds()
	st.Memory.Sync.Watch.On = sync.Watch
	a.Findings(st.Unreadable)
	doc := statusJSON{document.OfStatus(st), foldersOf(ctx, a), memories(a)}
	return cli.Answer(a, doc, st, func(s *display.Sheet, st *api.Status) {
		display.Status(s, st)
		for _, f := range doc.Folders {
			s.Line("added folder {}: {}", f.Name, f.text())
		}
		for _, m := range doc.HostMemories {
			s.Line("{} keeps memories of its own: {file} in {}, {}", m.Title, m.Files, m.Folder, searched[a.Config.Retrieval.HostMemories])
		}
	})
}

// searched says whether the memories of hosts are searched.
var searched = map[bool]string{true: "which private sessions search (retrieval.host_memories)", false: "which memkernel does not search (retrieval.host_memories)"}

// statusJSON is the document of status, with the memories that hosts keep themselves.
type statusJSON struct {
	document.Status
	// Folders are the added folders, which are searched and never written to.
	Folders []folderJSON `json:"folders"`
	// HostMemories are folders in which hosts keep their own memories. Private sessions
	// search them, unless retrieval.host_memories is false. The list is empty for a shared workspace.
	HostMemories []install.Memories `json:"host_memories,omitempty"`
}

// memories returns the folders in which hosts keep their own memories. The folders belong to the
// user, so it returns no folders for a shared workspace.
func memories(a *cli.App) []install.Memories {
	in, err := installer(a)
	if err != nil || !a.Config.Workspace.Private {
		return nil // without a folder its memories can't be recognised
	}
	return in.Memories()
}
