// Command harness is a small agent that a reader can copy: a loop over a model with
// tools, whose context and memory are memkernel's.
//
//	user's line ─► PlanContext ─► Render ─► the model ─► tools ─┐
//	                    ▲                                       │
//	                    └──────────── messages ◄────────────────┘
//	                                     │ when the turn has ended
//	                                ObserveTurn
//
// agent.go is the loop; everything else is what any harness has: an endpoint
// (endpoint.go), a conversation on disk (conversation.go), tools (tools.go).
//
// It speaks the Anthropic Messages API and OpenAI's chat completions, whoever serves
// them. It never cuts its own messages: it keeps the whole conversation and sends
// the plan's. To stay short it streams nothing and runs one call at a time.
package main
