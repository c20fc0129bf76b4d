package consolidation

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/memkernel/memkernel/internal/lazyregexp"
)

// The words of values, in the languages that we were sure of. What is said for several
// things is left out.

// weekdayNames are the days of the week, from Monday; forms of one day are separated by |.
var weekdayNames = [...]string{
	"monday|mondays|montag|montags|lunes|lundi|lundis|lunedì|segunda-feira|segundas-feiras|maandag|maandags|понедельник|понедельникам|понедельника|星期一|周一|週一|礼拜一|月曜日|月曜",
	"tuesday|tuesdays|dienstag|dienstags|martes|mardi|mardis|martedì|terça-feira|terças-feiras|dinsdag|dinsdags|вторник|вторникам|вторника|星期二|周二|週二|礼拜二|火曜日|火曜",
	"wednesday|wednesdays|mittwoch|mittwochs|miércoles|miercoles|mercredi|mercredis|mercoledì|quarta-feira|quartas-feiras|woensdag|woensdags|среда|среду|средам|среды|星期三|周三|週三|礼拜三|水曜日|水曜",
	"thursday|thursdays|donnerstag|donnerstags|jueves|jeudi|jeudis|giovedì|quinta-feira|quintas-feiras|donderdag|donderdags|четверг|четвергам|четверга|星期四|周四|週四|礼拜四|木曜日|木曜",
	"friday|fridays|freitag|freitags|viernes|vendredi|vendredis|venerdì|sexta-feira|sextas-feiras|vrijdag|vrijdags|пятница|пятницу|пятницам|пятницы|星期五|周五|週五|礼拜五|金曜日|金曜",
	"saturday|saturdays|samstag|samstags|sonnabend|sonnabends|sábado|sábados|sabado|sabados|samedi|samedis|sabato|zaterdag|zaterdags|суббота|субботу|субботам|субботы|星期六|周六|週六|礼拜六|土曜日|土曜",
	"sunday|sundays|sonntag|sonntags|domingo|domingos|dimanche|dimanches|domenica|zondag|zondags|воскресенье|воскресеньям|воскресенья|星期日|星期天|周日|週日|礼拜天|礼拜日|日曜日|日曜",
}

var weekdays = func() map[string]string {
	out := map[string]string{}
	for i, names := range weekdayNames {
		for name := range strings.SplitSeq(names, "|") {
			out[name] = strconv.Itoa(i)
		}
	}
	return out
}()

var weekdayForm = wordsForm(keys(weekdays), "")

// weekday reads the name of a day of the week, in the plural too.
func weekday(s string) (string, bool) {
	d, ok := weekdays[strings.ToLower(s)]
	return d, ok
}

// stateNames are words for the state of something, by the side that they are on. Words of
// different pairs don't disagree.
var stateNames = map[string]string{
	"switch:on": "enabled|activated|active|switched on|turned on|aktiviert|aktiv|eingeschaltet|angeschaltet|habilitado|habilitada|activado|activada|activo|activa|encendido|encendida|activé|activée|" +
		"actif|attivo|attiva|attivato|attivata|abilitato|abilitata|ativado|ativada|ativo|habilitado|ligado|ligada|ingeschakeld|actief|включен|включён|включена|включено|активен|启用|啟用|开启|開啟|激活|打开|有効|オン",
	"switch:off": "disabled|deactivated|inactive|switched off|turned off|deaktiviert|inaktiv|ausgeschaltet|abgeschaltet|deshabilitado|deshabilitada|desactivado|desactivada|inactivo|inactiva|apagado|apagada|" +
		"désactivé|désactivée|inactif|disattivo|disattivato|disattivata|disabilitato|disabilitata|inattivo|desativado|desativada|inativo|desabilitado|desligado|desligada|uitgeschakeld|inactief|" +
		"выключен|выключена|выключено|отключен|отключён|отключена|отключено|неактивен|禁用|停用|关闭|關閉|関閉|無効|オフ",
	"permit:yes": "allowed|permitted|erlaubt|gestattet|permitido|permitida|autorisé|autorisée|permis|permesso|consentito|toegestaan|разрешено|разрешен|разрешён|разрешена|允许|允許|许可|許可",
	"permit:no":  "forbidden|prohibited|banned|verboten|untersagt|prohibido|prohibida|interdit|interdite|vietato|proibido|proibida|verboden|запрещено|запрещен|запрещён|запрещена|禁止|不准|不许",
}

// statesInWords are those of stateNames; states has also what is one only where it is
// all that is said of something.
var statesInWords, states = func() (map[string]string, map[string]string) {
	inWords, all := map[string]string{}, map[string]string{
		"done": "progress:done", "completed": "progress:done", "complete": "progress:done", "finished": "progress:done", "closed": "progress:done",
		"resolved": "progress:done", "fixed": "progress:done", "shipped": "progress:done", "erledigt": "progress:done", "fertig": "progress:done",
		"terminé": "progress:done", "hecho": "progress:done", "完成": "progress:done", "已完成": "progress:done",
		"open": "progress:open", "pending": "progress:open", "todo": "progress:open", "unresolved": "progress:open", "not started": "progress:open",
		"in progress": "progress:open", "blocked": "progress:open", "offen": "progress:open", "en cours": "progress:open", "pendiente": "progress:open",
		"未完成": "progress:open", "进行中": "progress:open", "待办": "progress:open",
		"on": "switch:on", "yes": "switch:on", "true": "switch:on", "an": "switch:on", "ein": "switch:on", "ja": "switch:on", "sí": "switch:on", "oui": "switch:on", "开": "switch:on", "是": "switch:on",
		"off": "switch:off", "no": "switch:off", "false": "switch:off", "aus": "switch:off", "nein": "switch:off", "non": "switch:off", "关": "switch:off", "否": "switch:off",
	}
	for side, names := range stateNames {
		for name := range strings.SplitSeq(names, "|") {
			inWords[name], all[name] = side, side
		}
	}
	return inWords, all
}()

// negators turn a state into the other of its pair.
const negators = `not|never|no longer|nicht|nie|niemals|no|nunca|jamás|pas|jamais|non|mai|não|niet|nooit|не|никогда`

var stateForm = wordsForm(keys(statesInWords), `(?:`+negators+`)\s+(?:`+joining+`)?`)

// joining are the verbs between a negator and the state.
const joining = `(?:está|estar|es|é|est|è|ist|is)\s+`

// stateValue reads a state, negated or not.
func stateValue(s string) (value, bool) {
	low := strings.ToLower(strings.TrimSpace(s))
	if side, ok := states[low]; ok {
		return stateOf(side, false), true
	}
	for _, n := range append(strings.Split(negators, "|"), "不", "未", "没") {
		rest, ok := strings.CutPrefix(low, n)
		rest = joined.ReplaceAllString(strings.TrimSpace(rest), "")
		if side, known := states[rest]; ok && known {
			return stateOf(side, true), true
		}
	}
	return value{}, false
}

var joined = lazyregexp.New(`^` + joining)

func stateOf(side string, negated bool) value {
	pair, _, _ := strings.Cut(side, ":")
	if negated {
		side = opposite[side]
	}
	return value{kind: kindState, text: side, unit: pair}
}

var opposite = map[string]string{"switch:on": "switch:off", "switch:off": "switch:on", "permit:yes": "permit:no", "permit:no": "permit:yes", "progress:done": "progress:open", "progress:open": "progress:done"}

// wordsForm matches any of some words, the longest first, as whole words where there are
// spaces between words, and what may be before them.
func wordsForm(names []string, before string) string {
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(cmp.Compare(len(b), len(a)), cmp.Compare(a, b)) })
	var spaced, dense []string
	for _, n := range names {
		if r, _ := utf8.DecodeRuneInString(n); ideograph(r) {
			dense = append(dense, regexp.QuoteMeta(n))
		} else {
			spaced = append(spaced, regexp.QuoteMeta(n))
		}
	}
	if before != "" {
		before = `(?:` + before + `)?`
	}
	return `(?i)` + before + `(?:` + strings.Join(spaced, "|") + `)|` + `[不未没]?(?:` + strings.Join(dense, "|") + `)`
}

func keys(m map[string]string) []string {
	out := make([]string, 0, len(m))
	for k := range m {
		out = append(out, k)
	}
	return out
}

// measures are units by what they measure, and how many of the least one they are.
var measures = func() map[string]measure {
	out := map[string]measure{}
	for _, m := range []struct {
		kind  valueKind
		of    float64
		names string
	}{
		{kindDuration, 1, "ms|msec|millisecond|milliseconds|millisekunde|millisekunden|milisegundo|milisegundos|milliseconde|millisecondes|millisecondi|мс|毫秒|ミリ秒"},
		{kindDuration, 1000, "s|sec|secs|second|seconds|sekunde|sekunden|segundo|segundos|seconde|secondes|secondo|secondi|secondi|seconden|сек|секунд|секунды|секунда|秒|秒钟"},
		{kindDuration, 60_000, "min|mins|minute|minutes|minuten|minuto|minutos|minuti|minuut|мин|минут|минуты|минута|分钟|分鐘|分間"},
		{kindDuration, 3_600_000, "h|hr|hrs|hour|hours|stunde|stunden|hora|horas|heure|heures|ora|ore|uur|час|часа|часов|小时|小時|時間"},
		{kindDuration, 86_400_000, "d|day|days|tag|tage|tagen|día|días|dia|dias|jour|jours|giorno|giorni|dag|dagen|день|дня|дней|天|日間"},
		{kindDuration, 604_800_000, "week|weeks|woche|wochen|semana|semanas|semaine|semaines|settimana|settimane|weken|неделя|недели|недель|周|周间|週間"},
		{kindSize, 1e3, "kb|kib"}, {kindSize, 1e6, "mb|mib|mo"}, {kindSize, 1e9, "gb|gib|go"}, {kindSize, 1e12, "tb|tib"},
	} {
		for name := range strings.SplitSeq(m.names, "|") {
			out[name] = measure{m.kind, m.of}
		}
	}
	return out
}()

type measure struct {
	kind valueKind
	of   float64
}

// quantity reads a number with its unit, in the least of what it measures.
func quantity(number, unit string) (value, bool) {
	m, ok := measures[strings.ToLower(unit)]
	if !ok { // without spaces the next words may follow at once
		for name, of := range measures {
			if r, _ := utf8.DecodeRuneInString(name); ideograph(r) && strings.HasPrefix(unit, name) {
				m, ok = of, true
			}
		}
	}
	n, err := strconv.ParseFloat(strings.ReplaceAll(number, ",", "."), 64)
	if !ok || err != nil {
		return value{}, false
	}
	return value{kind: m.kind, text: strconv.FormatFloat(n*m.of, 'f', -1, 64)}, true
}

// months are the names of months in languages whose dates are a day, a month and a year.
var months = func() map[string]int {
	out := map[string]int{}
	for _, names := range []string{
		"january february march april may june july august september october november december",
		"jan feb mar apr may jun jul aug sep oct nov dec",
		"januar februar märz april mai juni juli august september oktober november dezember",
		"enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
		"janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
		"gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre",
		"janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro",
		"januari februari maart april mei juni juli augustus september oktober november december",
		"января февраля марта апреля мая июня июля августа сентября октября ноября декабря",
	} {
		for i, name := range strings.Fields(names) {
			out[name] = i + 1
		}
	}
	return out
}()
