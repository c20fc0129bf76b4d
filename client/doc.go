// Package client calls the daemon of a workspace, memkernel serve, and starts one if there is
// none. It is for Go programs that should not hold the kernel themselves: several processes on
// one workspace, or a host that must not wait for an index to open. It makes no decision and
// keeps no state but which messages of a conversation the daemon has.
//
//	c, err := client.Connect(ctx, client.Options{Workspace: "."})
//	s := c.Session("main", client.SessionOptions{Model: "claude-sonnet-4-6"})
//	plan, err := s.Plan(ctx, messages, nil) // plan.Messages is what to send
//	_, err = s.ObserveTurn(ctx, append(messages, answer), &protocol.TurnParams{PlanID: plan.PlanID})
//
// With [Options.URL] it calls a server, memkernel-server serve --listen, by HTTP.
//
// A connection that is lost is made anew by the next call, and what was lost with it is
// delivered again: every call that writes is idempotent. The deadline of a context is the
// daemon's, too, and who cancels it cancels the call there.
package client
