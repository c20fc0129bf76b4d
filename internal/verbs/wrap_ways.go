package verbs

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/memkernel/memkernel/internal/settings"
)

// ways returns the providers of a command. Some providers are named by variables that many
// clients read. Others belong only to this host, which learns the address from a variable or an
// argument of its own.
func ways(args []string) []provider {
	command := args[0]
	out := slices.Clone(providers)
	if os.Getenv(copilotURL) != "" {
		out = append(out, provider{name: "copilot", variables: []variable{{copilotURL, ""}}})
	}
	if host(command) == "codex" {
		out = codexWay(out, args[1:])
	}
	if l, ok := leads[host(command)]; ok {
		out = append(out, l.own()...)
	}
	return out
}

// copilotURL is the variable for a provider of the user's own in Copilot CLI. Without it Copilot
// CLI calls GitHub, so wrap changes the variable only if it is set.
const copilotURL = "COPILOT_PROVIDER_BASE_URL"

// host returns the name of a program without its folder and its extension.
func host(command string) string {
	name := filepath.Base(command)
	return strings.ToLower(strings.TrimSuffix(name, filepath.Ext(name)))
}

// codexWay adds a provider whose address Codex gets by arguments, because Codex reads no
// variable. The upstream is the address of the provider that config.toml chooses. The file of a
// profile overrides config.toml.
func codexWay(list []provider, args []string) []provider {
	home := cmp.Or(os.Getenv("CODEX_HOME"), filepath.Join(userHome(), ".codex"))
	c := layers{}
	for _, name := range append(profiles(args), "config.toml") {
		path := filepath.Join(home, name)
		data, _ := settings.Read(path) // Codex itself reports an unreadable file
		layer, err := settings.ParseTOML(path, data)
		if err != nil {
			return list
		}
		c = append(c, layer)
	}
	own := func(key, url string) []provider {
		return append(list, provider{name: "codex", url: url, args: func(to string) []string {
			return []string{"-c", fmt.Sprintf("%s=%q", key, to), "-c", "features.enable_request_compression=false"}
		}})
	}
	switch chosen := c.Text("model_provider"); {
	case chosen != "" && chosen != "openai":
		if url := c.Text("model_providers", chosen, "base_url"); url != "" {
			return own("model_providers."+chosen+".base_url", url)
		}
		return list
	case c.Text("openai_base_url") != "":
		return own("openai_base_url", c.Text("openai_base_url"))
	case subscribed(home):
		return own("openai_base_url", "https://chatgpt.com/backend-api/codex")
	}
	return own("openai_base_url", cmp.Or(os.Getenv("OPENAI_BASE_URL"), "https://api.openai.com/v1"))
}

// layers are settings of Codex. Earlier layers override later ones.
type layers []*settings.TOML

func (l layers) Text(names ...string) (s string) {
	for _, layer := range l {
		s = cmp.Or(s, layer.Text(names...))
	}
	return s
}

// profiles returns the file of the profile that the arguments of Codex choose, or nil if they
// choose no profile.
func profiles(args []string) []string {
	for i, arg := range args {
		flag, name, ok := strings.Cut(arg, "=")
		if !ok && i+1 < len(args) {
			name = args[i+1]
		}
		if (flag == "-p" || flag == "--profile") && name != "" {
			return []string{filepath.Base(name) + ".config.toml"}
		}
		if arg == "--" {
			break
		}
	}
	return nil
}

// subscribed reports whether Codex is logged in to ChatGPT and has no key of the API. If Codex
// keeps its login outside of a file, a key in the environment decides.
func subscribed(home string) bool {
	if os.Getenv("CODEX_API_KEY") != "" {
		return false
	}
	var has struct {
		Key    *string         `json:"OPENAI_API_KEY"`
		Tokens json.RawMessage `json:"tokens"`
	}
	data, err := os.ReadFile(filepath.Join(home, "auth.json"))
	if err != nil || json.Unmarshal(data, &has) != nil {
		return os.Getenv("OPENAI_API_KEY") == ""
	}
	return has.Key == nil && len(has.Tokens) > 0
}

func userHome() string {
	home, _ := os.UserHomeDir() // without a home no files are found there
	return home
}

// elsewhere has a hint for each host that explains a run without requests.
var elsewhere = map[string]string{
	"claude":   "Claude Code asks elsewhere if its settings.json sets ANTHROPIC_BASE_URL under env, or CLAUDE_CODE_USE_BEDROCK or CLAUDE_CODE_USE_VERTEX: take these out",
	"codex":    `Codex was told by -c; --oss or a provider without base_url leads it elsewhere: run memkernel proxy, and give that provider in config.toml the base_url http://127.0.0.1:8377/v1`,
	"gemini":   "Gemini CLI asks elsewhere with a Google login: choose an API key (/auth, or GEMINI_API_KEY)",
	"copilot":  "Copilot CLI asks GitHub: set COPILOT_PROVIDER_BASE_URL, COPILOT_PROVIDER_API_KEY and COPILOT_MODEL for a provider of your own, and run wrap again",
	"cline":    "Cline was told by " + clineSettings + ", which leads the providers that it has a key of; for others " + settingsWay,
	"opencode": "OpenCode was told by " + opencodeContent + ", which leads the providers that it has a key of; for others " + settingsWay,
	"pi":       "Pi was told by -e, which leads anthropic, openai, google and the providers of its models.json; for others " + settingsWay,
}

const settingsWay = "run memkernel proxy, and enter http://127.0.0.1:8377 there, for OpenAI with /v1"

// unasked returns the message for a command that sent no request, with a hint.
func unasked(command string) string {
	if way := elsewhere[host(command)]; way != "" {
		return "no call came through: " + way
	}
	return fmt.Sprintf("no call came through: %s asks an API that none of ANTHROPIC_BASE_URL, OPENAI_BASE_URL and GOOGLE_GEMINI_BASE_URL leads to, or asked nothing", filepath.Base(command))
}

// course returns a text with the number of planned requests and, by reason, the number of
// requests that passed unplanned. It returns "" if there were no requests.
func course(front []served) string {
	planned, passed := 0, 0
	reasons := map[string]int{}
	for _, f := range front {
		s := f.proxy.Status()
		planned += s.Planned + s.Extended
		for _, p := range s.Passed {
			if p.Reason == "path" {
				continue // not a call of a model
			}
			passed += p.Count
			reasons[p.Reason] += p.Count
		}
	}
	if planned+passed == 0 {
		return ""
	}
	line := fmt.Sprintf("; %d planned", planned)
	if passed == 0 {
		return line
	}
	var by []string
	for reason, n := range reasons {
		by = append(by, fmt.Sprintf("%s %d", reason, n))
	}
	slices.Sort(by)
	return line + fmt.Sprintf(", %d passed (%s)", passed, strings.Join(by, ", "))
}
