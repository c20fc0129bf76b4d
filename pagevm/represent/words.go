package represent

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/memkernel/memkernel/internal/textutil"
)

// imperative reports whether l is a list item that starts with a command: a verb in
// its base form, or a "don't".
func imperative(l line) bool {
	if l.item == "" || l.code {
		return false
	}
	t := strings.TrimLeftFunc(l.item, func(r rune) bool { return !unicode.IsLetter(r) })
	n := strings.IndexFunc(t, func(r rune) bool { return !unicode.IsLetter(r) && r != '\'' && r != '’' })
	if n < 0 {
		n = len(t)
	}
	return commandVerbs[strings.ToLower(t[:n])]
}

// modal reports whether a line commands by a word of obligation, in any place. In
// languages without spaces the word may be inside a run.
func modal(s string) bool {
	if slices.ContainsFunc(modalRuns, func(w string) bool { return strings.Contains(s, w) }) {
		return true
	}
	prev, ne := "", false
	for w := range strings.FieldsFuncSeq(s, func(r rune) bool { return !unicode.IsLetter(r) && r != '\'' && r != '’' }) {
		low := strings.ToLower(w)
		if modalWords[low] || prev == "do" && low == "not" || ne && low == "pas" {
			return true
		}
		prev, ne = low, ne || low == "ne"
	}
	return false
}

// Words of obligation and prohibition.
var (
	modalWords = textutil.Set("must never always don't don’t mustn't shall required forbidden mandatory prohibited important critical " +
		"cannot can't shouldn't should only ensure avoid " +
		"muss müssen musst nie niemals immer verboten zwingend darf dürfen " +
		"debe debes deben nunca siempre prohibido obligatorio jamás " +
		"doit doivent jamais toujours interdit obligatoire " +
		"deve devono mai sempre vietato nunca sempre proibido obrigatório " +
		"должен должны никогда всегда нельзя обязательно запрещено moet nooit altijd")
	modalRuns = []string{"必须", "不要", "禁止", "务必", "永远", "绝不", "不得", "始终", "严禁", "切勿", "不能", "应当", "必須",
		"必ず", "絶対", "決して", "してください", "しないで", "반드시", "금지", "항상", "절대", "하지 마"}
	commandVerbs = textutil.Set("add address adjust aim answer append apply ask assume attach avoid back be begin break bring build bump call capture check choose " +
		"clean clear close collect commit compare confirm consider consult convert copy create cut decide default define delete deliver describe " +
		"detect disable distill do document don't don’t double drop edit enable encrypt end ensure escalate execute exit explain export extract fail fetch " +
		"figure fill find finish fix flag focus follow format get give go group guard handle help hold identify ignore implement import include " +
		"inform insert inspect install invoke isolate judge keep leave let limit link list load lock log look maintain make mark match merge mention " +
		"minimize mock monitor move name never note notify offer open order organize parse pass pause pick plan prefer prepare preserve prevent " +
		"prioritize proceed provide publish pull push put raise reach react read rebuild recheck record reduce refactor refer refuse reject release " +
		"remember remind remove rename replace reply report request require reset resolve respect respond restart restore retry return reuse " +
		"review revert rewrite rotate route run save scan schedule search see select send separate set share show sign skip specify split start " +
		"state stay stick stop store study suggest summarize surface switch sync take tell test think track treat trust try update upgrade use " +
		"validate verify wait warn watch work wrap write " +
		"lies prüfe nutze verwende schreibe führe lea lee usa utiliza verifica comprueba escribe ejecuta lis utilise vérifie écris exécute")
)

// plural writes a count with its noun: 1 line, 2 lines.
func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}

// sizeText writes a number of bytes for people: 512 B, 4.1 KB, 50.0 MB, with
// a factor of 1024.
func sizeText(n int64) string {
	switch {
	case n < 1024:
		return strconv.FormatInt(n, 10) + " B"
	case n < 1<<20:
		return fmt.Sprintf("%.1f KB", float64(n)/1024)
	default:
		return fmt.Sprintf("%.1f MB", float64(n)/(1<<20))
	}
}
