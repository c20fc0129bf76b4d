package retrieval

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

// Each question names a time that some notes are of, or were written soon after,
// and others are not. The moment is a Saturday.
func TestWhen(t *testing.T) {
	moment := time.Date(2026, 3, 7, 12, 0, 0, 0, time.UTC)
	for _, tc := range []struct{ text, near, far string }{
		{"What happened in May?", "2023-05-08", "2023-08-08"},
		{"What happened in May?", "2024-06-20", "2024-04-30"},
		{"What did Ann say on 7 May 2023?", "2023-05-08", "2023-06-08"},
		{"What did Ann say on May 7th, 2023?", "2023-05-07", "2024-05-07"},
		{"What did Ann say on 2023-05-07?", "2023-05-09", "2023-04-09"},
		{"What did she paint in 2022?", "2022-07-01", "2024-01-01"},
		{"Who called last week?", "2026-02-25", "2026-01-25"},
		{"Who called yesterday?", "2026-03-06", "2026-03-01"},
		{"What broke two months ago?", "2026-01-05", "2025-11-05"},
		{"What broke three days before Christmas?", "2025-12-22", "2025-12-10"},
		{"¿Qué pasó en mayo de 2023?", "2023-05-08", "2023-08-08"},
		{"¿Qué dijo el 7 de mayo de 2023?", "2023-05-08", "2023-07-08"},
		{"¿Quién llamó la semana pasada?", "2026-02-25", "2026-01-25"},
		{"¿Qué falló hace dos meses?", "2026-01-05", "2025-11-05"},
		{"Was geschah im Mai?", "2023-05-08", "2023-08-08"},
		{"Was sagte sie am 7. Mai 2023?", "2023-05-08", "2023-07-08"},
		{"Was sagte sie am 7.5.2023?", "2023-05-08", "2023-07-08"},
		{"Wer rief letzte Woche an?", "2026-02-25", "2026-01-25"},
		{"Was ging vor zwei Monaten kaputt?", "2026-01-05", "2025-11-05"},
		{"五月发生了什么？", "2023-05-08", "2023-08-08"},
		{"2023年5月7日她说了什么？", "2023-05-08", "2023-07-08"},
		{"上周谁打来电话？", "2026-02-25", "2026-01-25"},
		{"两个月前什么坏了？", "2026-01-05", "2025-11-05"},
		{"去年我们去了哪里？", "2025-07-01", "2024-07-01"},
	} {
		w := whenOf(tc.text, moment)
		if !w.near(tc.near) || w.near(tc.far) {
			t.Errorf("%q: %+v: near %s is %v, near %s is %v", tc.text, w, tc.near, w.near(tc.near), tc.far, w.near(tc.far))
		}
	}
}

// Words that only look like times name none.
func TestWhenNot(t *testing.T) {
	for _, text := range []string{"May I deploy?", "may we march on?", "Where is port 8080?", "What is version 1.22.3 about?", "the second marshal", "一个团多少人", "", "¿Dónde está?"} {
		if w := whenOf(text, time.Date(2026, 3, 7, 0, 0, 0, 0, time.UTC)); w.named() {
			t.Errorf("%q: %+v", text, w)
		}
	}
}

func TestIntent(t *testing.T) {
	for _, tc := range []struct {
		text string
		want intent
	}{
		{"When did she leave?", intent{when: true}},
		{"¿Cuándo salió?", intent{when: true}},
		{"Wann ging sie?", intent{when: true}},
		{"她什么时候走的？", intent{when: true}},
		{"What books has Ann read?", intent{several: true}},
		{"¿Cuántos perros tiene?", intent{several: true}},
		{"Welche Städte hat sie besucht?", intent{several: true}},
		{"她去过哪些城市？", intent{several: true}},
		{"Which port does staging use now?", intent{present: true}},
		{"Wer macht das jetzt?", intent{present: true}},
		{"¿Quién lo hace ahora?", intent{present: true}},
		{"现在谁负责？", intent{present: true}},
		{"Where is the key?", intent{}},
	} {
		if got := intentOf(tc.text); got != tc.want {
			t.Errorf("%q: %+v, want %+v", tc.text, got, tc.want)
		}
	}
}

// No text and no date makes reading times fail.
func TestWhenAnything(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOf(rapid.OneOf(rapid.Rune(), rapid.RuneFrom([]rune("0123456789-./ 月日年前后May")))).Draw(t, "text")
		moment := time.Unix(rapid.Int64Range(-1e11, 1e11).Draw(t, "moment"), 0)
		whenOf(text, moment).near(rapid.SampledFrom([]string{"", "2023-05-08", "9999-12-31", "x"}).Draw(t, "date"))
		intentOf(text)
	})
}
