package tools

import (
	"encoding/json"

	"github.com/google/jsonschema-go/jsonschema"
)

// Output returns the JSON schema of a tool's answer, made from the answer's Go type. It returns nil
// if no tool has the name.
func Output(name string) json.RawMessage {
	switch name {
	case MemorySearch:
		return outputOf[found]()
	case MemoryGet:
		return outputOf[lines]()
	case MemoryAppend:
		return outputOf[kept]()
	case MemoryList:
		return outputOf[entries]()
	case MemoryUpdate, MemoryDelete, MemoryUndo:
		return outputOf[edited]()
	case ContextStatus:
		return outputOf[standing]()
	}
	return nil
}

func outputOf[T any]() json.RawMessage {
	s, err := jsonschema.For[T](nil)
	if err != nil {
		panic("tools: schema of an answer: " + err.Error()) // the types are this package's
	}
	raw, err := json.Marshal(s)
	if err != nil {
		panic("tools: schema of an answer: " + err.Error())
	}
	return raw
}
