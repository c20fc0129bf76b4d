package pagevm

// Fit is a page without a source position that must find room in the carry block.
type Fit struct {
	// Tokens is the cost of each level, 0 for a level that the page does not have.
	Tokens [Full + 1]int
	// Floor is the lowest level that the page may take.
	Floor Level
}

// FitLevels chooses a level for each page so that together they cost at most room, as far as
// their floors let them. Callers must give the pages with the most important one first. The last
// page is lowered as far as its floor before the page in front of it loses anything. FitLevels
// also returns by how many tokens the result exceeds room, 0 if it fits.
func FitLevels(pages []Fit, room int) (levels []Level, over int) {
	levels = make([]Level, len(pages))
	for i := range pages {
		levels[i] = Full
		over += pages[i].Tokens[Full]
	}
	over -= room
	for i := len(pages) - 1; i >= 0 && over > 0; i-- {
		for l := Full - 1; l >= max(pages[i].Floor, Pointer) && over > 0; l-- {
			if saved := pages[i].Tokens[levels[i]] - pages[i].Tokens[l]; pages[i].Tokens[l] > 0 && saved > 0 {
				levels[i], over = l, over-saved
			}
		}
	}
	return levels, max(over, 0)
}
