package install

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/memkernel/memkernel/internal/textutil"
	"github.com/memkernel/memkernel/serve/hook"
)

// host is all that the package must know of a host.
type host struct {
	name, title string
	// home are folders that it keeps in the user's home; the environment variable homeEnv
	// names another one, if it is set.
	home    []string
	homeEnv string
	// binary is its program, "" if it has none or others are called so too.
	binary string
	// project are files and folders of a project that is used with it.
	project []string
	// hooks is its name among those that run hooks, "" if it runs none.
	hooks hook.Host
	// files are those of its settings that change; all are those that ever may have, where
	// these are more.
	files, all func(s *Site) []file
	// servers and rules are where it has them in a project, nil if it has no such file.
	servers *servers
	rules   *rules
	// user is where it has its servers, if that is a file for all of the user's projects.
	user *userServers
	// byHand are the commands that a person must run, nil if there are none.
	byHand func(s *Site) []string
	// next tells the user which further step is needed before it works, "" if there is only the
	// usual one.
	next string
	// sessions are the recorded sessions of the workspace; nil if they can't be told apart.
	sessions func(s *Site, homes []string) []string
}

// Names returns the names of all hosts.
func Names() (out []string) {
	for i := range hosts {
		out = append(out, hosts[i].name)
	}
	return out
}

// Site is a workspace on a machine.
type Site struct {
	// Workspace and Home are absolute; Home may be "".
	Workspace, Home string
	// Program is memkernel as a host finds it, Shell the same quoted for a shell.
	Program, Shell string
	// Checkout is a folder with memkernel's own source, where the extensions of some hosts
	// are, "" if there is none on the machine.
	Checkout string
	// Getenv and LookPath are the environment's.
	Getenv   func(string) string
	LookPath func(string) (string, error)
}

// Host is a host that was found, or asked for.
type Host struct {
	Name string `json:"name"`
	// Title is the host's own name for itself.
	Title string `json:"title"`
	// FoundBy are the traces of it: folders in the home, its program, files of the project;
	// empty if it was only asked for.
	FoundBy []string `json:"found_by"`
	// Sessions is how many of its recorded sessions are of this workspace, nil where they
	// can't be told apart.
	Sessions *int `json:"sessions"`
	// Transcripts are their files.
	Transcripts []string `json:"-"`
	// UserWide is the file with its hooks for all of the user's projects, "" if there are
	// none: they are not put into the project's then.
	UserWide string `json:"user_wide"`
	// UserServer is the file for all of the user's projects in which a person has put the
	// server for this folder, "" if there is none.
	UserServer string `json:"user_server"`
	// ByHand are commands that a person must run to complete it, and lines that only a person
	// adds to files of all of the user's projects.
	ByHand []string `json:"by_hand"`
	// Next tells the user the next step.
	Next string `json:"next"`
}

// Find returns the hosts of these names, or, without any, those that left a trace on the
// machine. Names that are written otherwise become the hosts' own, in place.
func (s *Site) Find(names []string) ([]Host, error) {
	for i, n := range names {
		if names[i] = textutil.MeantHost(n, Names()); !slices.Contains(Names(), names[i]) {
			return nil, fmt.Errorf("unknown host %q: give one of %s", n, strings.Join(Names(), ", "))
		}
	}
	out := []Host{}
	for i := range hosts {
		h := &hosts[i]
		found := Host{Name: h.name, Title: h.title, FoundBy: s.traces(h), UserWide: s.userWide(h), ByHand: []string{}, Next: h.next}
		if len(names) == 0 && len(found.FoundBy) == 0 || len(names) > 0 && !slices.Contains(names, h.name) {
			continue
		}
		if h.byHand != nil {
			found.ByHand = append(found.ByHand, h.byHand(s)...)
		}
		if h.user != nil {
			var lines []string
			found.UserServer, lines = h.user.look(s)
			found.ByHand = append(found.ByHand, lines...)
		}
		if h.sessions != nil && s.Home != "" {
			found.Transcripts = h.sessions(s, s.homes(h))
			n := len(found.Transcripts)
			found.Sessions = &n
		}
		out = append(out, found)
	}
	return out, nil
}

// traces returns the folders, programs and files that show that a host is used here.
func (s *Site) traces(h *host) []string {
	out := []string{}
	for _, dir := range s.homes(h) {
		if st, err := os.Stat(dir); err == nil && st.IsDir() {
			out = append(out, s.Short(dir))
		}
	}
	if h.binary != "" {
		if _, err := s.LookPath(h.binary); err == nil {
			out = append(out, h.binary+" on the PATH")
		}
	}
	for _, name := range h.project {
		if _, err := os.Stat(filepath.Join(s.Workspace, name)); err == nil {
			out = append(out, name)
		}
	}
	return out
}

// homes returns the folders in which a host keeps the user's own files.
func (s *Site) homes(h *host) (out []string) {
	if dir := s.Getenv(h.homeEnv); h.homeEnv != "" && dir != "" {
		return []string{dir}
	}
	if s.Home == "" {
		return nil
	}
	for _, name := range h.home {
		out = append(out, filepath.Join(s.Home, filepath.FromSlash(name)))
	}
	return out
}

// Short is a path as people read it: from the workspace, or from the home.
func (s *Site) Short(path string) string {
	if rel, err := filepath.Rel(s.Workspace, path); err == nil && filepath.IsLocal(rel) && rel != "." {
		return rel
	}
	if rel, err := filepath.Rel(s.Home, path); s.Home != "" && err == nil && filepath.IsLocal(rel) && rel != "." {
		return filepath.Join("~", rel)
	}
	return path
}
