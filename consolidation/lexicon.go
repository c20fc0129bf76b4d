package consolidation

import (
	"slices"
	"strings"
	"sync"
)

// The words by which statements are compared, per kind, in the languages that rules are safe in.
// Words are apart by blanks. The words of scripts without spaces are in the tables whose names
// end in Han.

// sides are words for the state of something, by the side of a pair. The two sides of a pair are
// opposites. Words of different pairs never disagree. The pair named rule has the words for
// permission and prohibition. It also sets a sentence with a negation against the same sentence
// without it.
var sides = map[string]string{
	"switch:on": `enabled enable enables active activated activo activa activos activas aktiv attivo ativo ativa encendido encendida acceso acesa allumé allumée aktiviert eingeschaltet activé activée activés activées activado activada habilitado habilitada
		attivato attivata abilitato abilitata ativado ativada ingeschakeld geactiveerd включен включена включено включён`,
	"switch:off": `disabled disable disables inactive deactivated inactivo inactiva inactivos inactivas inaktiv inattivo inativo inativa apagado apagada spento spenta éteint éteinte deaktiviert ausgeschaltet abgeschaltet désactivé désactivée désactivés désactivées desactivado desactivada
		deshabilitado deshabilitada inhabilitado disattivato disattivata disabilitato disabilitata desativado desativada desabilitado uitgeschakeld gedeactiveerd выключен выключена выключено отключен отключена отключено отключён`,
	"rule:yes": `allowed permitted erlaubt gestattet zulässig permitido permitida permitidos permitidas autorizado autorizada autorisé autorisée autorisés autorisées permis permesso consentito toegestaan
		разрешен разрешена разрешено разрешены разрешён`,
	"rule:no": `forbidden prohibited disallowed banned verboten untersagt unzulässig prohibido prohibida prohibidos prohibidas interdit interdite interdits interdites vietato vietata proibito proibido proibida verboden
		запрещен запрещена запрещено запрещены запрещён нельзя`,
	"need:yes": `required mandatory compulsory erforderlich pflicht verpflichtend obligatorisch obligatorio obligatoria requerido requerida obligatoire obligatoires obbligatorio obbligatoria obrigatório obrigatória verplicht обязателен обязательна`,
	"need:no":  `optional voluntary freiwillig opcional facultativo facultativa facultatif facultative optionnel optionnelle facoltativo facoltativa optioneel необязателен необязательна`,
}

var sidesHan = map[string]string{
	"switch:on": "已激活 激活 已启用 启用 已开启 开启 打开 已啟用 啟用 有効", "switch:off": "已禁用 禁用 已关闭 关闭 已停用 停用 關閉 無効",
	"rule:yes": "允许 可以 允許 許可", "rule:no": "禁止 严禁 不允许 不可以 不得 不准 嚴禁",
	"need:yes": "必填 必需 必須", "need:no": "可选 选填 任意 無需 无需",
}

// negators turn a sentence into its opposite.
const (
	negators = `not never dont cannot nicht nie niemals kein keine keinen keiner keinem no nunca jamás jamas ne n pas jamais
		non mai não nao nunca niet nooit geen не никогда`
	negatorsHan = "从不 绝不 决不 永不 不要 不能 不会 不再 不应 不该 從不 絕不 请勿 勿 没有 不 没 別 别"
)

// weightless are words without which a sentence says the same. Among them are shall, is, always,
// usually, us and the articles, but not never.
const (
	weightless = `the a an of for on in at to is are be been was were our my its we i you they it this that these those current currently default and s now set always please must may can will shall should do does service system status state
		uses use run runs running listens listen listening happens happen takes take place lives every each with by from as has have there team generally stays kept via
		der die das des dem den ein eine einen einem einer ist sind wird werden wir ich man im in am um auf bei ab beim zum zur vom von mit und immer stets bitte muss müssen soll sollen darf dürfen kann können läuft laufen lauscht jeden jede jedes jeder jedem dienst system zustand liegt beträgt lautet unser unsere hat haben für ans
		le la les l mon un une du de des d est sont on nous je il elle à au aux en sur chaque toujours doit doivent peut peuvent faut tourne tournent s se notre nos et avec service système état
		el la los las un una del de es son está están se nosotros en a al los cada siempre debe deben puede pueden hay que nuestro nuestra y con por para lo servicio sistema estado corre ejecuta ejecutan escucha usa
		il lo la i gli un una del della dei delle di è sono si noi in a al alla ogni sempre deve devono può possono nostro nostra e con gira per
		o a os as um uma do da dos das de é são está estão se nós em no na nos nas ao à cada sempre deve devem pode podem nosso nossa e com por para
		de het een is zijn wordt worden we wij ik op in om bij elke altijd moet moeten mag mogen kan kunnen onze en met van voor draait
		в на по во с и у это мы я всегда каждый каждую нужно можно должен должны может наш наша составляет равен для`
	weightlessHan = "状态 服务 我们 我們 应该 必须 需要 总是 始终 每天 请 一律 都 会 要 的 是 为 為 在 了 将 于 每 個 个 は を に が で の です ます する します"
)

// unsaid are words of sentences that claim nothing: examples, guesses, plans, past or possible
// things.
const (
	unsaid = `example examples instance maybe perhaps probably possibly might could would proposal proposed considering consider idea wondering did was were had until once previously earlier formerly yesterday
		if whether unless except instead rather than only just eg
		beispiel beispielsweise vielleicht wahrscheinlich vermutlich könnte würde wäre vorschlag war waren wurde wurden hatte früher damals bisher bis ehemals gestern falls wenn ob außer sondern
		ejemplo quizás quizá probablemente podría sería propuesta era eran fue fueron estaba estaban había antes hasta anteriormente ayer salvo excepto sino solo sólo
		exemple probablement pourrait serait était étaient avait avant autrefois jusqu hier sauf plutôt seulement
		esempio forse probabilmente potrebbe sarebbe era erano prima fino ieri tranne solo
		exemplo talvez provavelmente poderia seria era eram foi foram antes até ontem exceto apenas
		voorbeeld misschien waarschijnlijk zou was waren voorheen vroeger tot gisteren als tenzij behalve alleen
		например возможно вероятно был была было были раньше прежде ранее до вчера если кроме только`
	unsaidHan = "例如 比如 示例 例子 可能 也许 大概 或许 建议 考虑 以前 之前 原来 曾经 曾 当时 过去 昨天 如果 除非 除了 只有 仅 之后再 直到 假如 もし 以前 たぶん 例えば 吗"
)

// bygone are words of headings under which no text is about today.
const (
	bygone    = `history archive archived old former previous deprecated obsolete example examples template templates idea ideas proposal proposals draft verlauf archiv alt früher ehemals beispiel beispiele vorlage ideen historial historia archivo antiguo antes ejemplo ejemplos plantilla historique exemple exemples ancien anciens storico esempi esempio histórico exemplos geschiedenis voorbeelden история архив примеры пример`
	bygoneHan = "历史 归档 示例 例子 模板 旧 草稿 歷史 履歴"
)

// settings are words for the environment of a setting. A fact about one environment does not hold
// for another.
const (
	settings    = `staging stage production prod produktion producción produção produzione productie продакшн dev development entwicklung desarrollo développement sviluppo desenvolvimento ontwikkeling test tests testing pruebas prueba qa local lokal locale demo sandbox canary beta alpha preview ci laptop desktop home work büro office windows linux macos mac android ios`
	settingsHan = "生产 测试 开发 预发 线上 线下 本地 演示 本番 開発 測試 生產"
)

// named maps the spellings of a thing in many languages to one spelling.
var named = map[string]string{"mail": "email", "correo": "email", "courriel": "email", "telephone": "phone", "telefon": "phone", "telefonnummer": "phone", "teléfono": "phone", "téléphone": "phone", "telefono": "phone", "telefone": "phone", "telefoon": "phone", "tel": "phone", "телефон": "phone",
	"puerto": "port", "porta": "port", "poort": "port", "порт": "port"}

// timeUnits has the spellings of units of time with their values in seconds. byteUnits has the
// spellings of units of size with their values in bytes.
var (
	timeUnits = map[float64]string{
		.001:   "ms millisecond milliseconds millisekunden milisegundos millisecondes millisecondi milissegundos milliseconden мс 毫秒 ミリ秒",
		1:      "s sec secs second seconds sek sekunde sekunden segundo segundos seconde secondes secondo secondi seconden сек секунд секунды секунда 秒 秒钟",
		60:     "min mins minute minutes minuten minuto minutos minuti minuut minuten мин минут минуты минута 分 分钟 分鐘 分間",
		3600:   "h hr hrs hour hours std stunde stunden hora horas heure heures ora ore uur uren час часа часов 小时 小時 時間 个小时",
		86400:  "d day days tag tage tagen día días dia dias jour jours giorno giorni dag dagen день дня дней 天 日間",
		604800: "week weeks woche wochen semana semanas semaine semaines settimana settimane weken неделя недели недель 周 星期 个星期 週間",
	}
	byteUnits = map[float64]string{1: "byte bytes", 1e3: "kb kib", 1e6: "mb mib", 1e9: "gb gib", 1e12: "tb tib"}
)

// weekdayWords are the days of the week, from Monday.
var weekdayWords = [7]string{
	"monday mondays montag montags montage lunes lundi lundis lunedì lunedi segunda-feira segundas-feiras maandag maandags понедельник понедельникам понедельника 周一 星期一 礼拜一 週一 月曜日 月曜",
	"tuesday tuesdays tue tues dienstag dienstags martes mardi mardis martedì martedi terça-feira terças-feiras dinsdag dinsdags вторник вторникам вторника 周二 星期二 礼拜二 週二 火曜日 火曜",
	"wednesday wednesdays wed mittwoch mittwochs miércoles miercoles mercredi mercredis mercoledì mercoledi quarta-feira quartas-feiras woensdag среда среду средам 周三 星期三 礼拜三 週三 水曜日 水曜",
	"thursday thursdays thu thurs donnerstag donnerstags jueves jeudi jeudis giovedì giovedi quinta-feira quintas-feiras donderdag четверг четвергам 周四 星期四 礼拜四 週四 木曜日 木曜",
	"friday fridays fri freitag freitags viernes vendredi vendredis venerdì venerdi sexta-feira sextas-feiras vrijdag vrijdags пятница пятницу пятницам 周五 星期五 礼拜五 週五 金曜日 金曜",
	"saturday saturdays samstag samstags sonnabend sábado sábados sabado samedi samedis sabato zaterdag суббота субботу субботам 周六 星期六 礼拜六 週六 土曜日 土曜",
	"sunday sundays sonntag sonntags domingo domingos dimanche dimanches domenica zondag воскресенье воскресеньям 周日 周天 星期日 星期天 礼拜天 週日 日曜日 日曜",
}

// monthWords are the months in the languages whose dates are read with their names.
var monthWords = [12]string{
	"january jan januar jänner enero janvier gennaio janeiro januari января", "february feb februar febrero février febbraio fevereiro februari февраля", "march mar märz marzo mars março maart марта",
	"april apr abril avril aprile апреля", "may mai mayo maggio maio mei мая", "june jun juni junio juin giugno junho июня", "july jul juli julio juillet luglio julho июля",
	"august aug agosto août augustus августа", "september sep sept septiembre septembre settembre setembro сентября", "october oct oktober octubre octobre ottobre outubro октября",
	"november nov noviembre novembre ноября", "december dec dezember diciembre décembre dicembre dezembro декабря",
}

// lexicon is the index of the tables, made once.
var lexicon = sync.OnceValue(makeLexicon)

type lexicons struct {
	side, sideHan                                   map[string]string
	negator, weightless, unsaid, bygone, setting    map[string]bool
	weekday                                         map[string]int
	month                                           map[string]int
	unit                                            map[string]unit
	sidesHan, negatorsHan, weightlessHan, unsaidHan []string
	bygoneHan, settingsHan, weekdaysHan, unitsHan   []string
}

// unit is the value of a unit in a base.
type unit struct {
	base   string
	factor float64
}

func makeLexicon() *lexicons {
	l := &lexicons{side: map[string]string{}, sideHan: map[string]string{}, weekday: map[string]int{}, month: map[string]int{}, unit: map[string]unit{}}
	set := func(s string) map[string]bool {
		out := map[string]bool{}
		for _, w := range strings.Fields(s) {
			out[w] = true
		}
		return out
	}
	l.negator, l.weightless, l.unsaid, l.bygone, l.setting = set(negators), set(weightless), set(unsaid), set(bygone), set(settings)
	for side, ws := range sides {
		for w := range set(ws) {
			l.side[w] = side
		}
	}
	for side, ws := range sidesHan {
		for w := range set(ws) {
			l.sideHan[w] = side
			l.sidesHan = append(l.sidesHan, w)
		}
	}
	for i, ws := range weekdayWords {
		for w := range set(ws) {
			l.weekday[w] = i + 1
			if strings.ContainsFunc(w, ideograph) {
				l.weekdaysHan = append(l.weekdaysHan, w)
			}
		}
	}
	for i, ws := range monthWords {
		for w := range set(ws) {
			l.month[w] = i + 1
		}
	}
	for base, table := range map[string]map[float64]string{"s": timeUnits, "byte": byteUnits} {
		for f, ws := range table {
			for w := range set(ws) {
				l.unit[w] = unit{base, f}
				if strings.ContainsFunc(w, ideograph) {
					l.unitsHan = append(l.unitsHan, w)
				}
			}
		}
	}
	l.negatorsHan, l.weightlessHan, l.unsaidHan = strings.Fields(negatorsHan), strings.Fields(weightlessHan), strings.Fields(unsaidHan)
	l.bygoneHan, l.settingsHan = strings.Fields(bygoneHan), strings.Fields(settingsHan)
	for _, ws := range [][]string{l.sidesHan, l.negatorsHan, l.weightlessHan, l.weekdaysHan, l.unitsHan} {
		slices.SortFunc(ws, func(a, b string) int {
			if len(a) != len(b) {
				return len(b) - len(a)
			}
			return strings.Compare(a, b)
		})
	}
	return l
}
