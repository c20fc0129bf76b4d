// Command harness is a small agent that a reader can copy: a loop over a model with
// tools, whose context and memory are memkernel's.
//
//	user's line ─► PlanContext ─► Render ─► the model ─► tools ─┐
//	                    ▲                                       │
//	                    └──────────── messages ◄────────────────┘
//	                                     │ when the turn has ended
//	                                ObserveTurn
//
// The loop is in agent.go. The other files have the parts of any harness: an endpoint
// (endpoint.go), a conversation on disk (conversation.go), tools (tools.go).
//
// The harness speaks the Anthropic Messages API and OpenAI's chat completions, whoever serves
// them. It never cuts its own messages. It keeps the whole conversation and sends the messages of
// the plan. To keep the code short, the harness streams nothing and runs one call at a time.
package main
