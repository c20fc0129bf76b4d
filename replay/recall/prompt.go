package recall

// Prompt is the text of a request. It has the texts of the request's messages in order.
// Consecutive requests mostly extend each other. Callers should keep one Prompt per policy and
// bring it up to date with Append or Set. The zero value is empty.
type Prompt struct {
	c      corpus
	texts  []string
	starts []int
}

// Append adds a message's text.
func (p *Prompt) Append(text string) {
	p.texts = append(p.texts, text)
	p.starts = append(p.starts, p.c.append(text))
}

// Set makes the prompt hold exactly texts. Its cost is proportional to the texts from the first
// different text on.
func (p *Prompt) Set(texts []string) {
	n := 0
	for n < len(texts) && n < len(p.texts) && texts[n] == p.texts[n] {
		n++
	}
	if n < len(p.texts) {
		p.c.truncate(p.starts[n])
		p.texts, p.starts = p.texts[:n], p.starts[:n]
	}
	for _, t := range texts[n:] {
		p.Append(t)
	}
}

// Contains reports whether a line, or a part of one, is in the prompt.
func (p *Prompt) Contains(line string) bool { return p.c.contains(line) }
