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

// lead tells proxy addresses to a host that does not read the providers' variables, through
// settings for the run. The user's own files stay unchanged.
type lead struct {
	// apis returns the addresses that the host would call, by the host's own names of the
	// providers.
	apis func() map[string]string
	// tell returns arguments and variables that replace these addresses by the addresses in the
	// parameter to. It must create files for the run in dir.
	tell func(to map[string]string, dir string) (args, env []string, err error)
	// verbs are the first arguments of calls that use no model.
	verbs []string
}

// leads maps the names of such hosts' programs to their leads.
var leads = map[string]lead{
	"opencode": {apis: opencodeAPIs, tell: tellOpenCode},
	"pi":       {apis: piAPIs, tell: tellPi, verbs: []string{"install", "remove", "uninstall", "update", "list", "config"}},
	"cline":    {apis: clineAPIs, tell: tellCline},
}

// own returns the providers of this host.
func (l lead) own() (out []provider) {
	apis := l.apis()
	for _, name := range slices.Sorted(maps.Keys(apis)) {
		p := provider{name: name, url: apis[name], led: true}
		if last := path.Base(p.url); len(last) > 1 && last[0] == 'v' && last[1] >= '1' && last[1] <= '9' {
			p.version = "/" + last
		}
		out = append(out, p)
	}
	return out
}

// run returns the arguments and variables that lead a command to the proxies in front.
func (l lead) run(front []served, args []string, dir string) (more, env []string, err error) {
	to := map[string]string{}
	for _, s := range front {
		if s.led {
			to[s.name] = "http://" + s.listener.Addr().String() + s.version
		}
	}
	if len(to) == 0 || len(args) > 1 && slices.Contains(l.verbs, args[1]) {
		return nil, nil, nil
	}
	return l.tell(to, dir)
}

// isURL reports whether a setting is an address, and not the name of an address.
func isURL(s string) bool { return strings.HasPrefix(s, "http://") || strings.HasPrefix(s, "https://") }

const opencodeContent = "OPENCODE_CONFIG_CONTENT"

// opencodeAPIs returns the addresses of the providers for which OpenCode has a key or an address
// in its settings.
func opencodeAPIs() map[string]string {
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
	files := []string{filepath.Join(home, "config.json"), filepath.Join(home, "opencode.json"), filepath.Join(home, "opencode.jsonc"), os.Getenv("OPENCODE_CONFIG"), "opencode.json", "opencode.jsonc"}
	for _, file := range files {
		if data, err := settings.Read(file); err == nil {
			opencodeURLs(data, out)
		}
	}
	opencodeURLs([]byte(os.Getenv(opencodeContent)), out)
	return out
}

// opencodeURLs adds the addresses in settings of OpenCode.
func opencodeURLs(data []byte, out map[string]string) {
	var c struct {
		Provider map[string]struct {
			Options struct {
				BaseURL string `json:"baseURL"`
			} `json:"options"`
		} `json:"provider"`
	}
	_ = settings.Unmarshal("", data, &c) // as above
	for name, p := range c.Provider {
		if isURL(p.Options.BaseURL) {
			out[name] = p.Options.BaseURL
		}
	}
}

// tellOpenCode adds the addresses to the settings that OpenCode reads last.
func tellOpenCode(to map[string]string, _ string) (_, env []string, err error) {
	config := map[string]any{}
	if had := os.Getenv(opencodeContent); had != "" {
		if err := settings.Unmarshal(opencodeContent, []byte(had), &config); err != nil {
			return nil, nil, err
		}
	}
	providers := inner(config, "provider")
	for name, url := range to {
		inner(inner(providers, name), "options")["baseURL"] = url
	}
	data, err := json.Marshal(config)
	return nil, []string{opencodeContent + "=" + string(data)}, err
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

// piAPIs returns the addresses of Pi's built-in providers and of the providers in its
// models.json.
func piAPIs() map[string]string {
	var c struct {
		Providers map[string]struct {
			BaseURL string `json:"baseUrl"`
		} `json:"providers"`
	}
	home := cmp.Or(os.Getenv("PI_CODING_AGENT_DIR"), filepath.Join(userHome(), ".pi", "agent"))
	_ = settings.Load(filepath.Join(home, "models.json"), &c) // Pi itself reports an unreadable file
	out := map[string]string{"anthropic": "https://api.anthropic.com", "openai": "https://api.openai.com/v1", "google": "https://generativelanguage.googleapis.com/v1beta"}
	for name, p := range c.Providers {
		if isURL(p.BaseURL) {
			out[name] = p.BaseURL
		}
	}
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

func clineAPIs() map[string]string {
	config, _ := clineConfig() // Cline itself reports an unreadable file
	out := map[string]string{}
	for name := range inner(config, "providers") {
		of := inner(inner(inner(config, "providers"), name), "settings")
		url, _ := of["baseUrl"].(string)
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
	for name, url := range to {
		inner(inner(inner(config, "providers"), name), "settings")["baseUrl"] = url
	}
	data, err := json.Marshal(config)
	if err != nil {
		return nil, nil, err
	}
	file := filepath.Join(dir, "providers.json")
	return nil, []string{clineSettings + "=" + file}, os.WriteFile(file, data, 0o600)
}
