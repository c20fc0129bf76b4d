package relevance

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"time"
	"unicode"

	"github.com/memkernel/memkernel/markdownstore"
)

// Headings makes a set of any workspace: each heading, with those above it, is a
// question for its own section, of which any line answers. Categories are the levels;
// headings that are in more than one place with the same ones above are "repeated",
// since nothing but luck can distinguish them. Headings without a word in them are
// left out.
func Headings(ctx context.Context, dir string) (Set, error) {
	store, err := markdownstore.Open(dir, &markdownstore.Options{Private: true, Timezone: time.UTC})
	if err != nil {
		return Set{}, err
	}
	defer store.Close()
	set := Set{Name: filepath.Base(dir), Dir: dir}
	asked := map[string]int{}
	for f, err := range store.Walk(ctx) {
		if err != nil {
			return Set{}, err
		}
		if !f.Indexed {
			continue
		}
		text, err := store.ReadFile(f.Path)
		if err != nil {
			return Set{}, err
		}
		for _, q := range sections(f.Path, text.Text) {
			asked[q.Text]++
			set.Questions = append(set.Questions, q)
		}
	}
	if len(set.Questions) == 0 {
		return Set{}, fmt.Errorf("ask for the headings of %s: there are none", dir)
	}
	for i := range set.Questions {
		if q := &set.Questions[i]; asked[q.Text] > 1 {
			q.Category = "repeated"
		}
	}
	return set, nil
}

// sections returns the questions of one file.
func sections(path, text string) []Question {
	units := markdownstore.Units(markdownstore.Parse(path, text))
	var out []Question
	var trail []markdownstore.Unit
	for i, u := range units {
		if u.Kind != markdownstore.UnitHeading {
			continue
		}
		for len(trail) > 0 && trail[len(trail)-1].Level >= u.Level {
			trail = trail[:len(trail)-1]
		}
		trail = append(trail, u)
		if !worded(u.Label) {
			continue
		}
		labels := make([]string, len(trail))
		for j, t := range trail {
			labels[j] = t.Label
		}
		out = append(out, Question{
			ID: fmt.Sprintf("%s:%d", path, u.StartLine), Category: fmt.Sprintf("level %d", u.Level),
			Text: strings.Join(labels, " "), Evidence: []Evidence{{path, u.StartLine, endOf(units[i:])}},
		})
	}
	return out
}

// endOf returns the last line of the section whose heading comes first.
func endOf(units []markdownstore.Unit) int {
	end := units[0].EndLine
	for _, u := range units[1:] {
		if u.Kind == markdownstore.UnitHeading && u.Level <= units[0].Level {
			break
		}
		end = u.EndLine
	}
	return end
}

// worded reports whether there is anything in a text to search for.
func worded(text string) bool {
	return strings.IndexFunc(text, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }) >= 0
}
