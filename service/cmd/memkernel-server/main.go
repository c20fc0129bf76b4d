// Command memkernel-server is memkernel for several machines: it keeps state and index in
// PostgreSQL, answers over HTTP for bearers of tokens, and exports
// spans and metrics to a collector of OpenTelemetry. Its verbs are memkernel's and its own.
package main

import (
	"os"

	"github.com/spf13/cobra"

	"github.com/memkernel/memkernel/internal/cli"
	"github.com/memkernel/memkernel/internal/config"
	"github.com/memkernel/memkernel/internal/verbs"
	"github.com/memkernel/memkernel/service/internal/databases"
	server "github.com/memkernel/memkernel/service/internal/verbs"
	"github.com/memkernel/memkernel/service/telemetry"
)

func init() { config.ForServer() }

func main() { os.Exit(command.Main()) }

var command = &cli.Program{
	Name: "memkernel-server", Short: "memkernel for several machines: state in PostgreSQL, HTTP, tenants",
	Opening: opening, Groups: groups(), Databases: databases.PostgreSQL{},
}

func groups() []cli.Group {
	all := verbs.Groups(server.Serve, verbs.Proxy(telemetry.Open))
	verbs.Add(all, "memory", cli.NewVerb("migrate --state --to STORE", "move sessions or memory into a database, or back into files", server.Migrate, "move copy convert export"))
	verbs.Add(all, "hosts", cli.NewVerb("token", "make, list and revoke the tokens of serve --listen", server.Token, "auth key keys login secret permission"))
	return all
}

// opening returns the text that help begins with.
func opening(root *cobra.Command) string {
	return `memkernel-server has memkernel's verbs for what several machines share: state, memory and
index in PostgreSQL, tokens and tenants, HTTP (doc/service.md, doc/scaling.md).

To begin:
` + cli.Step(root, "", "config", "see the settings: store.* names the database") +
		cli.Step(root, "", "token create --help", "make a token for a program") +
		cli.Step(root, "", "serve --listen 127.0.0.1:8731", "answer it")
}
