package ui

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"html/template"
	"io/fs"
	"net/http"
	"path"
	"strings"
	"sync"
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

// assetHandler serves the page's own files. They have no data of the user.
func assetHandler() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := strings.TrimPrefix(r.URL.Path, "/")
		data, err := fs.ReadFile(assets, name)
		if err != nil {
			refuse(w, http.StatusNotFound, "there is no such file")
			return
		}
		kind := map[string]string{".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8", ".svg": "image/svg+xml"}[path.Ext(name)]
		if kind == "" {
			kind = "text/plain; charset=utf-8"
		}
		h := w.Header()
		h.Set("Content-Type", kind)
		h.Set("Cache-Control", "no-cache")
		h.Set("ETag", tag(name, data))
		if r.Header.Get("If-None-Match") == tag(name, data) {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		w.Write(data) // who asked is gone if it fails
	})
}

var tags sync.Map

// tag names the content of an asset.
func tag(name string, data []byte) string {
	if t, ok := tags.Load(name); ok {
		return t.(string)
	}
	sum := sha256.Sum256(data)
	t := `"` + hex.EncodeToString(sum[:8]) + `"`
	tags.Store(name, t)
	return t
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
