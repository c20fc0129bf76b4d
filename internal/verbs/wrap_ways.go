package verbs

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/memkernel/memkernel/internal/settings"
)

// ways returns the providers of a command. Some providers are named by variables that many
// clients read. Others belong only to this host, which learns the addresses from a variable of its
// own or by its [lead].
func ways(args []string) []provider {
	out := slices.Clone(providers)
	if os.Getenv(copilotURL) != "" {
		out = append(out, provider{name: "copilot", variables: []variable{{copilotURL, ""}}})
	}
	l, ok := leads[host(args[0])]
	if !ok {
		return out
	}
	apis := l.apis(args[1:])
	for _, name := range slices.Sorted(maps.Keys(apis)) {
		p := provider{name: name, url: apis[name]}
		if last := path.Base(p.url); len(last) > 1 && last[0] == 'v' && last[1] >= '1' && last[1] <= '9' {
			p.version = "/" + last
		}
		out = append(out, p)
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

// codexAPIs returns the address of the provider that Codex's config.toml chooses. The key is the name
// of the setting with the address. The file of a profile overrides config.toml.
func codexAPIs(args []string) map[string]string {
	home := cmp.Or(os.Getenv("CODEX_HOME"), filepath.Join(userHome(), ".codex"))
	c := layers{}
	for _, name := range append(profiles(args), "config.toml") {
		path := filepath.Join(home, name)
		data, _ := settings.Read(path) // Codex itself reports an unreadable file
		layer, err := settings.ParseTOML(path, data)
		if err != nil {
			return nil
		}
		c = append(c, layer)
	}
	if chosen := c.Text("model_provider"); chosen != "" && chosen != "openai" {
		if url := c.Text("model_providers", chosen, "base_url"); url != "" {
			return map[string]string{"model_providers." + chosen + ".base_url": url}
		}
		return nil
	}
	url := cmp.Or(os.Getenv("OPENAI_BASE_URL"), "https://api.openai.com/v1")
	if subscribed(home) {
		url = "https://chatgpt.com/backend-api/codex"
	}
	return map[string]string{"openai_base_url": cmp.Or(c.Text("openai_base_url"), url)}
}

// tellCodex gives the settings by arguments, because Codex reads no variable.
func tellCodex(to map[string]string, _ string) (args, _ []string, err error) {
	for key, url := range to {
		args = append(args, "-c", fmt.Sprintf("%s=%q", key, url))
	}
	return append(args, "-c", "features.enable_request_compression=false"), nil, nil
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

// lead tells proxy addresses to a host that does not read the providers' variables, through
// settings for the run. The user's own files stay unchanged.
type lead struct {
	// apis returns the addresses that the host would call with these arguments, by the host's own
	// names of the providers.
	apis func(args []string) map[string]string
	// tell returns arguments and variables that replace these addresses by the addresses in the
	// parameter to. It must create files for the run in dir.
	tell func(to map[string]string, dir string) (args, env []string, err error)
	// verbs are the first arguments of calls that use no model.
	verbs []string
}

// leads maps the names of such hosts' programs to their leads.
var leads = map[string]lead{
	"codex":    {apis: codexAPIs, tell: tellCodex},
	"opencode": {apis: opencodeAPIs, tell: tellOpenCode},
	"pi":       {apis: piAPIs, tell: tellPi, verbs: []string{"install", "remove", "uninstall", "update", "list", "config"}},
	"cline":    {apis: clineAPIs, tell: tellCline},
}

// form is the place of addresses in a host's settings: under key in the object inside of each of
// the providers, or in the provider itself if inside is "".
type form struct{ providers, inside, key string }

var (
	opencodeForm = form{"provider", "options", "baseURL"}
	piForm       = form{"providers", "", "baseUrl"}
	clineForm    = form{"providers", "settings", "baseUrl"}
)

// of returns the object with the address of a provider.
func (f form) of(config map[string]any, name string) map[string]any {
	p := inner(inner(config, f.providers), name)
	if f.inside != "" {
		p = inner(p, f.inside)
	}
	return p
}

// read adds the addresses in settings to out.
func (f form) read(config map[string]any, out map[string]string) {
	for name := range inner(config, f.providers) {
		if url, _ := f.of(config, name)[f.key].(string); isURL(url) {
			out[name] = url
		}
	}
}

// write puts addresses into settings.
func (f form) write(config map[string]any, to map[string]string) {
	for name, url := range to {
		f.of(config, name)[f.key] = url
	}
}

// inner returns the object under a name in another object. It creates a missing object.
func inner(of map[string]any, name string) map[string]any {
	in, ok := of[name].(map[string]any)
	if !ok {
		in = map[string]any{}
		of[name] = in
	}
	return in
}

// isURL reports whether a setting is an address, and not the name of an address.
func isURL(s string) bool { return strings.HasPrefix(s, "http://") || strings.HasPrefix(s, "https://") }

const opencodeContent = "OPENCODE_CONFIG_CONTENT"

// opencodeAPIs returns the addresses of the providers for which OpenCode has a key or an address
// in its settings.
func opencodeAPIs([]string) map[string]string {
	var logins map[string]struct {
		Type string `json:"type"`
	}
	data := cmp.Or(os.Getenv("XDG_DATA_HOME"), filepath.Join(userHome(), ".local", "share"))
	_ = settings.Load(filepath.Join(data, "opencode", "auth.json"), &logins) // OpenCode itself reports an unreadable file
	out := map[string]string{}
	for _, p := range []struct{ name, url, keys string }{
		{"anthropic", "https://api.anthropic.com/v1", "ANTHROPIC_API_KEY"},
		{"openai", "https://api.openai.com/v1", "OPENAI_API_KEY"},
		{"google", "https://generativelanguage.googleapis.com/v1beta", "GOOGLE_GENERATIVE_AI_API_KEY GEMINI_API_KEY GOOGLE_API_KEY"},
	} {
		if logins[p.name].Type == "api" || logins[p.name].Type == "" && slices.ContainsFunc(strings.Fields(p.keys), func(key string) bool { return os.Getenv(key) != "" }) {
			out[p.name] = p.url
		}
	}
	home := filepath.Join(cmp.Or(os.Getenv("XDG_CONFIG_HOME"), filepath.Join(userHome(), ".config")), "opencode")
	for _, file := range []string{filepath.Join(home, "config.json"), filepath.Join(home, "opencode.json"), filepath.Join(home, "opencode.jsonc"), os.Getenv("OPENCODE_CONFIG"), "opencode.json", "opencode.jsonc"} {
		config := map[string]any{}
		_ = settings.Load(file, &config) // as above
		opencodeForm.read(config, out)
	}
	config, _ := opencodeLast()
	opencodeForm.read(config, out)
	return out
}

// opencodeLast returns the settings that OpenCode reads last.
func opencodeLast() (config map[string]any, err error) {
	config = map[string]any{}
	return config, settings.Unmarshal(opencodeContent, []byte(os.Getenv(opencodeContent)), &config)
}

// tellOpenCode adds the addresses to the settings that OpenCode reads last.
func tellOpenCode(to map[string]string, _ string) (_, env []string, err error) {
	config, err := opencodeLast()
	if err != nil {
		return nil, nil, err
	}
	opencodeForm.write(config, to)
	data, err := json.Marshal(config)
	return nil, []string{opencodeContent + "=" + string(data)}, err
}

// piAPIs returns the addresses of Pi's built-in providers and of the providers in its
// models.json.
func piAPIs([]string) map[string]string {
	config := map[string]any{}
	home := cmp.Or(os.Getenv("PI_CODING_AGENT_DIR"), filepath.Join(userHome(), ".pi", "agent"))
	_ = settings.Load(filepath.Join(home, "models.json"), &config) // Pi itself reports an unreadable file
	out := map[string]string{"anthropic": "https://api.anthropic.com", "openai": "https://api.openai.com/v1", "google": "https://generativelanguage.googleapis.com/v1beta"}
	piForm.read(config, out)
	return out
}

// tellPi makes Pi load an extension that gives its providers other addresses.
func tellPi(to map[string]string, dir string) (args, _ []string, err error) {
	list, err := json.Marshal(to)
	if err != nil {
		return nil, nil, err
	}
	file := filepath.Join(dir, "memkernel.mjs")
	text := fmt.Sprintf("export default (pi) => {\n  for (const [name, baseUrl] of Object.entries(%s)) pi.registerProvider(name, { baseUrl });\n};\n", list)
	return []string{"-e", file}, nil, os.WriteFile(file, []byte(text), 0o600)
}

const clineSettings = "CLINE_PROVIDER_SETTINGS_PATH"

// clineURLs are Cline's default addresses of providers. They apply to providers without an
// address in Cline's settings.
var clineURLs = map[string]string{"anthropic": "https://api.anthropic.com/v1", "openai": "https://api.openai.com/v1",
	"openai-native": "https://api.openai.com/v1", "openrouter": "https://openrouter.ai/api/v1"}

// clineConfig reads the providers in Cline's settings.
func clineConfig() (config map[string]any, err error) {
	config = map[string]any{}
	data := cmp.Or(os.Getenv("CLINE_DATA_DIR"), filepath.Join(cmp.Or(os.Getenv("CLINE_DIR"), filepath.Join(userHome(), ".cline")), "data"))
	return config, settings.Load(cmp.Or(os.Getenv(clineSettings), filepath.Join(data, "settings", "providers.json")), &config)
}

func clineAPIs([]string) map[string]string {
	config, _ := clineConfig() // Cline itself reports an unreadable file
	out := map[string]string{}
	for name := range inner(config, clineForm.providers) {
		of := clineForm.of(config, name)
		url, _ := of[clineForm.key].(string)
		if _, key := of["apiKey"].(string); key && isURL(cmp.Or(url, clineURLs[name])) {
			out[name] = cmp.Or(url, clineURLs[name])
		}
	}
	return out
}

// tellCline makes Cline read a copy of its settings.
func tellCline(to map[string]string, dir string) (_, env []string, err error) {
	config, err := clineConfig()
	if err != nil {
		return nil, nil, err
	}
	clineForm.write(config, to)
	data, err := json.Marshal(config)
	if err != nil {
		return nil, nil, err
	}
	file := filepath.Join(dir, "providers.json")
	return nil, []string{clineSettings + "=" + file}, os.WriteFile(file, data, 0o600)
}
