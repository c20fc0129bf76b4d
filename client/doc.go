// Package client calls the daemon of a workspace, memkernel serve, and starts one if there is
// none. It is for Go programs that should not hold the kernel themselves: several processes on
// one workspace, or a host that must not wait for an index to open. The client decides nothing.
// Its only state is the messages of the conversations that the daemon holds.
//
//	c, err := client.Connect(ctx, client.Options{Workspace: "."})
//	s := c.Session("main", client.SessionOptions{Model: "claude-sonnet-4-6"})
//	plan, err := s.Plan(ctx, messages, nil) // send plan.Messages
//	_, err = s.ObserveTurn(ctx, append(messages, answer), &protocol.TurnParams{PlanID: plan.PlanID})
//
// With [Options.URL] the client calls a server, memkernel-server serve --listen, by HTTP.
//
// If the connection is lost, the next call makes a new connection. Calls that were lost with the
// old connection are delivered again, because every call that writes is idempotent. The deadline
// of a context also holds in the daemon, and cancelling the context cancels the call in the
// daemon.
package client
