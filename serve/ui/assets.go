package ui

import (
	"embed"
	"html/template"
	"io/fs"
	"net/http"
	"strings"
)

//go:embed assets
var assets embed.FS

//go:embed shell.html
var shellText string

//go:embed door.html
var doorText string

var (
	shell = template.Must(template.New("shell").Parse(shellText))
	door  = template.Must(template.New("door").Parse(doorText))
)

// serveAsset serves the page's own files. They have no data of the user.
func serveAsset(w http.ResponseWriter, r *http.Request) {
	name := strings.TrimPrefix(r.URL.Path, "/")
	if st, err := fs.Stat(assets, name); err != nil || st.IsDir() {
		refuse(w, http.StatusNotFound, "there is no such file")
		return
	}
	http.ServeFileFS(w, r, assets, name)
}

// showShell writes the page that all views live in.
func showShell(w http.ResponseWriter, o *Options) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	shell.Execute(w, o) // who asked is gone if it fails
}

// showDoor writes the page that exchanges the token for a cookie.
func showDoor(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	door.Execute(w, nil) // as above
}
