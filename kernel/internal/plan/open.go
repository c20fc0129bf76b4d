package plan

import "maps"

// opening is the carry block before a cut is considered, with the material for the carry block of a
// cut.
type opening struct {
	// made is the carry block as it is now.
	made carryBlock
	// now reports that the prompt gets the carry block now.
	now bool
	// texts are all texts that were made for carry blocks so far.
	texts map[string]string
	// standing is the size of pins and workspace files in the carry block, calibrated.
	standing int
}

// open makes the carry block of a new conversation, and makes it again if the host has rewritten
// the past that it describes.
func open(c *call, l *limits) opening {
	p := c.prior.Before
	o := opening{made: carryBlock{material: material{spans: p.Spans, summary: p.Summary, yields: yields{carry: carryShare(c, l)}}, notes: p.Notes}, texts: map[string]string{}}
	if len(c.Prev.Proj.Seen) == 0 {
		left, m := resumed(c, l, o.made.withFiles(c, l, c.leadGone()))
		o, o.now = o.showing(m, append(m.files.shown(), left...)), true
	}
	if c.Renewed() {
		o.made.summary = renewed(c, o.made.summary)
		made := carryIfGone(c, l, o.made.material, o.made.notes)
		o = o.showing(made.material, made.blocks)
		o.made.notes, o.now = made.notes, o.now || c.hostCompacted()
	}
	if c.anew() {
		left, m := resumed(c, l, o.made.material)
		if o.made.material = m; left != nil {
			m = m.withFiles(c, l, c.leadGone())
			o, o.now = o.showing(m, append(m.files.shown(), left...)), true
		}
	}
	o.standing = standing(c, l, &o)
	return o
}

// showing returns the opening with another carry block. It keeps the texts of the earlier block.
func (o opening) showing(m material, blocks []textBlock) opening {
	o.made.material, o.made.blocks, o.texts = m, blocks, merged(o.texts, textsOf(blocks))
	return o
}

// squeeze makes the workspace's files smaller if the newest messages do not fit next to them, at
// most down to their floors. They shrink in this plan if the carry block is made now, otherwise at
// the next cut.
func squeeze(c *call, l *limits, o opening) opening {
	over := l.Fixed + o.standing + mustStandTokens(c, l) + o.made.carry - l.Hard
	if over <= 0 || o.standing == 0 {
		return o
	}
	o.made.squeezed = over
	if o.now {
		m := o.made.withFiles(c, l, c.leadGone())
		o = o.showing(m, m.files.shown())
		o.standing = standing(c, l, &o)
	}
	return o
}

// standing returns the size of pins and workspace files in the carry block. If the carry block is
// about to be made, it returns the size in the new block.
func standing(c *call, l *limits, o *opening) (n int) {
	if o.made.blocks != nil {
		for _, b := range o.made.files.blocks {
			n += l.Scale(b.Tokens)
		}
		return n
	}
	for i := range c.Prev.Proj.Carry {
		if c.Page(c.Prev.Proj.Carry[i].Page).Source() != "" {
			n += l.Scale(c.Prev.Proj.Carry[i].Tokens)
		}
	}
	return n
}

// merged returns a map with the entries of both.
func merged(a, b map[string]string) map[string]string {
	out := make(map[string]string, len(a)+len(b))
	maps.Copy(out, a)
	maps.Copy(out, b)
	return out
}
