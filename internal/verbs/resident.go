package verbs

import (
	"encoding/json"

	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/serve"
	"github.com/memkernel/memkernel/serve/tools"
)

// servedTools are memory's tools for clients of the daemon.
type servedTools struct{ *tools.Set }

// Definitions returns the definitions of the tools, in MCP's form if format is "".
func (t servedTools) Definitions(format string, all bool) (json.RawMessage, error) {
	if format == "" {
		format = string(tools.MCP)
	}
	return t.Set.Tools(tools.Format(format), all)
}

// ToolsOf binds the tools to sessions of a kernel.
func ToolsOf(k *kernel.Kernel) serve.ToolMaker {
	return func(sessionKey string, private bool) (serve.Toolset, error) {
		s, err := tools.New(k, tools.Options{SessionKey: sessionKey, Private: private})
		return servedTools{s}, err
	}
}
