package consolidation

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/memkernel/memkernel/internal/choice"
	"github.com/memkernel/memkernel/internal/textutil"
	"github.com/memkernel/memkernel/ledger"
)

func itoa(n int) string { return strconv.Itoa(n) }

// mostFact is the most characters of an entry of curated memory. The rest of its text is in its
// source.
const mostFact = 280

var (
	// leadingDay is a day at the beginning of an entry, in a few languages.
	leadingDay = textutil.LazyRegexp(`(?i)^[*_~(\[]{0,3}(?:on\s+)?(?:\d{4}[-/.]\d{2}[-/.]\d{2}(?:[T ]\d{1,2}:\d{2}(?::\d{2})?Z?)?|today|yesterday|tonight|this (?:morning|afternoon|evening|week)|just now|heute|gestern|hoy|ayer|aujourd'hui|hier)[*_~)\]]{0,3}\s*[,:：，—–-]*\s+|^(?:今天|昨天|今日|昨日|刚才)[,，:：]?|` +
		`(?i)^(?:on |le |el )?(?:(?:january|february|march|april|may|june|july|august|september|october|november|december|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec)\.? \d{1,2}(?:st|nd|rd|th)?(?:,? \d{4})?|` +
		`\d{1,2}\.? (?:de )?(?:january|february|march|april|may|june|july|august|september|october|november|december|janvier|février|mars|avril|juin|juillet|août|septembre|octobre|novembre|décembre|enero|febrero|marzo|abril|mayo|junio|julio|agosto|septiembre|octubre|noviembre|diciembre)(?:,? (?:de )?\d{4})?|(?:\d{4}年)?\d{1,2}月\d{1,2}[日号])(?:\s*[,:：，—–-]+\s*|\s+|$)`)
	// decidedTo matches the story of a decision before the decision itself. In its languages, the
	// words after the story can be read by themselves.
	decidedTo = textutil.LazyRegexp(`(?i)^(?:(?:we|i|the team|the user)\s+(?:have\s+|has\s+)?(?:now\s+|also\s+|all\s+)?(?:decided|agreed|chose|resolved|chosen)\s+(?:to|that|on)|(?:we|i|the team|the user)\s+(?:have\s+|has\s+)?(?:now\s+)?(?:chose|chosen|picked|settled on|opted for|went with)|(?:i think |so )?(?:we|you) should(?: also| just)?|let'?s(?: just| go with| stick with)?|(?:we|i)(?:'ll| will)(?: now)? (?:go|stick) with|it was decided (?:to|that))\s+|` +
		`^(?:nous avons|on a|j'ai|il a été)\s+(?:décidé|choisi|convenu|opté)(?:\s+(?:de|que|pour)\s+|\s+d'|\s+)|` +
		`^(?:hemos |se ha |se )?(?:decidimos|decidido|decidió|acordamos|acordado|elegimos|elegido|optamos por|optado por)(?:\s+que)?\s+|` +
		`^(?:我们|团队|用户)?(?:已经?|最终|最后|一致)?(?:决定|商定|选定)(?:了)?[：:，,]?\s*`)
	// reminded matches the words by which people ask that something be remembered. The words
	// after them are to be remembered.
	reminded = textutil.LazyRegexp(`(?i)(?:^|[.!?。！？]\s*)(?:please |bitte |por favor,? |s'il te pla[iî]t,? |请)?(?:remember(?: this:| that|:)|keep in mind(?: that|:)|don'?t forget(?: that|:)|make a note(?: that|:)|merk(?:e)? dir:|denk daran:|vergiss nicht:|recuerda(?: que|:)|ten en cuenta que|no olvides que|souviens-toi(?: que|:)|n'oublie pas(?: que|:)|note que|记住|記住|别忘了)[，,：:]?\s*`)
	// detail matches text that a fact does not need, which is times and hashes of commits.
	detail = textutil.LazyRegexp(`(?i)\s*\((?:at\s+)?(?:\d{1,2}:\d{2}(?::\d{2})?(?:\s*(?:UTC|Z|[ap]m))?|commit:?\s+[0-9a-f]{7,40}|[0-9a-f]{7,40})\)|[\s,;—-]+commit:?\s+` + "`?" + `[0-9a-f]{7,40}` + "`?")
)

// present returns an entry's content as a fact of today. It leaves out the day and the time, a
// label that the tag implies, and details that only the log needs. It shortens the text to the
// length of a fact, but keeps the restrictions of the fact. It returns "" if the text with its
// restrictions is too long for any fact.
func present(plain string) string {
	s := strings.TrimPrefix(strings.TrimSpace(plain), quotesUser)
	for before := ""; before != s; {
		before = s
		s = leadingDay.ReplaceAllString(untimed(s), "")
		if name, rest := label(s); tagging(name) && rest != "" {
			s = rest
		}
	}
	if at := reminded.FindStringIndex(s); at != nil && wordCount(s[at[1]:]) >= leastFact {
		s = s[at[1]:]
	}
	if at := decidedTo.FindStringIndex(s); at != nil && wordCount(s[at[1]:]) >= leastFact {
		s = s[at[1]:]
	}
	s = strings.TrimSpace(detail.ReplaceAllString(s, ""))
	if s == "" {
		return strings.TrimSpace(plain)
	}
	if asked, answer, ok := choice.Parts(s); ok && utf8.RuneCountInString(answer) < mostFact/2 {
		question, option := choice.Picked(asked, answer)
		if option != "" && utf8.RuneCountInString(s) > mostFact {
			asked = bounded(strings.TrimSpace(question), mostFact/2-utf8.RuneCountInString(option)) + " " + option
		}
		return capital(bounded(asked, mostFact-utf8.RuneCountInString(answer)) + " → " + answer)
	}
	return capital(bounded(s, mostFact))
}

// worded returns a remark as a fact that can be read by itself, with its subject if the remark
// does not name it. ok is false if the remark names a day that a later reader can't place.
func worded(r *remark) (text string, ok bool) {
	text, ok = onDay(closeMarks(present(r.text)), r.entry.Date)
	if about := r.subject(); about != "" && !r.tells(about) {
		text = about + ": " + bounded(text, mostFact-utf8.RuneCountInString(about)-2)
	}
	return text, ok
}

// tells reports whether a remark names the subject of its heading.
func (r *remark) tells(about string) bool {
	return slices.ContainsFunc(words(about), func(w string) bool {
		return !ledger.Weightless(w) && slices.Contains(r.words, w) && (utf8.RuneCountInString(w) > 3 || w[0] >= utf8.RuneSelf)
	})
}

// onDay writes the day in place of a word for it. ok is false if only the writer can place a day.
func onDay(text, day string) (_ string, ok bool) {
	var at [][2]int
	var ws []string
	eachWord(text, func(w string, from, to int) { ws, at = append(ws, w), append(at, [2]int{from, to}) })
	for _, m := range slices.Backward(mentions(ws)) {
		if by, ok := map[cue]int{cueYesterday: -1, cueToday: 0, cueTomorrow: 1}[m.cue]; ok {
			text = text[:at[m.from][0]] + addDays(day, by) + text[at[m.to-1][1]:]
		}
	}
	return text, cuesOf(text)&cueSomeday == 0
}

// capital gives a capital to a sentence that lost its beginning. Code stays as it is written.
func capital(s string) string {
	r, n := utf8.DecodeRuneInString(s)
	word, rest, _ := strings.Cut(s, " ")
	if !unicode.IsLower(r) || hasHan(s) || strings.ContainsFunc(word[n:], func(c rune) bool { return !unicode.IsLower(c) && c != '\'' && c != '’' && c != ',' }) || commands.MatchString(word) || argument.MatchString(rest) {
		return s // a name in a script without capitals or of the code's, or a capital already
	}
	return string(unicode.ToTitle(r)) + s[n:]
}

// argument matches a flag, a path or an assignment after a command's name, or after the name and
// a verb.
var argument = textutil.LazyRegexp(`^(?:[a-z][a-z-]* )?(?:-{1,2}[\w]|[./~$<>|*&{]|[^\s]*[=_\\{}$*|<>])`)

// commands are programs whose names begin a line of code more often than a sentence. Programs
// with the name of a common word are left out: find, make, cat, test, go.
var commands = textutil.LazyRegexp(`^(?:apt|awk|aws|az|bash|brew|bun|bundle|cargo|cd|chmod|chown|conda|cp|cron|crontab|curl|deno|df|dig|dnf|docker|du|echo|ffmpeg|gcc|gcloud|gem|gh|git|gradle|grep|helm|htop|java|javac|jq|journalctl|kubectl|launchctl|ln|ls|lsof|mkdir|mv|mvn|mysql|nano|nc|ninja|nix|node|npm|npx|nvm|openssl|pacman|perl|php|pip|pipx|pnpm|podman|poetry|ps|psql|pwd|pytest|python|redis|rg|rm|rmdir|rsync|ruby|rustc|scp|sed|sh|sqlite|ssh|ssh-keygen|stat|su|sudo|systemctl|tar|terraform|tmux|uv|vi|vim|wc|wget|xargs|yarn|yum|zip|zsh)$`)

// bounded shortens a text to at most n characters. It returns whole sentences if they have at
// least half of n characters, else whole words and an ellipsis.
func bounded(s string, n int) string {
	head := headOf(s, n, len(s))
	if head == s {
		return s
	}
	for _, end := range [...]string{". ", "。", "; ", "；", "! ", "！"} {
		if at := strings.LastIndex(head, end); at > len(head)/2 {
			return conditioned(s, strings.TrimSpace(head[:at+len(strings.TrimSpace(end))]))
		}
	}
	all := slices.Collect(textutil.Sentences(head))
	if rest, _ := sentence(s[len(head):]); cuesOf(all[len(all)-1]+rest)&cueExcept != 0 {
		return conditioned(s, head+rest)
	}
	if at := strings.LastIndexByte(head, ' '); at > len(head)/2 {
		head = head[:at]
	}
	return closeMarks(strings.TrimRight(head, " ,;:—–-(")) + "…"
}

// mostConditions is the most characters of a fact that can't be shortened without losing its
// restrictions.
const mostConditions = 3 * mostFact

// conditioned returns the beginning of a text with the restricting sentences after it, "" if the
// result is longer than any fact may be.
func conditioned(s, head string) string {
	for {
		next, _ := sentence(s[len(head):])
		if strings.TrimSpace(next) == "" || !qualifies(next) {
			break
		}
		head += next
	}
	if utf8.RuneCountInString(head) > mostConditions {
		return ""
	}
	return strings.TrimSpace(head)
}

// sentence cuts a text after its first sentence.
func sentence(s string) (first, rest string) {
	for n := 0; n < len(s); {
		c, size := utf8.DecodeRuneInString(s[n:])
		n += size
		switch c {
		case '。', '！', '？', '；':
			return s[:n], s[n:]
		case '.', '!', '?', ';':
			if n == len(s) || s[n] == ' ' {
				return s[:n], s[n:]
			}
		}
	}
	return s, ""
}

// closeMarks removes the marks of emphasis or code that a cut left open.
func closeMarks(s string) string {
	for _, m := range [...]string{"`", "**"} {
		if strings.Count(s, m)%2 == 1 {
			at := strings.LastIndex(s, m)
			s = s[:at] + s[at+len(m):]
		}
	}
	return s
}
