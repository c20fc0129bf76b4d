package web

import (
	_ "embed"
	"net/http"
)

// description is the OpenAPI description, which bench/clients makes from the table of methods.
//
//go:embed openapi.json
var description []byte

func openAPI(x *exchange) { x.json(http.StatusOK, description) }
