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

// host has the facts that the package needs to know about a host.
type host struct {
	name, title string
	// home are the host's folders in the user's home.
	home []string
	// homeEnv is the environment variable that names another folder, if it is set.
	homeEnv string
	// binary is the host's program. It is "" if the host has no program or if other programs have
	// the same name.
	binary string
	// project are files and folders of a project that is used with the host.
	project []string
	// hooks is the host's name in package hook, "" if the host runs no hooks.
	hooks hook.Host
	// files returns the host's settings files that are changed now. all returns the files that
	// were ever changed, if there are more of these.
	files, all func(s *Site) []file
	// servers is the place of the host's servers in a project. It is nil if there is no such
	// file.
	servers *servers
	// rules is the place of the host's rules in a project. It is nil if there is no such file.
	rules *rules
	// user is the file of the host's servers, if that file is for all of the user's projects.
	user *userServers
	// byHand are the commands that a person must run, nil if there are none.
	byHand func(s *Site) []string
	// next tells the user which further step is needed before the host works. It is "" if only
	// the usual step is needed.
	next string
	// sessions returns the recorded sessions of the workspace in one of the host's folders. It is
	// nil if the host's sessions can't be told apart by workspace.
	sessions func(s *Site, home string) []string
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
	// Workspace and Home are absolute paths. Home may be "".
	Workspace, Home string
	// Program is the memkernel program in the form that a host can run. Shell is the same, quoted
	// for a shell.
	Program, Shell string
	// Checkout is a folder with memkernel's own source, which has the extensions of some hosts.
	// It is "" if the machine has no such folder.
	Checkout string
	// Getenv and LookPath look up the environment.
	Getenv   func(string) string
	LookPath func(string) (string, error)
}

// Host is a host that was found or requested.
type Host struct {
	Name string `json:"name"`
	// Title is the host's own name for itself.
	Title string `json:"title"`
	// FoundBy are the traces of the host: folders in the home, its program, files of the project.
	// It is empty if the host was only requested.
	FoundBy []string `json:"found_by"`
	// Sessions is the number of the host's recorded sessions in this workspace. It is nil if the
	// sessions can't be told apart by workspace.
	Sessions *int `json:"sessions"`
	// Transcripts are their files.
	Transcripts []string `json:"-"`
	// Homes are the folders with the host's sessions of all workspaces.
	Homes []string `json:"-"`
	// UserWide is the file with the host's hooks for all of the user's projects, "" if there is
	// no such file. If it is set, the project's file gets no hooks.
	UserWide string `json:"user_wide"`
	// UserServer is the file for all of the user's projects to which a person has added the
	// server for this folder. It is "" if there is no such file.
	UserServer string `json:"user_server"`
	// ByHand are commands that a person must run to complete the installation. It also has lines
	// that a person must add to files for all of the user's projects.
	ByHand []string `json:"by_hand"`
	// Next tells the user the next step.
	Next string `json:"next"`
}

// Find returns the hosts of these names. Without names it returns the hosts that left a trace on
// the machine. It changes names in place to the hosts' own spelling.
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
			found.Homes = s.homes(h)
			for _, home := range found.Homes {
				found.Transcripts = append(found.Transcripts, h.sessions(s, home)...)
			}
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

// Short returns a path for people. It is relative to the workspace or to the home.
func (s *Site) Short(path string) string {
	if rel, err := filepath.Rel(s.Workspace, path); err == nil && filepath.IsLocal(rel) && rel != "." {
		return rel
	}
	if rel, err := filepath.Rel(s.Home, path); s.Home != "" && err == nil && filepath.IsLocal(rel) && rel != "." {
		return filepath.Join("~", rel)
	}
	return path
}
