package mask

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/memkernel/memkernel/internal/textutil"
)

// toldRules find short passwords, PINs and tokens that people write in a sentence or on a separate
// line, in English, German, Spanish and French: "the staging password is heron". Only the sentence
// shows that such a value is a secret, so the value must follow at once and end the sentence or the
// line.
func toldRules() (rows []ownRule) {
	const (
		value = `["'“„«]?(?:(\pL{4,32})|([\pL\d][\pL\d_!@#$*+-]{2,30}[\pL\d!@#$*+]))["'”“»]?`
		end   = `(?:[.!,;)]*[ \t]*(?:\n|\\|"|$)|[.!,;)]+[ ]|[ ]+(?:and|but|und|aber|y|pero|et|mais)[ ])`
	)
	for _, l := range []struct{ find, nouns, of, is string }{
		{"passw passphrase passcode token·is secret·is pin·is token: secret: token·= secret·= token·for secret·for pin·for pin:", `password|passphrase|passcode|token|secret|pin`,
			`for|on|of|to|at|in|für|von|im|am|auf|para|de|del|pour|du`, `is[ ]now|is[ ]still|is|was`},
		{"passwort kennwort geheimwort zugangscode token·ist pin·ist token·lautet pin·lautet", `passwort|kennwort|geheimwort|zugangscode|token|pin`,
			`für|von|vom|im|am|auf|zu|zum|zur`, `ist[ ]jetzt|ist|war|lautet`},
		{"contrase clave·es clave: clave·de clave·del token·es pin·es", `contraseña|contrasena|clave|token|pin`, `para|de|del|en`, `es[ ]ahora|ahora[ ]es|es|era`},
		{"mot·de·passe mdp jeton·est code·pin", `mot[ ]de[ ]passe|mdp|jeton|code[ ]pin|pin`, `pour|de|du|des|sur`, `est[ ]maintenant|est|était`},
	} {
		rows = append(rows, ownRule{id: "stated-password", words: l.find, reach: 120, judge: told,
			expr: `(?i:(?:^|[^\pL\pM\d_.$/])(?:` + l.nouns + `)(?:[ ]+(?:` + l.of + `)(?:[ ]+[\pL\d][\pL\d./_-]*){1,4})?(?:[ ]+(?:` + l.is + `)[ ]*:?[ ]+|[ ]*[:=][ ]+)` + value + end + `)`})
	}
	return rows
}

// notTold are words that people write after "the password is" and that are no password.
var notTold = textutil.Set(`also always another available back bad better blank case changed clear common correct current different easy
	encrypted enough fine gone good great hard here hidden important incorrect invalid just kept known long lost mandatory missing
	necessary never new no not now obvious off read ready rejected reset ok okay old on only optional plain plaintext private protected public required right
	safe same secret secure set shared short simple still stored strong there this that these those too true false unchanged unique unknown
	unset unsafe used valid visible weak what wrong yours mine ours it
	abgelaufen aktuell alt anders bekannt da dasselbe egal einfach erforderlich falsch fehlt geheim gleich gut hier immer korrekt
	kurz lang leer nein neu nicht noch nur öffentlich optional pflicht richtig schlecht schwach sicher stark ungültig unsicher
	gespeichert geändert gesetzt nötig notwendig unbekannt weg
	ahora aquí así buena corta correcta débil demasiado distinta falsa fuerte fácil igual incorrecta inválida larga mala misma
	necesaria no nueva nula obligatoria opcional otra privada pública requerida secreta segura siempre válida vacía vieja
	bon bonne bien court courte différent faible faux fort ici incorrect inconnu invalide juste long mauvais même nouveau nul
	obligatoire optionnel perdu privé public requis sûr toujours valide vide vrai nécessaire stocké trop`)

// adjective matches endings of adjectives, participles and adverbs, which describe a password.
var adjective = textutil.LazyRegexp(`(?:ed|ing|able|ible|ive|ous|ful|less|ally|ly|ant|ent|ary|ory|` +
	`bar|lich|isch|iert|endet|elegt|` + `ada|ado|ida|ido|able|ible|iva|ivo|oria|` + `ée|é|ie|ue|if|ant|ent|oire)s?$`)

// otherTold finds a word for a secret that is not a password.
var otherTold = textutil.LazyRegexp(`(?i)\b(?:token|secret|jeton)\b`)

// told accepts a value that ends a sentence or a line about a password. A value of letters alone
// must follow a verb after a word for a password, and must not describe the password.
func told(name, v string) bool {
	plain := strings.TrimRight(name, " ")
	bare := strings.TrimRight(strings.TrimRight(plain, quoteMarks), " ")
	last, _ := utf8.DecodeLastRuneInString(bare)
	verb, n := unicode.IsLetter(last), digits(v)
	if n == len(v) {
		return verb && n <= 8 && digitsOnly(name, v)
	}
	low := strings.ToLower(v)
	core := strings.TrimRight(low, "0123456789!.*_-@#$")
	if !verb && len(bare) < len(plain) || placeholder(v) || code(v) || terms.MatchString(v) || sample(v) && !(usedWords[core] && core != low) {
		return false
	}
	if n > 0 { // prompt_tokens_2024 is a name of code
		return strings.ContainsFunc(v, unicode.IsLetter) && (verb || !strings.Contains(v, "_"))
	}
	return verb && strings.TrimFunc(v, unicode.IsLetter) == "" && !notTold[low] && !helpWords[low] && !phraseWords[low] &&
		!adjective.MatchString(low) && !otherTold.MatchString(name[max(0, len(name)-60):])
}
