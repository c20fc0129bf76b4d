package fakemodel

import "encoding/json"

// Script returns the model's answer. The server calls it under its lock, one request at a time.
type Script func(Turn) Reply

// Turn is the part of a request that a script sees.
type Turn struct {
	// N counts the answered requests before this one.
	N int
	// Model is the requested model.
	Model string
	// User is all user text after the model's last answer, a line for each block. It has the user's
	// words and any text that memkernel or the host added.
	User string
	// Results are the tool results of the newest message, in order.
	Results []string
	// Tools are the names of the tools that the model may call.
	Tools []string
	// Request is the whole request.
	Request Request
}

// Reply is an answer, or a refusal if Status is 400 or more.
type Reply struct {
	Text  string
	Calls []Call

	Status int
	// Kind is the type of a refusal. Error is its text.
	Kind, Error string
}

// Call is a call of a tool. If ID is empty, the server makes one from the request's number.
type Call struct {
	ID, Name string
	// Input is a JSON object. nil stands for {}.
	Input json.RawMessage
	// Text is the input of a tool that takes text instead of JSON. Only the Responses API has
	// such tools.
	Text string
}

func (c Call) input() json.RawMessage {
	if len(c.Input) == 0 {
		return json.RawMessage("{}")
	}
	return c.Input
}
