// Package e2e runs the kernel inside real hosts. Its tests run only with `make e2e`
// (MEMKERNEL_E2E=1), because they need npm and packages from its registry. If these are missing,
// the tests are skipped with a message. The tests record the calls of the real hosts, and other
// tests replay these calls. The plugin's own tests replay them against the program and need node.
// Tests of the server in this process need no node.
//
// The host is the program as its makers ship it. The model is a server of ours on loopback
// ([fakemodel]). It calls the tools that the user's words name, so that a conversation is a
// script. MEMKERNEL_E2E_DIR names a folder that keeps the installed packages. MEMKERNEL_E2E_TURNS
// sets the number of turns (default 50).
//
// Each host's row of the table in doc/hosts.md comes from one script, which runs twice: without
// memkernel and with it. In the second run, init sets memkernel up, uninstall removes it, and its
// processes are killed between turns. If the host spoils a run, the run is repeated once, and the
// row notes this. MEMKERNEL_E2E_TABLE names the page. versions.json holds the versions of the
// hosts, and E2E_NEWEST=1 takes the newest versions. MEMKERNEL_E2E_RECORD=1 records again the
// sessions that the hooks' tests read.
//
// The tests check the journal, the requests and the host's log. The journal must hold every turn
// of the script once, with every marker. In the requests that the model's server received, every
// tool call must have its result, and the bytes before the new part must be unchanged. By its
// log, the host's own engine must never have taken over.
package e2e
