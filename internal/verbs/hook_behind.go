package verbs

import (
	"errors"
	"os"
	"os/exec"
	"time"

	"github.com/spf13/cobra"

	"github.com/memkernel/memkernel/internal/cli"
	"github.com/memkernel/memkernel/internal/rendezvous"
	"github.com/memkernel/memkernel/serve/hook"
)

// behindTime is the limit for a commit that runs after the answer to the host.
const behindTime = 2 * time.Minute

// behindArgs returns the command line of a hook that continues by itself, with the user's flags
// for workspace, state folder and configuration.
func behindArgs(a *cli.App, cmd *cobra.Command, h hook.Host) []string {
	args := []string{"hook", "--host", string(h), "--wait", "--deadline", behindTime.String()}
	for _, name := range []string{"workspace", "state-dir", "config"} {
		if f := cmd.Flags().Lookup(name); f != nil && f.Changed {
			args = append(args, "--"+name, f.Value.String())
		}
	}
	return args
}

// MaxPipe is the number of bytes that a pipe accepts without a reader on every system.
const MaxPipe = 4 << 10 // 4 KiB

// commitBehind starts this program again to process an event, and does not wait for it.
func commitBehind(a *cli.App, cmd *cobra.Command, h hook.Host, event []byte) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	p, err := StartBehind(self, behindArgs(a, cmd, h), event)
	if err != nil {
		return err
	}
	return p.Release()
}

// StartBehind starts a program that reads event from standard input. The program has its own
// session and none of our streams, so that the host does not wait for it. The event must not be
// longer than MaxPipe.
func StartBehind(program string, args []string, event []byte) (*os.Process, error) {
	if len(event) > MaxPipe {
		return nil, errors.New("the event is too large to be handed over")
	}
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	_, err = w.Write(event)
	if err := errors.Join(err, w.Close()); err != nil {
		return nil, err
	}
	c := exec.Command(program, args...)
	c.Stdin, c.SysProcAttr = r, rendezvous.OwnSession()
	if err := c.Start(); err != nil {
		return nil, err
	}
	return c.Process, nil
}
