package pagevm

// rules returns the lowest level of each page that a cut keeps because it holds an instruction. It
// takes instructions from the newest back, as far as they fit into in.Instructions tokens.
func (in *SelectInput) rules() map[string]Level {
	keep, room := map[string]Level{}, in.Instructions
	for i := len(in.Host) - 1; i >= 0; i-- {
		if in.Seen[i].Gone || in.Host[i].Held {
			continue
		}
		for j := range in.Host[i].Segments {
			s := &in.Host[i].Segments[j]
			if !s.instructs() {
				continue
			}
			low := max(s.Lowest(in.Resolver), s.Lowest(false))
			if n := s.At[low].Tokens; n <= room {
				room -= n
				keep[s.Page] = low
			}
		}
	}
	return keep
}

// instructs reports whether the segment holds an instruction that is neither ended nor replaced.
func (s *Segment) instructs() bool { return s.Instruction != "" && !s.Ends && !s.Superseded }

// instructionWorth returns the worth of a segment that holds an instruction, false if it holds
// none. An instruction does not age, and all of it is needed. A text that the host showed again is
// worth less than nothing, so that it leaves even if there is room.
func (s *Segment) instructionWorth(names *[Full + 1][]int32) (float64, *[Full + 1][]int32, bool) {
	switch {
	case s.instructs():
		return ruleWorth * float64(s.At[Full].Tokens), names, true
	case s.Instruction != "" && s.Superseded && s.Kind == ItemHost && !s.Mixed:
		return repeatedWorth, new([Full + 1][]int32), true
	}
	return 0, nil, false
}

const (
	// ruleWorth is the worth of an instruction per token, about half of a person's words. On
	// replays of two sessions twice as much costs 2 points of reference recall or 7 % of the money,
	// and less than half of it shows fewer instructions in full.
	ruleWorth = 18e-6
	// repeatedWorth is less than nothing, and less than any other worth by amount.
	repeatedWorth = -1e-12
)
