package analysis

import (
	"strings"
	"testing"
	"time"
)

// A line is written on a day, and names times: "text = time", separated by semicolons.
type line struct{ day, text, want string }

// The days: 2023-05-08 is a Monday, 2024-02-29 a Thursday, 2023-01-01 a Sunday.
var lines = []line{
	{"2023-05-08", "I went to a support group yesterday and it was so powerful.", "yesterday = 2023-05-07"},
	{"2023-05-08", "Yeah, I painted that lake sunrise last year! It's special to me.", "last year = 2022"},
	{"2023-05-08", "We met last Friday, and again two weeks ago.", "last Friday = 2023-05-05; two weeks ago = 2023-04-21/2023-04-27"},
	{"2023-05-08", "Last weekend was fun. Next month we go to Rome.", "Last weekend = 2023-05-06/2023-05-07; Next month = 2023-06"},
	{"2024-02-29", "The day before yesterday it snowed; 3 years ago it didn't.", "The day before yesterday = 2024-02-27; 3 years ago = 2021"},
	{"2023-05-08", "It is due in the second week of May, and on June 3rd.", "second week of May = 2023-05-08/2023-05-14; June 3rd = 2023-06-03"},
	{"2023-01-01", "Last Christmas we stayed home; last night was New Year's Eve.", "Last Christmas = 2022-12-25; last night = 2022-12-31; New Year's Eve = 2022-12-31"},
	{"2023-04-02", "They come for Easter, and last May they came too.", "Easter = 2023-04-09; last May = 2022-05"},
	{"2023-05-08", "Born on 7 May 1990; the photo is from March 2020.", "7 May 1990 = 1990-05-07!; March 2020 = 2020-03!"},
	{"2023-05-08", "Gestern Abend rief sie an, letzte Woche auch, vor drei Tagen nicht.", "Gestern Abend = 2023-05-07; letzte Woche = 2023-05-01/2023-05-07; vor drei Tagen = 2023-05-05"},
	{"2023-05-08", "Am 3. Juni fahren wir, übermorgen packen wir; nächsten Monat ist Pfingsten.", "3. Juni = 2023-06-03; übermorgen = 2023-05-10; nächsten Monat = 2023-06; Pfingsten = 2023-05-28"},
	{"2023-05-08", "Letzten Freitag, im letzten Jahr und vor einer Woche.", "Letzten Freitag = 2023-05-05; letzten Jahr = 2022; vor einer Woche = 2023-04-28/2023-05-04"},
	{"2023-05-08", "Il est venu hier soir, et il y a trois jours ; la semaine dernière non.", "hier soir = 2023-05-07; il y a trois jours = 2023-05-05; semaine dernière = 2023-05-01/2023-05-07"},
	{"2023-05-08", "Avant-hier il pleuvait. On part le 14 juillet, l'année prochaine aussi.", "Avant-hier = 2023-05-06; 14 juillet = 2023-07-14; année prochaine = 2024"},
	{"2023-05-08", "Ayer fui al médico; la semana pasada no, hace dos meses sí.", "Ayer = 2023-05-07; semana pasada = 2023-05-01/2023-05-07; hace dos meses = 2023-03"},
	{"2023-05-08", "El fin de semana pasado fuimos; el 7 de junio volvemos, pasado mañana no.", "fin de semana pasado = 2023-05-06/2023-05-07; 7 de junio = 2023-06-07; pasado mañana = 2023-05-10"},
	{"2023-05-08", "L'altro ieri pioveva, due settimane fa no; il mese scorso sì.", "L'altro ieri = 2023-05-06; due settimane fa = 2023-04-21/2023-04-27; mese scorso = 2023-04"},
	{"2023-05-08", "Ontem choveu; há três dias não. Semana passada, no mês que vem.", "Ontem = 2023-05-07; há três dias = 2023-05-05; Semana passada = 2023-05-01/2023-05-07; mês que vem = 2023-06"},
	{"2023-05-08", "Gisteren belde ze, twee weken geleden ook; volgende maand niet.", "Gisteren = 2023-05-07; twee weken geleden = 2023-04-21/2023-04-27; volgende maand = 2023-06"},
	{"2023-05-08", "Вчера звонила Аня, на прошлой неделе тоже; два года назад нет.", "Вчера = 2023-05-07; прошлой неделе = 2023-05-01/2023-05-07; два года назад = 2021"},
	{"2023-05-08", "我昨天去了医院，上周五也去了，三天前没去。", "昨天 = 2023-05-07; 上周五 = 2023-05-05; 三天前 = 2023-05-05"},
	{"2023-05-08", "上个月我们搬家，5月20日再来，去年没来。", "上个月 = 2023-04; 5月20日 = 2023-05-20; 去年 = 2022"},
	{"2023-05-08", "昨日会議がありました。先週の金曜日と二週間前も、来月も。", "昨日 = 2023-05-07; 先週の金曜日 = 2023-05-05; 二週間前 = 2023-04-21/2023-04-27; 来月 = 2023-06"},
	{"2023-05-08", "어제 회의가 있었고, 지난주에도, 3일 전에도 있었다.", "어제 = 2023-05-07; 지난주 = 2023-05-01/2023-05-07; 3일 전 = 2023-05-05"},
	{"2023-05-08", "Wczoraj padało, dwa tygodnie temu nie; w zeszłym roku też.", "Wczoraj = 2023-05-07; dwa tygodnie temu = 2023-04-21/2023-04-27; zeszłym roku = 2022"},
	{"2023-05-08", "Igår regnade det, förra veckan inte, för två år sedan inte.", "Igår = 2023-05-07; förra veckan = 2023-05-01/2023-05-07; för två år sedan = 2021"},
	{"2023-05-08", "This month we moved, dieses Jahr, cette semaine; met them last Tues.", "This month = 2023-05; dieses Jahr = 2023; cette semaine = 2023-05-08/2023-05-14; last Tues = 2023-05-02"},
	{"2023-05-08", "今年は雨、本周很忙，这个月，本周末。", "今年 = 2023; 本周 = 2023-05-08/2023-05-14; 这个月 = 2023-05"},
	// What is none.
	{"2023-05-08", "This weekend, this Friday, ce lundi, diesen Mai.", ""},
	{"2023-05-08", "May I march on? The second spring, version 1.2.2023 of 3.5.", ""},
	{"2023-05-08", "The next day we left; on Friday, the last week of the course, next Friday.", ""},
	{"2023-05-08", "A few weeks ago, many years ago, over 10 years ago, half a year ago.", ""},
	{"2023-05-08", "Use `git log --since=yesterday` and last_week.md, today.md, /notes/yesterday/a.", ""},
	{"2023-05-08", "It may 3 times fail; march 5 steps; sept 11 x 2; Ich bin hier, guten Morgen am Morgen.", ""},
	{"2023-05-08", "Por la mañana, esta mañana, cada mañana; heute morgen.", ""},
	{"2023-05-08", "几天前，日前，年前后，2019年前。", ""},
	{"", "I went there yesterday and last week.", ""},
}

func show(ms []Mention) string {
	var out []string
	for _, m := range ms {
		s := m.Text + " = " + m.String()
		if m.Literal {
			s += "!"
		}
		out = append(out, s)
	}
	return strings.Join(out, "; ")
}

func TestMentions(t *testing.T) {
	for _, l := range lines {
		if got := show(DatesIn(l.text, nil, l.day)); got != l.want {
			t.Errorf("%s %s\n got %s\nwant %s", l.day, l.text, got, l.want)
		}
	}
}

// The day of a line is that of the nearest heading, or of its own beginning.
func TestDayOf(t *testing.T) {
	text := "yesterday\n\n## 2024-03-01 Release\n- yesterday\n- 2024-02-10: yesterday\n* [x] 2024-02-11 yesterday\n```\nyesterday\n```\n### Yesterday, 2024-02-29\n> yesterday\n## Else\nyesterday"
	var got []string
	for _, m := range DatesIn(text, []string{"2023", "2023-07-10 Monday", "About yesterday (2023-06-01)"}, "2023-05-08") {
		got = append(got, m.String())
	}
	if want := "2023-07-09 2024-02-29 2024-02-09 2024-02-10 2024-02-29 2024-02-29 2023-07-09"; strings.Join(got, " ") != want {
		t.Errorf("%v, want %s", got, want)
	}
	if got := show(DatesIn("yesterday", []string{"Standup of 2024-03-01"}, "")); got != "yesterday = 2024-02-29" {
		t.Errorf("under a heading with a date, in a file without: %s", got)
	}
}

func TestDateWords(t *testing.T) {
	for _, l := range []line{
		{"2023-05-08", "nothing", "20230508 202305"},
		{"2023-05-08", "yesterday, on 1 April 2021", "20230508 202305 20230507 20210401 202104"},
		{"2023-05-08", "last month, last year", "20230508 202305 202304 2022"},
		{"", "yesterday", ""},
	} {
		if got := DateWords(l.text, nil, l.day); got != l.want {
			t.Errorf("%q: %s, want %s", l.text, got, l.want)
		}
	}
}

func TestEaster(t *testing.T) {
	for _, want := range []string{"1961-04-02", "2000-04-23", "2019-04-21", "2024-03-31", "2038-04-25"} {
		d, _ := time.Parse(time.DateOnly, want)
		if got := easter(d.Year()); !got.Equal(d) {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

func BenchmarkDateWords(b *testing.B) {
	for i := 0; b.Loop(); i++ {
		DateWords(lines[i%len(lines)].text, nil, "2023-05-08")
	}
}
