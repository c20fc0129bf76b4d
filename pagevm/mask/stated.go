package mask

import "strings"

// stated describes how a language says what a password is. Words are those for passwords,
// is those that come between one and its value, besides a colon. Both are
// expressions; case does not matter. Find are the words to look for first, as they
// are in text.
type stated struct{ find, words, is string }

// statedIn has the languages of index/analysis, and some more.
var statedIn = []stated{
	// English; and the word as other languages use it.
	{"password passphrase passcode", `passwords?|passphrase|passcode`, `is|was|are|to|è|é|e'|era|es|ist|lautet|est|to\s+jest|jest|je|är|er|on|este|adalah|là|is\s+now`},
	// German
	{"passwort kennwort kennwört zugangscode", `passw[oö]rt\w*|kennw[oö]rt\w*|zugangscode`, `ist|war|lautet|lautete|heißt|sei|auf`},
	// Spanish, Galician, Catalan
	{"contrase contrasinal contrasenya clave", `contraseñas?|contrasena|contrasinal|contrasenya|clave`, `es|era|é|és|será|a`},
	// French
	{"mot·de·passe mots·de·passe phrase·de·passe", `mots?\s+de\s+passe|phrase\s+de\s+passe`, `est|était|sera|c'est|:`},
	// Portuguese
	{"senha palavra-passe palavra·passe", `senha|palavra[ -]passe`, `é|era|será`},
	// Italian
	{"parola·d", `parola\s+d['’]ordine`, `è|era|e'`},
	// Dutch
	{"wachtwoord", `wachtwoord(?:en)?`, `is|was|luidt`},
	// Swedish, Danish, Norwegian, Finnish
	{"lösenord adgangskode kodeord passord salasana", `lösenord(?:et)?|adgangskoden?|kodeordet|kodeord|passord(?:et)?|salasana(?:ni|si)?`, `är|er|var|on|oli`},
	// Polish, Czech, Slovak
	{"asło asła haslo heslo", `hasł[oa]|haslo|heslo`, `to|jest|je|było|bylo`},
	// Hungarian, Basque, Irish
	{"jelsz pasahitza pasfhocal", `jelsz(?:ó|avam|ava)|pasahitza|(?:an\s+)?pasfhocal`, `az?|ez|da|is`},
	// Romanian, Turkish, Croatian, Bulgarian in Latin letters
	{"parola parolă ifre lozinka zaporka", `parol[aă](?:mız|nız|m)?|[şŞ]ifre(?:niz|miz|m|si)?|lozinka|zaporka`, `este|e|je|glasi`},
	// Russian, Ukrainian, Bulgarian
	{"арол АРОЛ", `парол[ьяюаие]\S*`, `это|был|есть|е|is`},
	// Greek, Armenian
	{"δικό δικο θηματικ աղտնաբառ", `[κΚ]ωδικ[όο]ς|[σΣ]υνθηματικ[όο]|[գԳ]աղտնաբառ\S*`, `είναι|ήταν|է`},
	// Arabic, Persian, Kurdish
	{"كلمة·المرور كلمة·السر كلمة·مرور رمز·عبور گذرواژه وشەی·نهێنی", `كلمة\s+(?:ال)?(?:مرور|سر)\S*|رمز\s+عبور\S*|گذرواژه\S*|وشەی\s+نهێنی\S*`, `هي|هو|است|کە|یە`},
	// Hindi
	{"पासवर्ड", `पासवर्ड`, `है|था`},
	// Vietnamese, Indonesian
	{"khẩu kata·sandi sandi", `mật\s+khẩu|kata\s+sandi(?:nya)?`, `là|adalah|ialah`},
}

// packed are languages that part no words.
var packed = []stated{
	{"密码 密碼 令: 令： 令是 令为", `密码|密碼|口令`, `[是为為]|就是|设为|設為|改为|改為`},
	{"パスワード 暗証番号", `パスワード|暗証番号`, `[はがを]`},
	{"비밀번호 암호 패스워드", `비밀번호|암호|패스워드`, `[는은가이를]`},
	{"รหัสผ่าน", `รหัสผ่าน`, `คือ|เป็น`},
}

// statedRules makes rows of the languages: a value behind a verb or a colon, and one
// that just follows; and the PIN in any of them.
func statedRules() (rows []ownRule) {
	const (
		stop   = `\s"'` + "`" + `“”„«»‘’「」『』《》、。，；！？（）()<>|`
		open   = `(?:["'` + "`" + `“”„‘「『《]|«\s?)`
		latin  = `[^` + stop + `\[]*[^` + stop + `.,;:!?\[]!?`
		narrow = `[!#$%&*+\-./0-9:=?@A-Z\\^_a-z~]*[!#$%&*+0-9=@A-Z^_a-z~-]`
		quoted = open + `([^"'` + "`" + `“”„«»‘’「」『』《》\n\[]+)`
		filler = `(?:[ ]+[\pL\pM\d_'’./-]+){0,7}?`
	)
	row := func(find, expr string, j judge) {
		rows = append(rows, ownRule{id: "stated-password", words: find, expr: expr, judge: j, reach: 240})
	}
	for _, l := range statedIn {
		row(l.find, `(?i:(?:^|[^\pL\pM\d_.$])(?:`+l.words+`)`+filler+`(?:[ ]+(?:`+l.is+`)(?:[ ]*[:：])?[ ]+|[ ]*[:：=][ ]*|[ ]+[—–-][ ]+))(?:`+quoted+`|(`+latin+`))`, spoken)
		row(l.find, `(?i:(?:^|[^\pL\pM\d_.$])(?:`+l.words+`))[ ]+(?:`+quoted+`|(`+latin+`))(?:[\s.,;!?"'\\]|$)`, strict)
	}
	for _, l := range packed {
		row(l.find, `(?:`+l.words+`)[^`+stop+`!-~]{0,12}?(?:`+l.is+`)?[ ]*[:：]?[ ]*(?:`+quoted+`|(`+narrow+`))`, spoken)
	}
	row("pin· pin: pin-code ПИН pin码 暗証番号 passcode geheimzahl",
		`(?:(?:^|[^\pL\d])(?:PIN|ПИН)(?:[- ]?(?:[cC]ode|код|码))?|(?i:passcode|geheimzahl|pin[- ]code)|暗証番号)(?:[ ]*(?:is|was|ist|lautet|es|est|é|è|:|：|是|为|は)+[ ]*|[ ]+(?:for|für)[ ][\pL ]{1,30}(?:is|ist|:)[ ]*)["'“]?(\d{4,8})(?:[^\d\w]|$|で)`, digitsOnly)
	for i := range rows {
		rows[i].expr = strings.ReplaceAll(rows[i].expr, "<", `\x3c`) // no shorthand is meant
	}
	return rows
}
