package mask

import (
	"strings"
	"unicode"
)

// stated describes how a language states a password. words is an expression for the nouns. is is
// an expression for the words between a noun and its value, except a colon. Case does not matter.
// find lists the words to look for first, as they are written in text.
type stated struct{ find, words, is string }

// statedIn has the languages of index/analysis, and some more.
var statedIn = []stated{
	// English; and the word as other languages use it.
	{"password passphrase passcode pw: pwd· ·pw· \npw· passwd·", `passwords?|passphrase|passcode|passwd|pw|pwd`, `is|was|are|to|è|é|e'|era|es|ist|lautet|est|to\s+jest|jest|je|är|er|on|este|adalah|là|ficou|agora\s+é|changed\s+to|set\s+to|it's`},
	// German
	{"passwort kennwort kennwört zugangscode", `passw[oö]rt\w*|kennw[oö]rt\w*|zugangscode`, `ist|war|lautet|lautete|heißt|sei|auf|in`},
	// Spanish, Galician, Catalan
	{"contrase contrasinal contrasenya clave", `contraseñas?|contrasena|contrasinal|contrasenya|clave`, `es|era|é|és|será|a|por`},
	// French
	{"mot·de·passe mots·de·passe phrase·de·passe mdp", `mots?\s+de\s+passe|phrase\s+de\s+passe|mdp`, `est|était|sera|c'est|:`},
	// Portuguese
	{"senha palavra-passe palavra·passe", `senha|palavra[ -]passe`, `é|era|será|ficou|para`},
	// Italian
	{"parola·d", `parola\s+d['’]ordine`, `è|era|e'`},
	// Dutch
	{"wachtwoord", `wachtwoord(?:en)?`, `is|was|luidt|in|naar`},
	// Swedish, Danish, Norwegian, Finnish
	{"lösenord adgangskode kodeord passord salasana", `lösenord(?:et)?|adgangskoden?|kodeordet|kodeord|passord(?:et)?|salasana(?:ni|si)?`, `är|er|var|on|oli`},
	// Polish, Czech, Slovak
	{"asło asła haslo heslo", `hasł[oa]|haslo|heslo`, `to|jest|je|było|bylo`},
	// Hungarian, Basque, Irish
	{"jelsz pasahitza pasfhocal", `jelsz(?:ó|avam|ava)|pasahitza|(?:an\s+)?pasfhocal`, `az?|ez|da|is`},
	// Romanian, Turkish, Croatian, Bulgarian in Latin letters
	{"parola parolă ifre lozinka zaporka", `parol[aă](?:mız|nız|m)?|[şŞ]ifre(?:niz|miz|m|si)?|lozinka|zaporka`, `este|e|je|glasi`},
	// Russian, Ukrainian, Bulgarian
	{"арол АРОЛ", `парол[ьяюаие]\S*`, `это|был|есть|е|is|на`},
	// Greek, Armenian
	{"δικό δικο θηματικ աղտնաբառ", `[κΚ]ωδικ[όο]ς|[σΣ]υνθηματικ[όο]|[գԳ]աղտնաբառ\S*`, `είναι|ήταν|է`},
	// Arabic, Persian, Kurdish
	{"كلمة·المرور كلمة·السر كلمة·مرور رمز·عبور گذرواژه وشەی·نهێنی", `كلمة\s+(?:ال)?(?:مرور|سر)\S*|رمز\s+عبور\S*|گذرواژه\S*|وشەی\s+نهێنی\S*`, `هي|هو|است|کە|یە`},
	// Hindi
	{"पासवर्ड", `पासवर्ड`, `है|था`},
	// Vietnamese, Indonesian
	{"khẩu kata·sandi sandi", `mật\s+khẩu|kata\s+sandi(?:nya)?`, `là|adalah|ialah`},
}

// packed are languages that don't separate words.
var packed = []stated{
	{"密码 密碼 令: 令： 令是 令为", `密码|密碼|口令`, `[是为為]|就是|设为|設為|改为|改為`},
	{"パスワード 暗証番号", `パスワード|暗証番号`, `[はがを]`},
	{"비밀번호 비번 암호 패스워드", `비밀번호|비번|암호|패스워드`, `[는은가이를]`},
	{"รหัสผ่าน", `รหัสผ่าน`, `คือ|เป็น`},
}

// statedRules makes the rows of the languages: a value after a verb or a colon, a value right
// after the noun, and the PIN.
func statedRules() (rows []ownRule) {
	const (
		stop   = `\s"'` + "`" + `“”„«»‘’「」『』《》、。，；！？（）()<>|`
		open   = `(?:["'` + "`" + `“”„‘「『《]|«\s?)`
		latin  = `[^` + stop + `\[]*[^` + stop + `.,;:!?\[]!?`
		narrow = `[!#$%&*+\-./0-9:=?@A-Z\\^_a-z~]*[!#$%&*+0-9=@A-Z^_a-z~-]`
		quoted = open + `([^"'` + "`" + `“”„«»‘’「」『』《》\n\[]+)`
		filler = `(?:,?[ ]+[\pL\pM\d_./-]+(?:['’][\pL\pM\d_./-]+)*){0,7}?,?`
		host   = `[a-z\d][\w-]*(?:\.[a-z\d][\w-]*)+`
		since  = `(?:[ ]+(?:now|just|ab[ ]jetzt|ab[ ]sofort|always|still|jetzt|nun|immer|neu|maintenant|ora|adesso|ahora|agora|nu|теперь|сейчас))?`
	)
	row := func(find, expr string, j judge) {
		rows = append(rows, ownRule{id: "stated-password", words: find, expr: expr, judge: j, reach: 240})
	}
	for i, l := range statedIn {
		row(l.find, `(?i:(?:^|[^\pL\pM\d_.$])(?:`+l.words+`)`+filler+`(?:[ ]+(?:`+l.is+`)`+since+`(?:[ ]*[:：])?[ ]+|[ ]*[:：=][ ]*|[ ]+[—–-][ ]+))(?:`+quoted+`|(`+latin+`))`, spoken)
		row(l.find, `(?i:(?:^|[^\pL\pM\d_.$])(?:`+l.words+`))(?:[ ]+(?:`+quoted+`|(`+latin+`))(?:[\s.,;!?"'`+"`"+`”’»\\]|$)|(?:[ ][^\n?]{1,30})?\?[ ]+(?i:(?:it's|is|now|es|è|é|ist|c'est|ahora|jetzt|adesso|ora|agora|maintenant)[ ]+){0,3}(`+latin+`)(?:[\s.,;!?"'\\]|$)|[ ]*\((?:`+quoted+`|(`+latin+`))\))`, strict)
		if i > 0 {
			continue // nearPasswords finds it on the next line
		}
		row(l.find, `(?i:(?:^|[^\pL\pM\d_.$])(?:`+l.words+`)\b[^\n]{0,60}\n[ >]*(?:\[[\d:]+\][ ]*)?(?:\w{1,12}:|<\w+>)?[ ]*)(`+latin+`)[ ]*(?:\n|$)`, strict)
	}
	for _, l := range packed {
		row(l.find, `(?:`+l.words+`)[^\n]{0,24}[?？]?\n[ >]*(`+narrow+`)[ ]*(?:\n|$)`, spoken)
		row(l.find, `(?:`+l.words+`)[^`+stop+`!-~]{0,12}?(?:`+l.is+`)?[ ]*[:：]?[ ]*(?:`+quoted+`|(`+narrow+`))`, spoken)
	}
	for _, as := range [...]stated{
		{"as·the·password as·password as·a·password as·your·password as·my·password as·the·passphrase", `use|using|try|with|enter|type|put|set`, `as[ ]+(?:(?:the|a|your|my|our)[ ]+)?(?:\w+[ ]+)?(?:password|passphrase)`},
		{"como·contrase como·la·contrase como·clave como·senha como·a·senha", `usa[rd]?|use|utiliza|pon|coloca|ponha`, `como[ ]+(?:(?:la|a)[ ]+)?(?:contraseña|clave|senha)`},
		{"come·password", `usa|usate|metti|inserisci`, `come[ ]+password`},
		{"als·wachtwoord als·het·wachtwoord als·passwort als·kennwort als·das·passwort", `hat|habe|gebruik|neem|nimm|nutze|verwende|benutze|nehmt`, `als[ ]+(?:(?:het|das)[ ]+)?(?:wachtwoord|passwort|kennwort)`},
		{"comme·mot", `utilise[rz]?|mets|mettez|prends|prenez`, `comme[ ]+mot[ ]+de[ ]+passe`},
		{"как·пароль качестве·пароля", `используй(?:те)?|возьми(?:те)?`, `(?:как[ ]+пароль|в[ ]+качестве[ ]+пароля)`},
	} {
		rows = append(rows, ownRule{id: "stated-password", words: as.find, lead: 120, reach: 60, judge: spoken,
			expr: `(?i:(?:^|[^\pL\pM])(?:` + as.words + `)(?:[ ]+(?:bitte|please))?)[ ]+(?:` + quoted + `[ ]?[` + quoteMarks + `]|(` + latin + `))(?i:[ ]+(?:` + as.is + `))`})
	}
	row("log·in log-in login· login: login* logindaten sign·in creds credential zugangsdaten logindaten anmeld einlogg connecte- connectez entra·con accede·con accedi·con entre·com identifiants credenciales credenciais credenziali inloggegevens логин账号",
		`(?i:(?:^|[^\w-])(?:log[ -]?in(?:s|daten)?|sign[ -]in|creds?|credentials?|zugangsdaten|anmelde\w*|einlogg\w*|connecte(?:-toi|z-vous)|entra[ ]con|accede[ ]con|accedi[ ]con|entre[ ]com|identifiants|credenciales|credenciais|credenziali|inloggegevens|логин|账号))(?:[^\w\n/|-][^\n/|]{0,50}?)?[ "'`+"`"+`*:]["'`+"`"+`]?[\w.@+-]+["'`+"`"+`]?(?:[ ]*[/,|][ ]*|:|[ ]+(?:and|und|et|[yei]|en|и)[ ]+)(?:`+quoted+`|(`+latin+`))`, strict)
	row("this·one", `(?i:(?:passw\w+|passphrase|credential|key|token)[^\n?]*\?\s+(?:\w+:[ ]+)?(?:this[ ]one|it's|try))[ ]+(`+latin+`)`, func(name, v string) bool {
		return strict(name, v) || handed(name, v)
	})
	rows[len(rows)-1].lead = 120
	row("changed·it login·am login·to login·na login·auf login?", `(?i:changed[ ]it[ ]to|login\b[^\n?]*\?[ ]+(?:it's|is|ist)(?:[ ](?:now|jetzt))?)[ ]+(`+latin+`)`, strict)
	row("から", `(?:から|を)[ ]*(`+narrow+`)[ ]*に(?:変更|しました)`, strict)
	row("парол Парол", `[пП]арол\S*[^\n]{0,20}[ ]со?[ ]+(?:\[masked:[\w-]+\][ ]+на[ ]+)?(`+latin+`)(?:[\s.,;]|$)`, spoken)
	row("log·in sign·in anmelden connecter sesión 登录 登陆 войти accedere ·usa·", `(?i:(?:^|[^\pL])(?:usa|use|using|utilise|nutze|nimm|verwende|with|con|avec|mit|войти:)|用)[ ]+[\w.@-]+[ ]*/[ ]*(`+latin+`)`, strict)
	rows[len(rows)-1].lead = 80
	row("окен люч· token·p token·f token·d token·v jeton· zugang· key·for clave·de accès·", `(?i:токен|ключ|token|jeton|zugang|key|clave|chiave|accès|доступ)[^\n]{1,20}?[ ]`+host+`[ ]?(?::|is|ist|es|est|è|é)[ ]+(`+latin+`)`, handed)
	row("のトーク のキー 的密钥 的令牌 의·토큰 의·키", host+`[ ]?(?:の(?:トークン|キー)は|的(?:密钥|令牌)是|의[ ](?:토큰|키)[은는])[ ]?[:：]?[ ]?(`+narrow+`)`, handed)
	rows[len(rows)-1].lead = 80
	row("pass·is pass·was", `(?i:(?:^|[^\w.$-])pass[ ]+(?:is|was))[ ]+(?:`+quoted+`|(`+latin+`))(?:[\s.,;!?"'\\]|$)`, strict)
	row("用", `用[ ]*(`+narrow+`)[ ]*(?:作为|做|当)?密码`, spoken)
	row("でログイン", `[\w.@-]+[ ]*/[ ]*(`+narrow+`)[ ]*でログイン`, spoken)
	rows[len(rows)-1].lead = 80
	row("密码 密碼 暗証番号 비밀번호 비번", `(?:密码|密碼|暗証番号|비밀번호|비번)(?:是|为|：|:|は|은|는)?[ ]*(\d{4,8})(?:[^\d\w]|$)`, digitsOnly)
	row("wifi wi-fi wlan network netz wpa2 wpa·", `(?:(?i:wi-?fi|wlan|network|netz|wpa2?)[^\n]{0,60}?(?i:key(?:[ ]+is)?|schlüssel(?:[ ]+ist)?|clé|clave|chiave|password)|(?i:key|schlüssel|clé|clave|chiave)[^\n:]{0,12}[ ](?i:wi-?fi|wlan|wpa2?)[^\n:]{0,40})[ ]*[: ][ ]*(?:(\d{16,63})|(`+latin+`))(?:[\s.,;!?"'\\]|$)`,
		func(name, v string) bool {
			return len(v) >= 16 && (digits(v) == len(v) || generated(name, v)) || strict(name, v)
		})
	row("passphrase password kennwort passwort contrase senha арол mot·de·passe wachtwoord 密码 パスワード", `(?i:passphrase|password|passwort|kennwort|contraseña|senha|пароль|mot de passe|wachtwoord|密码|パスワード)(?:[^\n:]{0,40}?(?::|[ ](?:is|ist|es|è|é|est))|[ ]{2,})[ ]+((?:[a-z]{3,9}[ ]){3,7}[a-z]{3,9}|(?:[a-z]{3,10}[ ]){2,5}\d{2,4}(?:[ ][a-z]{3,10}){0,3})[ ,]*(?:[\n(—–.,/;|-]|$)`,
		func(_, v string) bool {
			return !sentence(v) && diced(strings.Join(strings.FieldsFunc(v, func(r rune) bool { return !unicode.IsLower(r) }), "-")+"-xyz")
		})
	row("unlocks· unlock· entsperr schlüssel· le·code·est",
		`(?i:unlocks?[ ]+(?:it[ ]+)?with|entsperr\w*[ ]+(?:\S+[ ]+)?mit|schlüssel`+filler+`[ ]+(?:ist|lautet)|le[ ]+code[ ]+est)[ ]+(?:`+quoted+`|(`+latin+`))(?:[\s.,;!?"'\\]|$)`, strict)
	row("alarm door· door: the·safe office·safe safe·c porte· tür puerta porta· portão gate· coffre caja·fuerte kasten digicode lockbox key·box keybox kluis tresor schlüssel cancello bram drzwi домофон двер сейф 门禁 保险 玄関 金庫 현관 금고 garage padlock interphone citofon portero porter",
		`(?i:(?:digi)?code|pin|kode|kod|código|codice|clave|combin\w*|combo|teclea|marca|abre[ ]con|код|密码|番号|번호)[^\n\d]{0,40}?((?:\b(?:\d{4,8}[A-ZА-Я#*]?\d{0,4}|\d{2,4}[A-ZА-Я]\d{2,6}))|\b\d\d(?:-\d\d){2,4})(?:[^\d\pL/-]|$)`, lockCode)
	rows[len(rows)-1].lead, rows[len(rows)-1].reach = 80, 100
	rows[len(rows)-1].also = "code Code kod Kod kód codice Codice pin PIN clave Clave ombin ombo teclea Teclea marca abre код Код 密码 番号 번호"
	row("pens·it unlocks·it pens·the unlocks·the", `(?:^|[^\d:.#/-])(\d{4,8}[A-Z#*]?)[ ]+(?:opens|unlocks)[ ]+(?:it|the[ ]+(?:door|gate|lock|safe|box|chain|shed|garage))\b`, lockCode)
	row("pinkod pincode pin· pin: puk· puk: pin-code ПИН pin码 暗証番号 passcode geheimzahl",
		`(?:(?:^|[^\pL\d])(?:PIN|PUK|ПИН)(?:[- ]?(?:[cC]ode|код|码))?`+filler+`|(?:^|[^\pL\d])pin(?:[ ](?:del|della|de|du|der|of|for|van|do|da)[ ][\pL ]{2,30})?|(?i:passcode|geheimzahl|pin[- ]?[ck]od[e\w]*)|暗証番号)(?:[ ]*(?:is|was|ist|lautet|es|est|é|è|er|är|là|:|：|是|为|は)+[ ]*|[ ]+(?:for|für)[ ][\pL ]{1,30}(?:is|ist|:)[ ]*|[ ])["'“]?(\d{4,8})(?:[^\d\w]|$|で)`, digitsOnly)
	for i := range rows {
		rows[i].expr = strings.ReplaceAll(rows[i].expr, "<", `\x3c`) // no shorthand is meant
	}
	return rows
}
