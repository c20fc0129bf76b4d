package analysis

// language holds the names of times in a language that puts spaces between words. A word with a
// capital letter needs a capital in the text. A word after a ' must have none. In patterns, a |
// separates the words of which one must match, a word before a ? may be missing, and these letters are
// classes:
//
//	N  a number       U  a unit       T  what last and next are put to: a unit that is no
//	D  a day's number Y  a year          day, a day of the week, a month, a feast
//	O  an ordinal     M  a month      H  a feast
type language struct {
	name string
	// days holds names of days by their distance from today: yesterday is -1. The name of today, 0,
	// counts only in a question.
	days map[int]string
	// one and many hold the names of the units day, week, month, year and weekend. one has the
	// singular, and many has the forms that may follow a number.
	one, many              [5]string
	weekdays, months       string
	numbers, ordinals      string
	feasts                 map[feast]string
	this, last, next       string
	ago, ahead             string
	dayOf, monthOf, weekOf string
	// A name of a day has another meaning after a word of not. told lists such words for "last" and
	// "next", vague lists them for "ago", and nor lists words that have this effect after all of
	// these names.
	not, told, nor, vague string
	// sure holds common words of the language. A name of a day that ends in ~ is also a word of
	// another language, so it counts only in a line with one of these words.
	sure string
}

// dateLanguages has one row per language. Patterns and names are separated by semicolons,
// the forms of one word by a stroke.
var dateLanguages = []language{
	{
		name:     "en",
		days:     map[int]string{-2: "the? day before yesterday", -1: "yesterday; last night; yesterday morning|afternoon|evening|night", 0: "today", 1: "tomorrow; tomorrow morning|afternoon|evening|night", 2: "the? day after tomorrow"},
		one:      [5]string{"day", "week", "month", "year", "weekend"},
		many:     [5]string{"days", "weeks", "months", "years", "weekends"},
		weekdays: "Monday|Mon; Tuesday|Tues|Tue; Wednesday|Wed; Thursday|Thurs|Thu; Friday|Fri; Saturday|Sat; Sunday|Sun",
		months:   "January|Jan; February|Feb; March|Mar; April|Apr; May; June|Jun; July|Jul; August|Aug; September|Sept|Sep; October|Oct; November|Nov; December|Dec",
		numbers:  "a|an|one; two; three; four; five; six; seven; eight; nine; ten; eleven; twelve",
		ordinals: "first|1st; second|2nd; third|3rd; fourth|4th",
		feasts: map[feast]string{{12, 25}: "Christmas; Christmas Day", {12, 24}: "Christmas Eve", {12, 31}: "New Year s Eve", {1, 1}: "New Year s Day",
			{10, 31}: "Halloween", {2, 14}: "Valentine s Day", {0, 0}: "Easter; Easter Sunday", {0, -2}: "Good Friday", {0, 1}: "Easter Monday", {7, 4}: "Fourth of July; 4th of July"},
		this: "this T",
		last: "last T; this past T", next: "next T", ago: "N U ago", ahead: "N U from now",
		dayOf: "M D Y?; M the D Y?; D M Y?; D of M Y?", monthOf: "M Y; M of Y", weekOf: "O week of|in M Y?",
		not: "the every", told: "the every a our my his their", nor: "of", vague: "over almost nearly than least under within or half",
	},
	{
		name: "de",
		days: map[int]string{-2: "vorgestern; vorgestern abend", -1: "gestern; gestern morgen|abend|nacht|mittag|nachmittag|früh; letzte Nacht", 0: "heute; heute morgen",
			1: "'morgen; 'morgen früh|abend|nachmittag|mittag", 2: "übermorgen"},
		one:      [5]string{"tag", "woche", "monat", "jahr", "wochenende"},
		many:     [5]string{"tage|tagen", "wochen", "monate|monaten", "jahre|jahren", "wochenenden"},
		weekdays: "montag; dienstag; mittwoch; donnerstag; freitag; samstag|sonnabend; sonntag",
		months:   "januar|jänner; februar; märz; april; mai; juni; juli; august; september; oktober; november; dezember",
		numbers:  "ein|eine|einem|einer|einen; zwei; drei; vier; fünf; sechs; sieben; acht; neun; zehn; elf; zwölf",
		ordinals: "erste|ersten; zweite|zweiten; dritte|dritten; vierte|vierten",
		feasts: map[feast]string{{12, 25}: "weihnachten", {12, 24}: "heiligabend; Heiliger|Heiligen Abend", {12, 31}: "silvester", {1, 1}: "neujahr",
			{0, 0}: "ostern; ostersonntag", {0, -2}: "karfreitag", {0, 1}: "ostermontag", {0, 49}: "pfingsten; pfingstsonntag", {12, 6}: "nikolaus|nikolaustag"},
		this: "diese|dieser|diesen|diesem|dieses T",
		last: "letzte|letzten|letzter|letztes|letztem|vorige|vorigen|voriger|voriges|vergangene|vergangenen|vergangener|vergangenes T",
		next: "nächste|nächsten|nächster|nächstes|nächstem|kommende|kommenden|kommender|kommendes T", ago: "vor N U",
		dayOf: "D M Y?", monthOf: "M Y", weekOf: "O Woche im|des M Y?",
		not: "am jeden guten", told: "die das eine ein jeden seine ihre unsere", nor: "des der vom von", vague: "über knapp",
	},
	{
		name:     "fr",
		days:     map[int]string{-2: "avant hier", -1: "hier~; hier matin|soir; hier après midi; la? nuit dernière", 0: "aujourd hui", 1: "demain; demain matin|soir", 2: "après demain"},
		one:      [5]string{"jour", "semaine", "mois", "an|année", "week end|weekend"},
		many:     [5]string{"jours", "semaines", "mois", "ans|années", "week ends"},
		weekdays: "lundi; mardi; mercredi; jeudi; vendredi; samedi; dimanche",
		months:   "janvier; février|fevrier; mars; avril; mai; juin; juillet; août|aout; septembre; octobre; novembre; décembre|decembre",
		numbers:  "un|une; deux; trois; quatre; cinq; six; sept; huit; neuf; dix; onze; douze",
		ordinals: "première; deuxième|seconde; troisième; quatrième",
		feasts: map[feast]string{{12, 25}: "noël|Noel", {12, 24}: "veille de Noël; réveillon de Noël", {12, 31}: "Saint Sylvestre; réveillon du nouvel an", {1, 1}: "jour de l an; nouvel an",
			{0, 0}: "Pâques; dimanche de Pâques", {0, 1}: "lundi de Pâques", {0, 49}: "Pentecôte", {8, 15}: "Assomption", {11, 1}: "Toussaint", {7, 14}: "Quatorze Juillet"},
		this: "ce|cette T",
		last: "T dernier|dernière|derniere|passé|passée", next: "T prochain|prochaine", ago: "il y a N U", ahead: "dans N U",
		dayOf: "D M Y?", monthOf: "M Y", weekOf: "O semaine de|du M Y?; O semaine d M Y?",
		not: "d", vague: "y",
		sure: "le les une est et je j nous pour dans avec au ce qui que été ai il elle c",
	},
	{
		name:     "es",
		days:     map[int]string{-2: "anteayer; antes de ayer; antier", -1: "ayer; anoche; ayer por la mañana|tarde|noche", 0: "hoy", 1: "mañana; mañana por la mañana|tarde|noche", 2: "pasado mañana"},
		one:      [5]string{"día|dia", "semana", "mes", "año", "fin de semana"},
		many:     [5]string{"días|dias", "semanas", "meses", "años", "fines de semana"},
		weekdays: "lunes; martes; miércoles|miercoles; jueves; viernes; sábado|sabado; domingo",
		months:   "enero; febrero; marzo; abril; mayo; junio; julio; agosto; septiembre|setiembre; octubre; noviembre; diciembre",
		numbers:  "un|una|uno; dos; tres; cuatro; cinco; seis; siete; ocho; nueve; diez; once; doce",
		ordinals: "primera; segunda; tercera; cuarta",
		feasts:   map[feast]string{{12, 25}: "navidad; día de navidad", {12, 24}: "nochebuena", {12, 31}: "nochevieja", {1, 1}: "año nuevo", {1, 6}: "día de reyes", {0, 0}: "domingo de pascua|resurrección", {0, -2}: "viernes santo"},
		this:     "esta|este T",
		last:     "T pasado|pasada; el? pasado lunes|martes|miércoles|jueves|viernes|sábado|domingo", next: "T que viene; próximo|próxima T", ago: "hace N U; N U atrás", ahead: "dentro de N U",
		dayOf: "D de M; D de M de|del Y", monthOf: "M de|del Y", weekOf: "O semana de M Y?",
		not: "la esta cada una de buena las tu mi su", vague: "casi",
	},
	{
		name:     "it",
		days:     map[int]string{-2: "l? altro ieri; avantieri", -1: "ieri; ieri mattina|sera|notte|pomeriggio", 0: "oggi", 1: "domani; domani mattina|sera|pomeriggio", 2: "dopodomani"},
		one:      [5]string{"giorno", "settimana", "mese", "anno", "fine settimana|weekend"},
		many:     [5]string{"giorni", "settimane", "mesi", "anni", ""},
		weekdays: "lunedì|lunedi; martedì|martedi; mercoledì|mercoledi; giovedì|giovedi; venerdì|venerdi; sabato; domenica",
		months:   "gennaio; febbraio; marzo; aprile; maggio; giugno; luglio; agosto; settembre; ottobre; novembre; dicembre",
		numbers:  "un|una|uno; due; tre; quattro; cinque; sei; sette; otto; nove; dieci; undici; dodici",
		ordinals: "prima; seconda; terza; quarta",
		feasts:   map[feast]string{{12, 25}: "Natale", {12, 24}: "vigilia di Natale", {12, 26}: "Santo Stefano", {12, 31}: "San Silvestro", {1, 1}: "Capodanno", {1, 6}: "Epifania", {0, 0}: "Pasqua", {0, 1}: "Pasquetta", {8, 15}: "Ferragosto"},
		this:     "questa|questo|quest T",
		last:     "T scorso|scorsa|passato|passata; scorso|scorsa T", next: "T prossimo|prossima; prossimo|prossima T", ago: "N U fa", ahead: "tra|fra N U",
		dayOf: "D M Y?", monthOf: "M Y", weekOf: "O settimana di M Y?",
		vague: "quasi di",
	},
	{
		name:     "pt",
		days:     map[int]string{-2: "anteontem", -1: "ontem; ontem à noite; ontem de manhã", 0: "hoje", 1: "amanhã; amanhã à noite|tarde; amanhã de manhã", 2: "depois de amanhã"},
		one:      [5]string{"dia", "semana", "mês", "ano", "fim de semana|final de semana"},
		many:     [5]string{"dias", "semanas", "meses", "anos", ""},
		weekdays: "segunda feira|segunda; terça feira; quarta feira; quinta feira; sexta feira; sábado; domingo",
		months:   "janeiro; fevereiro; março; abril; maio; junho; julho; agosto; setembro; outubro; novembro; dezembro",
		numbers:  "um|uma; dois|duas; três; quatro; cinco; seis; sete; oito; nove; dez; onze; doze",
		ordinals: "primeira; segunda; terceira; quarta",
		feasts:   map[feast]string{{12, 25}: "Natal", {12, 24}: "véspera de Natal", {12, 31}: "réveillon; véspera de Ano Novo", {1, 1}: "Ano Novo", {0, 0}: "Páscoa; domingo de Páscoa", {0, -2}: "Sexta feira Santa"},
		this:     "esta|este|nesta|neste T",
		last:     "T passado|passada", next: "T que vem; próximo|próxima T", ago: "há N U; N U atrás", ahead: "daqui a N U",
		dayOf: "D de M; D de M de Y", monthOf: "M de Y", weekOf: "O semana de M Y?",
		vague: "quase",
	},
	{
		name:     "nl",
		days:     map[int]string{-2: "eergisteren", -1: "gisteren; gisteravond; gisterochtend; gistermiddag; afgelopen nacht", 0: "vandaag; deze morgen", 1: "'morgen; morgenavond; morgenochtend; morgenmiddag", 2: "overmorgen"},
		one:      [5]string{"dag", "week", "maand", "jaar", "weekend"},
		many:     [5]string{"dagen", "weken", "maanden", "jaren|jaar", ""},
		weekdays: "maandag; dinsdag; woensdag; donderdag; vrijdag; zaterdag; zondag",
		months:   "januari; februari; maart; april; mei; juni; juli; augustus; september; oktober; november; december",
		numbers:  "een|één; twee; drie; vier; vijf; zes; zeven; acht; negen; tien; elf; twaalf",
		ordinals: "eerste; tweede; derde; vierde",
		feasts:   map[feast]string{{12, 25}: "eerste kerstdag; kerst|kerstmis", {12, 5}: "sinterklaas; sinterklaasavond", {12, 31}: "oudejaarsavond", {1, 1}: "nieuwjaarsdag", {0, 0}: "pasen", {0, 49}: "pinksteren", {4, 27}: "koningsdag"},
		this:     "deze|dit T",
		last:     "vorige|vorig|afgelopen T", next: "volgende|volgend|komende|komend T", ago: "N U geleden", ahead: "over N U",
		dayOf: "D M Y?", monthOf: "M Y", weekOf: "O week van|in M Y?",
		not: "de goede elke", told: "de het elke een", nor: "van", vague: "ruim bijna dan",
	},
	{
		name:     "ru",
		days:     map[int]string{-2: "позавчера", -1: "вчера; вчера утром|вечером|днём|ночью", 0: "сегодня", 1: "завтра; завтра утром|вечером|днём", 2: "послезавтра"},
		one:      [5]string{"день", "неделя|неделю|неделе|недели", "месяц|месяце", "год|году", "выходные|выходных"},
		many:     [5]string{"дня|дней", "недели|недель", "месяца|месяцев", "года|лет", ""},
		weekdays: "понедельник; вторник; среда|среду; четверг; пятница|пятницу; суббота|субботу; воскресенье",
		months:   "января; февраля; марта; апреля; мая; июня; июля; августа; сентября; октября; ноября; декабря",
		numbers:  "один|одну|одна; два|две; три; четыре; пять; шесть; семь; восемь; девять; десять; одиннадцать; двенадцать",
		ordinals: "первая|первую|первой; вторая|вторую|второй; третья|третью|третьей; четвёртая|четвёртую|четвёртой",
		feasts:   map[feast]string{{1, 1}: "Новый год", {1, 7}: "Рождество", {3, 8}: "8 марта", {5, 9}: "День Победы", {12, 31}: "новогодняя ночь"},
		this:     "этой|этом|эту|этот T",
		last:     "прошлой|прошлый|прошлом|прошлую|прошлое|прошлые|прошлых T", next: "следующей|следующий|следующем|следующую|следующее|будущей|будущем T", ago: "N U назад; один? U1 назад",
		dayOf: "D M Y?; D M Y года", weekOf: "O неделя|неделю|неделе M Y?", vague: "более больше почти чем",
	},
	{
		name:     "pl",
		days:     map[int]string{-2: "przedwczoraj", -1: "wczoraj; wczoraj rano|wieczorem", 0: "dzisiaj; dziś", 1: "jutro; jutro rano|wieczorem", 2: "pojutrze"},
		one:      [5]string{"dzień", "tydzień|tygodniu", "miesiąc|miesiącu", "rok|roku", "weekend"},
		many:     [5]string{"dni", "tygodnie|tygodni", "miesiące|miesięcy", "lata|lat", ""},
		weekdays: "poniedziałek; wtorek; środa|środę; czwartek; piątek; sobota|sobotę; niedziela|niedzielę",
		months:   "stycznia; lutego; marca; kwietnia; maja; czerwca; lipca; sierpnia; września; października; listopada; grudnia",
		numbers:  "jeden|jedną; dwa|dwie; trzy; cztery; pięć; sześć; siedem; osiem; dziewięć; dziesięć",
		this:     "tym|ten|tego T",
		last:     "zeszły|zeszłym|zeszłą|ubiegły|ubiegłym|ubiegłą T", next: "przyszły|przyszłym|przyszłą T", ago: "N U temu; U1 temu", ahead: "za N U",
		dayOf: "D M Y?", vague: "ponad prawie niż",
	},
	{
		name:     "sv",
		days:     map[int]string{-2: "förrgår; i förrgår", -1: "igår; i går", 0: "idag; i dag", 1: "imorgon; i morgon", 2: "övermorgon; i övermorgon"},
		one:      [5]string{"dag", "vecka|veckan", "månad|månaden", "år|året", "helg|helgen"},
		many:     [5]string{"dagar", "veckor", "månader", "år", ""},
		weekdays: "måndag; tisdag; onsdag; torsdag; fredag; lördag; söndag",
		months:   "januari; februari; mars; april; maj; juni; juli; augusti; september; oktober; november; december",
		numbers:  "en|ett; två; tre; fyra; fem; sex; sju; åtta; nio; tio; elva; tolv",
		last:     "förra T", next: "nästa T", ago: "för N U sedan|sen", ahead: "om N U", dayOf: "D M Y?", monthOf: "M Y",
	},
}
