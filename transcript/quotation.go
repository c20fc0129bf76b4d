package transcript

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/memkernel/memkernel/internal/textutil"
)

var (
	// wrote matches the line above an answered mail: "On … wrote:".
	wrote = textutil.LazyRegexp(`^(?:On|Am|El|Le|Il|Em|Op|Den|W dniu|В|在|于|\d).{4,160}(?:wrote|writes|schrieb.{0,80}|escribió|a écrit|ha scritto|escreveu|schreef|skrev|napisał.{0,80}|пишет|писал.?|написал(?:а|\(а\))?|写道|寫道)\s*[:：]$`)
	// forwarded matches the line above a forwarded mail.
	forwarded = textutil.LazyRegexp(`(?i)^-{2,}\s?[^-]{0,40}(?:message|nachricht|mensaje|mensagem|messaggio|bericht|сообщение|письмо|邮件|郵件|消息|メッセージ)[^-]{0,20}-{2,}$`)
	// sender and header are lines of a mail's head; a mail has two of them.
	sender = textutil.LazyRegexp(`^\*{0,2}(?:From|Von|De|Da|Van|От|发件人|寄件者|差出人)\s?[:：]\*{0,2}\s*\S`)
	header = textutil.LazyRegexp(`^\*{0,2}(?:Sent|Date|Subject|Gesendet|Datum|Betreff|Enviado|Fecha|Asunto|Envoyé|Objet|Inviato|Oggetto|Отправлено|Дата|Тема|发送时间|日期|主题|主旨|件名|From|Von|发件人|寄件者|差出人)\s?[:：]`)
)

// mailBegins reports whether a mail of somebody else begins with a line.
func mailBegins(line, rest string) bool {
	switch {
	case strings.HasSuffix(line, ":") || strings.HasSuffix(line, "："):
		return wrote.MatchString(line)
	case strings.HasPrefix(line, "--"):
		return forwarded.MatchString(line)
	case !strings.ContainsAny(line, ":：") || line[0] != '*' && line[0] < 'A' || !sender.MatchString(line) && !header.MatchString(line):
		return false
	}
	head := strings.SplitN(rest, "\n", 5)
	return slices.ContainsFunc(head[:min(len(head), 4)], header.MatchString)
}

// closing maps the mark that begins a quotation to the marks that end it.
var closing = map[rune]string{'"': `"`, '\'': `'`, '`': "`", '“': "”", '„': "“”", '«': "»", '»': "«", '‘': "’", '‚': "‘’", '「': "」", '『': "』", '《': "》"}

// maxQuotation bounds a quotation within a text, in bytes. If the closing mark is farther away, the
// mark is no quotation mark.
const maxQuotation = 2000

// maxPhrase bounds, in bytes, a quotation in marks that may also be apostrophes or code marks.
const maxPhrase = 300

// Unquoted returns s with its quotations covered byte for byte, so that they are not taken for
// statements of the text. Line ends stay. Quoted single words stay, too, since people quote
// single words to stress them.
func Unquoted(s string) string {
	var out []byte
	before := rune(' ')
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		if end, covers := quotation(s[i:], r, n, before); end > 0 {
			if out == nil && covers {
				out = []byte(s)
			}
			for j := i; j < i+end && covers; j++ {
				if out[j] != '\n' {
					out[j] = 'q'
				}
			}
			i += end
			before = '"'
			continue
		}
		before, i = r, i+n
	}
	if out == nil {
		return s
	}
	return string(out)
}

// quotation returns the length of the quotation that s begins with, 0 for none, and whether it is
// more than a word.
func quotation(s string, mark rune, n int, before rune) (length int, covers bool) {
	ends, ok := closing[mark]
	straight := mark == '"' || mark == '\'' || mark == '`'
	if !ok || straight && isLetterOrDigit(before) {
		return 0, false
	}
	longest := maxQuotation
	if mark == '\'' || mark == '`' {
		longest = maxPhrase
	}
	rest := s[n:min(len(s), longest)]
	if i := strings.Index(rest, "\n\n"); i >= 0 && straight {
		rest = rest[:i]
	}
	for j, r := range rest {
		if !strings.ContainsRune(ends, r) {
			continue
		}
		end := j + utf8.RuneLen(r)
		if next, _ := utf8.DecodeRuneInString(rest[end:]); straight && (j == 0 || isLetterOrDigit(next)) {
			continue
		}
		inner := strings.TrimSpace(rest[:j])
		return n + end, strings.ContainsAny(inner, " \n") || len(inner) > 6 && utf8.RuneCountInString(inner)*2 < len(inner)
	}
	if next, _ := utf8.DecodeRuneInString(rest); strings.HasSuffix(rest, "…") && !unicode.IsSpace(next) {
		return n + len(rest), true // an excerpt that ends within it
	}
	return 0, false
}

// isLetterOrDigit reports whether r is a letter or digit, next to which a straight mark
// is no quotation mark.
func isLetterOrDigit(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }
