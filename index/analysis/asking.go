package analysis

// asking holds, for each language, question words that are not in its list of function words. A
// question drops them. They are not counted when the language of a document is determined, because
// words such as "comment" and "come" are also words of other languages.
var asking = map[string]string{
	"en": "whose",
	"de": "wer wem wen wessen wann warum wieso weshalb wieviel wieviele woher wohin womit wofür worauf woran worin wodurch heißt heißen lautet lauten",
	"es": "cuáles adónde cuánto cuánta cuántos cuántas llama llaman",
	"fr": "quoi quand pourquoi comment combien lequel laquelle lesquels lesquelles appelle appellent",
	"pt": "quais onde aonde porquê quanto quanta quantos quantas chama chamam",
	"it": "cosa quali quando chiama chiamano",
	"nl": "welke welk wiens wanneer waar waarom hoeveel waarmee waarvoor waarin waarop heet heten",
	"ru": "какое какие какую каким каком какого каких какими кого кому чей чья чьё чьи откуда почему сколько скольких каков какова называется называются зовут",
	"sv": "vems heter",
	"da": "hvilken hvilket hvilke hvem hvornår hvorfor hvordan hedder",
	"no": "hvilket heter",
	"fi": "milloin miten kuinka montako paljonko",
	"pl": "jakich jakiego jaką kogo komu czyj czyja skąd dokąd nazywa nazywają",
	"tr": "kimin nereden kaç",
	"hu": "melyik kinek hol hova honnan mennyi hány hívják",
	"ro": "cui câtă numește",
	"cs": "jaký jaká jaké koho kdy odkud kolik jmenuje",
	"bg": "какви коя кое кои кого откъде",
	"hi": "क्या किसका कब कहाँ क्यों कैसे कितने कितनी",
	"fa": "کدام چطور چند چقدر",
	"el": "τι πότε γιατί πόσο πόσα πόσοι",
	"ca": "quanta quants",
	"hr": "što koji koja koje tko kada gdje zašto kako koliko čiji",
	"gl": "cal quen onde como canto canta cantos",
}
