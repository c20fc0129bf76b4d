package main

import "path"

// channel is a place from which people install memkernel.
type channel struct {
	name string
	// published means that the place has a version of memkernel. Pages must not name other places. A
	// test compares the pages with this list, and makes their install parts from it.
	published bool
	// install is the command that installs it.
	install string
	// promise is a regular expression for text that sends readers to the place.
	promise string
	// files are patterns of the release's files that are published there, by the workflow's job of the
	// same name. A channel without files installs from another channel's files or from the repository.
	files []string
}

// channels are all channels of a release. Nothing is published yet.
var channels = []channel{
	{name: "homebrew", install: "brew install memkernel/tap/memkernel", promise: `brew install \S*memkernel`, files: []string{"homebrew/*.rb"}},
	{name: "npm", install: "npm install -g memkernel", promise: `npm (i|install) (-g )?memkernel|npx (--yes |-y )?memkernel`, files: []string{"npm/*.tgz"}},
	{name: "pypi", install: "pipx install memkernel", promise: `(pip|pipx|uv|uvx|tool) (install|run)? ?memkernel`, files: []string{"wheels/*.whl"}},
	{name: "go", install: "go install " + modulePath + "/cmd/memkernel@latest", promise: `go (get|install) ` + modulePath + `\S*@`},
	{name: "container", install: "docker run --rm -it -v \"$PWD:/work\" ghcr.io/memkernel/memkernel", promise: `ghcr\.io/memkernel`, files: []string{"container/*.tar"}},
	{name: "gemini", install: "gemini extensions install https://" + modulePath, promise: `gemini extensions install https`},
	{name: "github", install: "gh release download --repo memkernel/memkernel", promise: modulePath + `/releases|gh release download`,
		files: []string{"*.tar.gz", "*.zip", "*.mcpb", "*.cdx.json", "checksums.txt", "notes.md"}},
}

// channelOf returns the name of the channel that takes a file of the release.
func channelOf(file string) string {
	for _, c := range channels {
		for _, pattern := range c.files {
			if ok, err := path.Match(pattern, file); ok && err == nil {
				return c.name
			}
		}
	}
	return "no channel"
}
