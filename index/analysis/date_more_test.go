package analysis

import "testing"

// more are lines that the rules were not written on.
var more = []line{
	{"2023-07-17", "I saw her last Sunday and five days ago.", "last Sunday = 2023-07-16; five days ago = 2023-07-12"},
	{"2023-07-17", "We started a month ago; this past weekend we finished.", "a month ago = 2023-06; this past weekend = 2023-07-15/2023-07-16"},
	{"2023-07-17", "The party is on August 5, then Halloween.", "August 5 = 2023-08-05"},
	{"2023-11-20", "Our trip last August was great; see you tomorrow morning.", "tomorrow morning = 2023-11-21"},
	{"2023-11-20", "A year ago we met at the first week of December 2022.", "A year ago = 2022; first week of December 2022 = 2022-12-01/2022-12-07"},
	{"2023-11-20", "Next year, next week, a week from now.", "Next year = 2024; next week = 2023-11-27/2023-12-03; a week from now = 2023-11-24/2023-11-30"},
	{"2023-11-20", "Vorgestern war Ruhe. Letztes Wochenende nicht, in der zweiten Woche im Dezember wieder.", "Vorgestern = 2023-11-18; Letztes Wochenende = 2023-11-18/2023-11-19; zweiten Woche im Dezember = 2023-12-08/2023-12-14"},
	{"2023-11-20", "Vor zehn Jahren, am 24.12. und nächste Woche; morgen früh gehts los.", "Vor zehn Jahren = 2013; nächste Woche = 2023-11-27/2023-12-03; morgen früh = 2023-11-21"},
	{"2023-11-20", "Le mois dernier j'étais à Lyon, vendredi dernier à Nice, demain à Paris.", "mois dernier = 2023-10; vendredi dernier = 2023-11-17; demain = 2023-11-21"},
	{"2023-11-20", "El lunes pasado, anteayer y el próximo año.", "lunes pasado = 2023-11-13; anteayer = 2023-11-18; próximo año = 2024"},
	{"2023-11-20", "Il weekend scorso, domani, e il 3 dicembre; un anno fa.", "weekend scorso = 2023-11-18/2023-11-19; domani = 2023-11-21; 3 dicembre = 2023-12-03; un anno fa = 2022"},
	{"2023-11-20", "Anteontem, no ano passado, e no dia 5 de dezembro; duas semanas atrás.", "Anteontem = 2023-11-18; ano passado = 2022; 5 de dezembro = 2023-12-05; duas semanas atrás = 2023-11-03/2023-11-09"},
	{"2023-11-20", "Vorig jaar, afgelopen vrijdag, eergisteren en over drie dagen.", "Vorig jaar = 2022; afgelopen vrijdag = 2023-11-17; eergisteren = 2023-11-18; over drie dagen = 2023-11-23"},
	{"2023-11-20", "Неделю назад, в прошлую пятницу, 3 декабря, послезавтра.", "Неделю назад = 2023-11-10/2023-11-16; прошлую пятницу = 2023-11-17; 3 декабря = 2023-12-03; послезавтра = 2023-11-22"},
	{"2023-11-20", "前天下雨，下周一开会，两个月前搬家，明年再说。", "前天 = 2023-11-18; 下周一 = 2023-11-27; 两个月前 = 2023-09; 明年 = 2024"},
	{"2023-11-20", "一昨日から雨。来週の月曜日に、3ヶ月前に、昨年。", "一昨日 = 2023-11-18; 来週の月曜日 = 2023-11-27; 3ヶ月前 = 2023-08; 昨年 = 2022"},
	{"2023-11-20", "지난달에 이사했고 내일 떠난다. 지난주 금요일.", "지난달 = 2023-10; 내일 = 2023-11-21; 지난주 금요일 = 2023-11-17"},
	{"2023-11-20", "The last year of school, every last week, his next month; Decision 5 may follow.", ""},
	{"2023-11-20", "Die letzte Woche des Kurses; marche 3 fois; mars.", ""},
	{"2023-11-20", "Two years and three months ago; a day or two ago; more than a year ago.", ""},
	{"2023-11-20", "tomorrow.io, yesterday-backup.tar, x=today, v2023.05.07, 12 May-flies", ""},
}

func TestMoreDates(t *testing.T) {
	for _, l := range more {
		if got := show(DatesIn(l.text, nil, l.day)); got != l.want {
			t.Errorf("%s %s\n got %s\nwant %s", l.day, l.text, got, l.want)
		}
	}
}
