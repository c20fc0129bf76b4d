// Package e2e runs the kernel inside real hosts. That needs npm and what it can install,
// so it happens by `make e2e` alone (MEMKERNEL_E2E=1) and is passed over with a message
// where it can't be had. What the real host was seen to call is recorded, and replayed
// by the other tests: by the plugin's own against the program (with node), and against
// the server in this process (without).
//
// The host is the program as its makers ship it; the model is a server of ours on
// loopback ([fakemodel]) that calls the tools which the user's words name, so that a
// conversation is a script. MEMKERNEL_E2E_DIR keeps what npm installed, and
// MEMKERNEL_E2E_TURNS sets how many turns there are (50).
//
// Each host's row of the table in doc/hosts.md is one script, talked twice: without
// memkernel, and with it, set up by init and taken out by uninstall, its processes killed
// between turns. A run that the host spoils is tried once more, and the row says so.
// MEMKERNEL_E2E_TABLE names the page, versions.json the versions (E2E_NEWEST=1 takes the
// newest), and MEMKERNEL_E2E_RECORD=1 records the sessions anew that the hooks' tests read.
//
// What is held against what happened: the journal against the script (every turn once,
// every marker still there), the requests as the model's server saw them (tool pairs,
// and the bytes in front of what is new), and the host's own log (its own engine never
// took over).
package e2e
