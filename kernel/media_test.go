package kernel_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/memkernel/memkernel/embed"
	"github.com/memkernel/memkernel/embed/embedtest"
	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/markdownstore"
	"github.com/memkernel/memkernel/retrieval"
)

var mediaWorkspace = map[string]string{
	"assets/shed.png":      "\x89PNG one",
	"assets/shed.png.md":   "The shed's roof after the storm, token ghp_0123456789abcdefghijABCDEFGHIJ012345.\n",
	"assets/sub/call.MP3":  "ID3 two",
	"assets/film.mp4":      "not taken",
	"assets/notes.md":      "no memory file",
	"assets/.trash/no.png": "hidden",
	"elsewhere/out.png":    "not configured",
	"assets/empty.gif":     "",
}

func mediaReindex(t *testing.T, k *kernel.Kernel) (*api.Reindexed, []string) {
	t.Helper()
	r := reindex(t, k)
	if r.EmbedErr != nil {
		t.Fatal(r.EmbedErr)
	}
	var skipped []string
	for _, s := range r.Skipped {
		skipped = append(skipped, s.Path+": "+s.Reason)
	}
	slices.Sort(skipped)
	return r, skipped
}

// Images and sounds of the configured folders are chunks with the vectors of their
// content, found by words of what is said of them, and in private sessions only.
func TestMedia(t *testing.T) {
	dir := t.TempDir()
	fillWorkspace(t, dir, mediaWorkspace)
	s := embedtest.NewServer("gemini", "")
	defer s.Close()
	gemini, err := embed.FromConfig(embed.Config{Provider: "gemini", BaseURL: s.BaseURL(), Model: "gemini-embedding-2"})
	if err != nil {
		t.Fatal(err)
	}
	k := withEmbedder(t, dir, kernel.MemoryOptions{Embedder: gemini, Store: markdownstore.Options{Include: []string{}}, MediaPaths: []string{"assets", "none", "../x"}})
	r, skipped := mediaReindex(t, k)
	if r.Stats.Vectors != r.Stats.Chunks || r.Estimate.Tokens < 2*embed.MediaTokens {
		t.Errorf("%+v, %+v", r.Stats, r.Estimate)
	}
	if want := []string{"../x: media_paths", "assets/empty.gif: it is not embedded: it is empty", "none: there is no such folder"}; !slices.EqualFunc(skipped, want, strings.HasPrefix) {
		t.Errorf("skipped %q", skipped)
	}
	var types []string
	for _, a := range s.Asked() {
		if types = append(types, a.Media...); strings.Contains(fmt.Sprint(a.Texts), "ghp_") {
			t.Errorf("a secret was sent: %q", a.Texts)
		}
	}
	if slices.Sort(types); !slices.Equal(types, []string{"audio/mpeg", "image/png"}) {
		t.Errorf("sent %q", types)
	}
	find := func(private bool) (paths []string) {
		res, err := k.Search(context.Background(), api.SearchRequest{Query: "roof of the shed after the storm", Private: private})
		if err != nil {
			t.Fatal(err)
		}
		for _, h := range res.Hits {
			paths = append(paths, h.Path)
		}
		return paths
	}
	if got := find(true); len(got) == 0 || got[0] != "assets/shed.png" {
		t.Errorf("found %q", got)
	}
	if got := find(false); slices.Contains(got, "assets/shed.png") {
		t.Errorf("a shared session found %q", got)
	}
	asked := len(s.Asked())
	if _, err := k.Reindex(context.Background(), &api.ReindexOptions{Full: true}); err != nil {
		t.Fatal(err)
	}
	put(t, dir, "assets/shed.png.md", "The shed's roof, mended.\n")
	if mediaReindex(t, k); len(s.Asked()) != asked+2 { // one looks at the length, one is the image
		t.Errorf("%d requests after a caption changed", len(s.Asked())-asked)
	}
	texts := withEmbedder(t, dir, kernel.MemoryOptions{Embedder: embedtest.Provider{}, Store: markdownstore.Options{Include: []string{}}, MediaPaths: []string{"assets"}})
	r, skipped = mediaReindex(t, texts)
	if len(skipped) != 3 || !strings.Contains(skipped[1], "image/png is not embedded: that takes provider gemini") || r.Removed != 2 || r.Stats.Vectors != r.Stats.Chunks {
		t.Errorf("with a provider of texts: %q, %+v", skipped, r)
	}
}

// A file that the server refuses is found by its name, and told.
func TestMediaRefused(t *testing.T) {
	dir := t.TempDir()
	fillWorkspace(t, dir, mediaWorkspace)
	s := embedtest.NewServer("gemini", "")
	defer s.Close()
	gemini, err := embed.FromConfig(embed.Config{Provider: "gemini", BaseURL: s.BaseURL(), Model: "gemini-embedding-2"})
	if err != nil {
		t.Fatal(err)
	}
	k := withEmbedder(t, dir, kernel.MemoryOptions{Embedder: gemini, Store: markdownstore.Options{Include: []string{}}, MediaPaths: []string{"assets"}})
	s.Refuse(func(w http.ResponseWriter, _ *http.Request) {
		all := s.Asked()
		last := all[len(all)-1]
		if len(last.Media) > 0 {
			w.WriteHeader(http.StatusBadRequest)
			io.WriteString(w, `{"error":{"message":"Unable to process input image"}}`)
			return
		}
		io.WriteString(w, `{"embeddings":[`+strings.TrimSuffix(strings.Repeat(`{"values":[1,2,3]},`, len(last.Texts)), ",")+`]}`)
	})
	r, skipped := mediaReindex(t, k)
	if r.Embedded.Refused != 2 || len(skipped) != 3 || !strings.Contains(skipped[1], "found by its name only") || !strings.Contains(skipped[1], "Unable to process") {
		t.Errorf("%+v, %q", r.Embedded, skipped)
	}
	res, err := k.Search(context.Background(), api.SearchRequest{Query: "shed roof storm", Private: true})
	// Its vectors are all the same, and are left out.
	if err != nil || res.Mode != retrieval.Keyword || !slices.ContainsFunc(res.Hits, func(h retrieval.Hit) bool { return h.Path == "assets/shed.png" }) {
		t.Errorf("%v %+v", err, res)
	}
}
