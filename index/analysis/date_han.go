package analysis

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"
)

// together holds the names of times in Chinese, Japanese and Korean, by their meaning: a unit and a
// number of units from the present day, such as "d-1" for yesterday and "w1" for next week. In a text
// these names need no spaces around them.
var together = map[string]string{
	"d-2": "前天 一昨日 おととい 그저께 그제", "d-3": "大前天", "d-1": "昨天 昨日 昨晚 昨夜 ゆうべ きのう 어제", "d1": "明天 明日 明早 明晚 내일", "d2": "后天 後天 明後日 あさって 모레", "d3": "大后天",
	"w-1": "上周 上週 上星期 上个星期 上個星期 上礼拜 上个礼拜 先週 지난주 지난_주", "w-2": "上上周 先々週 지지난주", "w1": "下周 下週 下星期 下个星期 下個星期 下礼拜 来週 다음_주 다음주", "w2": "下下周 再来週",
	"m-1": "上个月 上個月 上月 先月 지난달", "m-2": "上上个月 先々月", "m1": "下个月 下個月 来月 다음_달 다음달",
	"y-1": "去年 昨年 작년 지난해", "y-2": "前年 一昨年 おととし 재작년", "y1": "明年 来年 내년", "y2": "后年 後年 再来年",
	"d0": "今天 今日 오늘", "f1225": "圣诞 聖誕 クリスマス", "f101": "元旦",
	"e-1": "上周末 上週末 先週末 지난_주말", "e1": "下周末 来週末",
	"w0": "本周 本週 这周 這週 这个星期 这星期 今週 이번_주", "m0": "本月 这个月 這個月 今月 이번_달", "y0": "今年 올해",
	// These words contain a name of a time but do not mean it.
	"": "年前后 上周期 上下周 下周期 大前年 上月球 明日香 日前夕 이번_주말 本周末 这周末 今週末",
}

// The names of the days of a week, Monday first, and the names of weeks before them. In Chinese the
// name of a day is appended to the name of the week.
var (
	weekDays    = []string{"一", "二", "三", "四", "五", "六", "日天"}
	kanjiDays   = []rune("月火水木金土日")
	hangulDays  = []rune("월화수목금토일")
	chineseWeek = map[string]int{"上周": -1, "上週": -1, "上星期": -1, "上个星期": -1, "上個星期": -1, "上礼拜": -1, "上个礼拜": -1, "下周": 1, "下週": 1, "下星期": 1, "下个星期": 1, "下礼拜": 1, "本周": 0, "这周": 0, "這週": 0, "本週": 0}
	kanjiWeek   = map[string]int{"先週の": -1, "来週の": 1, "今週の": 0}
	hangulWeek  = map[string]int{"지난주 ": -1, "지난 주 ": -1, "다음 주 ": 1, "다음주 ": 1, "이번 주 ": 0}
)

// before holds the endings of phrases such as "three days ago", with their units.
var before = map[string]int{
	"天前": unitDay, "日前": unitDay, "일 전": unitDay,
	"周前": unitWeek, "週前": unitWeek, "星期前": unitWeek, "个星期前": unitWeek, "週間前": unitWeek, "주 전": unitWeek,
	"个月前": unitMonth, "個月前": unitMonth, "か月前": unitMonth, "ヶ月前": unitMonth, "カ月前": unitMonth, "ヵ月前": unitMonth, "개월 전": unitMonth, "달 전": unitMonth,
	"年前": unitYear, "년 전": unitYear,
}

// name is a name of a time.
type name struct {
	text string
	unit byte // 0: it is none; W: a day of a week; f: a feast, n is its month and day
	n    int
	day  int
}

// names returns all names by their first character, the longest first.
var names = sync.OnceValue(func() map[rune][]name {
	out := map[rune][]name{}
	add := func(n name) {
		r, _ := utf8.DecodeRuneInString(n.text)
		out[r] = append(out[r], n)
	}
	for what, list := range together {
		for _, text := range strings.Fields(list) {
			n := name{text: strings.ReplaceAll(text, "_", " ")}
			if what != "" {
				n.unit = what[0]
				n.n, _ = strconv.Atoi(what[1:])
			}
			add(n)
		}
	}
	for day := range 7 {
		for week, n := range chineseWeek {
			for _, d := range weekDays[day] {
				add(name{week + string(d), 'W', n, day})
			}
		}
		for week, n := range kanjiWeek {
			add(name{week + string(kanjiDays[day]) + "曜", 'W', n, day})
			add(name{week + string(kanjiDays[day]) + "曜日", 'W', n, day})
		}
		for week, n := range hangulWeek {
			add(name{week + string(hangulDays[day]) + "요일", 'W', n, day})
		}
	}
	for _, list := range out {
		slices.SortFunc(list, func(a, b name) int { return cmp.Compare(len(b.text), len(a.text)) })
	}
	return out
})

// together finds mentions in languages that write words together.
func (f *finder) together(line string, day time.Time) {
	for i := 0; i < len(line); {
		if line[i] < 0xE3 {
			i++
			continue
		}
		r, n := utf8.DecodeRuneInString(line[i:])
		if !f.named(line, &i, r, day) {
			f.counted(line, i, day)
			i += n
		}
	}
}

// named adds the name of a time that begins at *i, and sets *i to its end. It reports whether a name
// begins there.
func (f *finder) named(line string, i *int, r rune, day time.Time) bool {
	for _, n := range names()[r] {
		if !strings.HasPrefix(line[*i:], n.text) {
			continue
		}
		from := *i
		*i += len(n.text)
		s, ok := n.span(day)
		if ok && (f.asked || n.unit != 'f' && (n.unit != 'd' || n.n != 0)) {
			f.add(line, from, *i, s, false)
		}
		return true
	}
	return false
}

func (n name) span(day time.Time) (Span, bool) {
	switch n.unit {
	case 'd':
		return unit(day, unitDay, n.n)
	case 'w':
		return unit(day, unitWeek, n.n)
	case 'm':
		return unit(day, unitMonth, n.n)
	case 'y':
		return unit(day, unitYear, n.n)
	case 'e':
		s, _ := unit(day, unitWeekend, n.n)
		return s, true
	case 'W':
		return weekday(day, n.n, n.day), true
	case 'f':
		return feastFrom(day.AddDate(0, 0, 1), feast{n.n / 100, n.n % 100}, -1)
	}
	return Span{}, false
}

// counted adds a phrase such as "three days ago", or a day of a month, if the part after its number
// begins at i.
func (f *finder) counted(line string, i int, day time.Time) {
	rest := line[i:]
	if strings.HasPrefix(rest, "月") || strings.HasPrefix(rest, "월") {
		f.dayOfMonth(line, i, day)
		return
	}
	r, _ := utf8.DecodeRuneInString(rest)
	for _, end := range endings()[r] {
		u, to := before[end], i+len(end)
		if !strings.HasPrefix(rest, end) || strings.HasPrefix(line[to:], "后") || strings.HasPrefix(line[to:], "後") {
			continue
		}
		from, n := numberBefore(line, i)
		if s, ok := away(day, u, -n); ok && !vagueHan(line[:from]) {
			f.add(line, from, to, s, false)
		}
		return
	}
}

// endings returns the keys of before by their first character.
var endings = sync.OnceValue(func() map[rune][]string {
	out := map[rune][]string{}
	for end := range before {
		r, _ := utf8.DecodeRuneInString(end)
		out[r] = append(out[r], end)
	}
	return out
})

// vagueHan reports whether a text ends with a word that makes the number after it vague.
func vagueHan(s string) bool {
	for _, w := range []string{"第", "多", "几", "数", "近", "約", "余", "过", "-", "~", "/", "."} {
		if strings.HasSuffix(s, w) {
			return true
		}
	}
	return false
}

// dayOfMonth adds a date such as 5月7日 whose character for "month" is at i.
func (f *finder) dayOfMonth(line string, i int, day time.Time) {
	from, m := numberBefore(line, i)
	rest := strings.TrimLeft(line[i+len("月"):], " ")
	to := len(line) - len(rest)
	d, n := numberAt(rest)
	tail := rest[n:]
	var mark string
	for _, s := range []string{"日", "号", "號", "일"} {
		if strings.HasPrefix(tail, s) {
			mark = s
		}
	}
	if m == 0 || d == 0 || mark == "" {
		return
	}
	to += n + len(mark)
	y := 0
	head := strings.TrimRight(line[:from], " ")
	for _, s := range []string{"年", "년"} {
		if h, ok := strings.CutSuffix(head, s); ok {
			if from, y = numberBefore(h, len(h)); y < 1900 || y >= 2200 {
				return
			}
		}
	}
	if s, ok := dayOf(day, y, m, d); ok {
		f.add(line, from, to, s, y != 0)
	}
}

const hanDigits = "〇一二三四五六七八九"

// numberBefore reads the number that ends at i. It returns where the number begins and its value.
func numberBefore(line string, i int) (from, n int) {
	end := len(strings.TrimRight(line[:i], " "))
	for from = end; from > 0 && line[from-1] >= '0' && line[from-1] <= '9'; from-- {
	}
	if from < end {
		n, _ = strconv.Atoi(line[from:min(end, from+5)])
		return from, n
	}
	for from > 0 {
		r, size := utf8.DecodeLastRuneInString(line[:from])
		if r != '十' && r != '两' && !strings.ContainsRune(hanDigits, r) {
			break
		}
		from -= size
	}
	return from, hanNumber(line[from:end])
}

// numberAt reads the number at the beginning of a text. It returns its value and its size in bytes.
func numberAt(s string) (n, size int) {
	for size < len(s) && s[size] >= '0' && s[size] <= '9' {
		size++
	}
	if size > 0 {
		n, _ = strconv.Atoi(s[:min(size, 5)])
		return n, size
	}
	for _, r := range s {
		if r != '十' && !strings.ContainsRune(hanDigits, r) {
			break
		}
		size += utf8.RuneLen(r)
	}
	return hanNumber(s[:size]), size
}

// hanNumber reads a number up to 99 in Chinese characters. It returns 0 if s is not a number.
func hanNumber(s string) int {
	if s == "两" {
		return 2
	}
	digit := func(s string) int {
		if r, n := utf8.DecodeRuneInString(s); n == len(s) {
			return max(0, slices.Index([]rune(hanDigits), r))
		}
		return 0
	}
	tens, ones, ok := strings.Cut(s, "十")
	switch {
	case !ok:
		return digit(s)
	case tens == "" && ones == "":
		return 10
	case tens == "":
		return 10 + digit(ones)
	case ones == "":
		return 10 * digit(tens)
	}
	return 10*digit(tens) + digit(ones)
}
