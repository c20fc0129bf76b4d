package web

import (
	_ "embed"
	"net/http"
)

// description is made by bench/clients from the table of methods.
//
//go:embed openapi.json
var description []byte

func openAPI(x *exchange) { x.json(http.StatusOK, description) }
