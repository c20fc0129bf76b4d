package kernel_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/budget"
	"github.com/memkernel/memkernel/internal/suite"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/pagevm"
	"github.com/memkernel/memkernel/pagevm/represent"
	"github.com/memkernel/memkernel/transcript"
)

// shape is what of some parts keeps its place: all that is no text, with a mark for
// each run of text if texts is set.
func shape(parts []memkernel.Part, texts bool) (out []string) {
	for i := range parts {
		s := string(parts[i].Kind)
		if parts[i].Kind == memkernel.PartText && !texts {
			continue
		}
		if parts[i].Kind != memkernel.PartText {
			s = string(transcript.AppendPart(nil, transcript.FormatAnthropic, memkernel.RoleUser, &parts[i])) + parts[i].Raw
		} else if i > 0 && parts[i-1].Kind == memkernel.PartText {
			continue
		}
		out = append(out, s)
	}
	return out
}

// TestTextBesideMediaShrinks: what is no text keeps its shape and place, in a result
// and in a user's message, and the text beside it is shown as any text; in every format,
// at the first plan and after cuts, by this process and the next.
func TestTextBesideMediaShrinks(t *testing.T) {
	c := newConversation(310)
	big, small := words(c.code(90_000)), words("the page, as asked")
	paper := memkernel.Part{Kind: memkernel.PartDocument, Text: "THE PAPER SAYS SO", Media: &memkernel.Media{Type: "text/plain"}}
	odd := memkernel.Part{Kind: memkernel.PartOther, Raw: `{"type":"search_result","source":"x","title":"y","content":[{"type":"text","text":"z"}]}`}
	contents := map[string][]memkernel.Part{
		"text, image":         {big, picture(1)},
		"image, text":         {picture(1), big},
		"between images":      {small, picture(1), big, picture(2), big, picture(3)},
		"texts in a row":      {small, big, small, picture(1), small, big},
		"document":            {paper, big},
		"a block of its kind": {odd, big, picture(1)},
	}
	formats := []transcript.Format{transcript.FormatAnthropic, transcript.FormatOpenAI, transcript.FormatResponses}
	for i, name := range suite.Some(slices.Sorted(maps.Keys(contents)), 3) {
		content := contents[name]
		for j, in := range []string{"result", "message"} {
			for n, resolver := range []string{"", "memory_get"} {
				if (i+j+n)%2 != 0 && !suite.Long() {
					continue
				}
				t.Run(fmt.Sprintf("%s/%s/%s", name, in, resolver), func(t *testing.T) {
					dir := t.TempDir()
					k := openKernel(t, dir)
					defer func() { k.Close() }()
					c := newConversation(311)
					parts := content
					if in == "message" {
						c.add(memkernel.RoleUser, parts...)
					} else {
						c.user()
						c.call(1)
						c.add(memkernel.RoleUser, result(c.msgs[len(c.msgs)-1].Parts[2].Call.ID, parts...))
					}
					at := c.msgs[len(c.msgs)-1].Key
					req := request(c)
					req.ContextWindow, req.Resolver = 28_000, resolver
					shown := func(p *api.ContextPlan) []memkernel.Part {
						for _, m := range p.Messages {
							switch {
							case m.Key == at && in == "result":
								return m.Parts[0].Result.Content
							case m.Key == at:
								return m.Parts
							}
						}
						return nil
					}
					p := planned(t, k, req)
					if len(p.Reduced) != 1 || !strings.HasPrefix(get(t, k, p.Reduced[0].Handle).ID, p.Reduced[0].Page) {
						t.Fatalf("reduced is %+v", p.Reduced)
					}
					texts := p.Reduced[0].Level == pagevm.Compressed // less shows the first of them only
					if diff := cmp.Diff(shape(parts, texts), shape(shown(p), texts)); diff != "" || texts == (in == "result" && resolver != "") {
						t.Fatalf("the shape changed, %+v:\n%s", p.Reduced, diff)
					}
					for _, f := range formats {
						rendered, notes, err := transcript.Render(f, &transcript.Request{Model: model, Messages: p.Messages, Markers: p.Markers})
						v := transcript.Validate(f, &transcript.Request{Model: model, Messages: p.Messages})
						if err != nil || len(v) > 0 || strings.Contains(string(rendered), represent.PartBreak) || strings.Contains(string(rendered), `\u001e`) {
							t.Errorf("%s: %v, %v, %v", f, err, notes, v)
						}
						if n := strings.Count(string(rendered), "cG5nI"); n != strings.Count(name, "image")+strings.Count(name, "row")+strings.Count(name, "kind")+2*strings.Count(name, "between") {
							t.Errorf("%s: %d images are sent", f, n)
						}
					}
					if v := transcript.Validate(transcript.FormatGemini, &transcript.Request{Model: "gemini-2.5-pro", Messages: p.Messages}); len(v) > 0 {
						t.Errorf("gemini: %v", v)
					}
					boundary, err := k.Compact(context.Background(), api.Boundary{SessionKey: "s", Messages: c.msgs, Now: c.now, Compact: &api.CompactWish{Force: true}})
					if err != nil || boundary.Compaction.Reason == api.CompactTooLarge {
						t.Errorf("compact: %v, %+v", err, boundary)
					}
					for range suite.Pick(3, 6) {
						c.say()
						c.user()
						c.loop(2, 6_000)
						k = reopen(t, k, dir)
						req.Messages, req.Now = slices.Clone(c.msgs), c.now.Add(time.Second)
						q := planned(t, k, req)
						if s := shown(q); s != nil && !cmp.Equal(shape(parts, false), shape(s, false)) {
							t.Fatalf("the shape changed:\n%s", cmp.Diff(shape(parts, false), shape(s, false)))
						}
					}
					clean(t, k)
				})
			}
		}
	}
}

// TestPicturesAloneAreNamed: what keeps its shape and is larger than the window is an
// error that says so.
func TestPicturesAloneAreNamed(t *testing.T) {
	k := memoryKernel(t)
	defer k.Close()
	c := newConversation(312)
	c.user()
	c.call(1)
	var parts []memkernel.Part
	for i := range 90 {
		parts = append(parts, picture(i))
	}
	c.add(memkernel.RoleUser, result(c.msgs[1].Parts[2].Call.ID, append(parts, words(c.code(40_000)))...))
	_, err := k.PlanContext(context.Background(), request(c))
	var small *budget.TooSmallError
	if !errors.As(err, &small) || !strings.Contains(err.Error(), "90 media") {
		t.Errorf("got %v, want an error that names the pictures", err)
	}
}

const question, wish = "Why does worker 7 lose its lease? The log is below.", "Answer in Dutch, and look at the clock skew first."

// paste is a long text between a person's own words.
func paste(c *conversation, kind string, n int) string {
	return question + "\n\n" + bulk[kind](c.rng, n) + "\n\n" + wish
}

// TestPasteLargerThanTheWindow: the person's own words stand, then as much of what they
// pasted as there is room for; the prompt says that it is not all, and the whole can be
// fetched. The next plans extend it, in this process and the next, until a cut.
func TestPasteLargerThanTheWindow(t *testing.T) {
	for i, kind := range suite.Some([]string{"log", "code", "one line", "chinese", "breaks"}, 2) {
		for j, at := range []string{"first", "later", "prompt", "parts"} {
			if j%2 != i && !suite.Long() {
				continue
			}
			t.Run(kind+"/"+at, func(t *testing.T) {
				dir := t.TempDir()
				k := openKernel(t, dir)
				defer func() { k.Close() }()
				c := newConversation(320)
				if at == "later" {
					c = session(320, 3, 2, 1500)
					c.say()
				}
				text := paste(c, kind, suite.Pick(150_000, 300_000))
				req := api.PlanRequest{SessionKey: "s", Model: model, ContextWindow: suite.Pick(36_000, 64_000), Now: c.now}
				switch at {
				case "prompt":
					req.Messages, req.Prompt, req.Turn = c.msgs, text, "t1"
				case "parts":
					c.add(memkernel.RoleUser, memkernel.Part{Kind: memkernel.PartText, Text: bulk[kind](c.rng, suite.Pick(150_000, 300_000))}, words(question+" "+wish))
				default:
					c.add(memkernel.RoleUser, words(text))
				}
				if at != "prompt" {
					req.Messages = c.msgs
				}
				p := mustPlan(t, k, req)
				got := ""
				for _, m := range p.Messages {
					if s := transcript.Text(m); strings.Contains(s, "shortened") {
						got = s
					}
				}
				if !strings.Contains(got, question) || !strings.Contains(got, wish) {
					t.Errorf("the person's own words are not all there: %.200s … %s", got, got[max(0, len(got)-400):])
				}
				page := ""
				for _, r := range p.Reduced {
					if r.Level != pagevm.Gone && strings.Contains(got, r.Page) {
						page = r.Page
					}
				}
				if page == "" {
					t.Fatalf("the prompt does not say what it leaves out, %+v", p.Reduced)
				}
				if whole := get(t, k, page+"@L1-L9999999"); at != "parts" && kind != "breaks" && strings.TrimSpace(whole.Text) != strings.TrimSpace(text) {
					t.Errorf("%d bytes can be fetched of %d", len(whole.Text), len(text))
				}
				if shown := reducedTokens(p)[pagevm.Compressed]; p.Layout.Made == nil && 100*shown < 75*(shown+free(p)) {
					t.Errorf("%d of %d tokens are shown", shown, shown+free(p))
				}
				if at == "prompt" {
					c.add(memkernel.RoleUser, words(text))
					c.msgs[len(c.msgs)-1].Turn = "t1"
					req.Prompt, req.Turn = "", ""
				}
				last := stream(p)
				for range suite.Pick(2, 4) {
					c.loop(1, 900)
					req.Messages, req.Now = slices.Clone(c.msgs), c.now
					k = reopen(t, k, dir)
					q := planned(t, k, req)
					if q.Layout.Made == nil && !strings.HasPrefix(stream(q), last) {
						t.Error("what stands changed off a cut")
					}
					if s := stream(q); !strings.Contains(s, question) || !strings.Contains(s, wish) {
						t.Error("the person's own words left while the work goes on")
					}
					last = stream(q)
				}
				clean(t, k)
			})
		}
	}
}

// TestPasteAfterPaste: a person who says more before anything was answered is heard,
// however long what they said before is.
func TestPasteAfterPaste(t *testing.T) {
	k := memoryKernel(t)
	defer k.Close()
	c := newConversation(330)
	for i := range 4 {
		c.add(memkernel.RoleUser, words(paste(c, "log", suite.Pick(120_000, 200_000))))
		c.add(memkernel.RoleUser, words(fmt.Sprintf("Never mind, do step %d.", i)))
		req := request(c)
		req.Resolver = ""
		p := planned(t, k, req)
		s := stream(p)
		for j := range i + 1 {
			if !strings.Contains(s, fmt.Sprintf("Never mind, do step %d.\"", j)) || strings.Count(s, wish) != i+1 {
				t.Errorf("paste %d: order %d does not stand, or one of %d wishes", i, j, strings.Count(s, wish))
			}
		}
	}
}
