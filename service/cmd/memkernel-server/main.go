// Command memkernel-server is memkernel for a team's server: it has memkernel's verbs, and
// exports spans and metrics to a collector of OpenTelemetry.
package main

import (
	"os"

	"github.com/spf13/cobra"

	"github.com/memkernel/memkernel/internal/cli"
	"github.com/memkernel/memkernel/internal/program"
	"github.com/memkernel/memkernel/internal/verbs"
	"github.com/memkernel/memkernel/internal/verbs/hosts"
	"github.com/memkernel/memkernel/service/telemetry"
)

func main() { os.Exit(command.Main()) }

var command = &program.Program{
	Name: "memkernel-server", Short: "memkernel for several machines: state in PostgreSQL, HTTP, tenants",
	Opening: func(root *cobra.Command) string {
		return "memkernel-server has memkernel's verbs for what several machines share: state, memory and index\nin PostgreSQL, tokens and tenants, HTTP, and export to a collector of OpenTelemetry (doc/service.md)."
	},
	Groups: verbs.Groups(
		func(a *cli.App) *cobra.Command { return hosts.ServeTo(a, telemetry.Open) },
		func(a *cli.App) *cobra.Command { return hosts.ProxyTo(a, telemetry.Open) }),
}
