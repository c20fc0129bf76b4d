package analysis

// asking are the words with which people ask that the lists of function words lack. A question drops
// them. They say nothing about the language of a document, where "comment" and "come" are words of
// other languages.
var asking = map[string]string{
	"en": "whose",
	"de": "wer wem wen wessen wann warum wieso weshalb wieviel wieviele woher wohin womit wofür worauf woran worin wodurch",
	"es": "cuáles adónde cuánto cuánta cuántos cuántas",
	"fr": "quoi quand pourquoi comment combien lequel laquelle lesquels lesquelles",
	"pt": "quais onde aonde porquê quanto quanta quantos quantas",
	"it": "cosa quali quando",
	"nl": "welke welk wiens wanneer waar waarom hoeveel waarmee waarvoor waarin waarop",
	"ru": "какое какие какую каким каком какого каких какими кого кому чей чья чьё чьи откуда почему сколько скольких каков какова",
	"sv": "vems",
	"da": "hvilken hvilket hvilke hvem hvornår hvorfor hvordan",
	"no": "hvilket",
	"fi": "milloin miten kuinka montako paljonko",
	"pl": "jakich jakiego jaką kogo komu czyj czyja skąd dokąd",
	"tr": "kimin nereden kaç",
	"hu": "melyik kinek hol hova honnan mennyi hány",
	"ro": "cui câtă",
	"cs": "jaký jaká jaké koho kdy odkud kolik",
	"bg": "какви коя кое кои кого откъде",
	"hi": "क्या किसका कब कहाँ क्यों कैसे कितने कितनी",
	"fa": "کدام چطور چند چقدر",
	"el": "τι πότε γιατί πόσο πόσα πόσοι",
	"ca": "quanta quants",
	"hr": "što koji koja koje tko kada gdje zašto kako koliko čiji",
	"gl": "cal quen onde como canto canta cantos",
}
