package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
)

// chores holds the words of to-do items in a language. asked holds the verbs in the form that
// questions use.
type chores struct {
	week                 string
	verbs, asked, things []string
	people, days         []string
	item, who, when      string
}

var itemsEN = chores{week: "# Week %d",
	verbs: []string{"repair", "order", "paint", "measure", "clean", "sell", "insure", "photograph"}, asked: []string{"repairing", "ordering", "painting", "measuring", "cleaning", "selling", "insuring", "photographing"},
	things: []string{"the garden gate", "brass hinges", "the rowing boat", "the kitchen shelves", "the rain gutter", "the old piano", "winter tyres", "the greenhouse"},
	people: []string{"Mira", "Jonas", "Aylin", "Pavel", "Ruth", "Omar"}, days: []string{"Monday", "Wednesday", "Friday", "the 3rd", "the 18th"},
	item: "- [%[5]s] %[1]s: %[2]s %[3]s by %[4]s", who: "Who takes care of %[2]s %[3]s?", when: "Until when is there time for %[2]s %[3]s?"}

var itemsDE = chores{week: "# Woche %d",
	verbs: []string{"reparieren", "bestellen", "streichen", "ausmessen", "reinigen", "verkaufen", "versichern", "fotografieren"}, asked: []string{"repariert", "bestellt", "streicht", "misst", "reinigt", "verkauft", "versichert", "fotografiert"},
	things: []string{"das Gartentor", "die Messingscharniere", "das Ruderboot", "die Küchenregale", "die Dachrinne", "das alte Klavier", "die Winterreifen", "das Gewächshaus"},
	people: []string{"Mira", "Jonas", "Aylin", "Pavel", "Ruth", "Omar"}, days: []string{"Montag", "Mittwoch", "Freitag", "zum 3.", "zum 18."},
	item: "- [%[5]s] %[1]s: %[3]s %[2]s bis %[4]s", who: "Wer %[2]s %[3]s?", when: "Bis wann %[2]s jemand %[3]s?"}

var itemsZH = chores{week: "# 第%d周",
	verbs: []string{"修理", "订购", "粉刷", "测量", "清洗", "出售", "投保", "拍摄"}, asked: []string{"修理", "订购", "粉刷", "测量", "清洗", "出售", "投保", "拍摄"},
	things: []string{"花园大门", "黄铜铰链", "划艇", "厨房架子", "雨水槽", "旧钢琴", "冬季轮胎", "温室"},
	people: []string{"小林", "老王", "阿梅", "志强", "晓东", "雨晴"}, days: []string{"周一", "周三", "周五", "三号", "十八号"},
	item: "- [%[5]s] %[1]s：%[4]s之前%[2]s%[3]s", who: "谁负责%[3]s的%[2]s？", when: "%[2]s%[3]s的期限是什么时候？"}

// items makes lists of things to do. Nearly any two things to do share the verb, the object or
// the person.
func items(c chores) func(string, *notes) error {
	return func(_ string, n *notes) error {
		for i, p := range n.pairs(len(c.verbs), len(c.things)) {
			path := fmt.Sprintf("memory/2026-0%d-%02d.md", 1+i/32, 3+7*(i/8%4))
			if i%8 == 0 {
				n.add(path, fmt.Sprintf(c.week, 1+i/8), "")
			}
			done := n.pick([]string{" ", "x"})
			line := n.add(path, fmt.Sprintf(c.item, n.pick(c.people), c.verbs[p[0]], c.things[p[1]], n.pick(c.days), done))
			ask := c.who
			if i%2 == 1 {
				ask = c.when
			}
			n.ask(fmt.Sprintf(ask+"%[1]s", "", c.asked[p[0]], c.things[p[1]]), path, line, line)
		}
		return nil
	}
}

// codeModules lists the modules whose source files become notes. go.sum fixes their texts, so that the
// floors change only with their versions. The files are read from the folder that "go list -m" names.
// They are not copied into this repository (both modules are under Apache-2.0).
var codeModules = []string{"github.com/spf13/cobra", "github.com/sashabaranov/go-openai"}

// code makes a note of each source file. The note lacks the comments of functions. Each of these
// comments becomes a question that its function answers.
func code(root string, n *notes) error {
	for _, module := range codeModules {
		list := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", module)
		list.Dir = root
		dir, err := list.Output()
		if err != nil {
			return fmt.Errorf("there is no source of %s: run this at the root of the source: %w", module, err)
		}
		files, err := filepath.Glob(filepath.Join(strings.TrimSpace(string(dir)), "*.go"))
		if err != nil || len(files) == 0 {
			return fmt.Errorf("there is no source of %s in %s: %w", module, dir, os.ErrNotExist)
		}
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			if err := codeNote(n, path.Base(module), file); err != nil {
				return err
			}
		}
	}
	n.rng.Shuffle(len(n.questions), func(i, j int) { n.questions[i], n.questions[j] = n.questions[j], n.questions[i] })
	n.questions = n.questions[:min(len(n.questions), 80)]
	return nil
}

func codeNote(n *notes, dir, file string) error {
	src, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, file, src, parser.ParseComments)
	if err != nil {
		return err
	}
	name := strings.TrimSuffix(filepath.Base(file), ".go")
	note := "memory/source/" + dir + "-" + name + ".md"
	n.add(note, "# "+dir+"/"+name+".go", "")
	for _, d := range f.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok {
			continue
		}
		body := string(src[fset.Position(fn.Pos()).Offset:fset.Position(fn.End()).Offset])
		n.add(note, "```go")
		from := n.add(note, body)
		n.add(note, "```", "")
		if said, _, ok := strings.Cut(strings.Join(strings.Fields(fn.Doc.Text()), " "), ". "); ok || said != "" {
			if words := strings.Fields(said); len(words) > 5 && words[0] == fn.Name.Name {
				n.ask("what "+strings.Join(words[1:], " "), note, from, from+strings.Count(body, "\n"))
			}
		}
	}
	return nil
}

// reports holds the words of paragraphs about people, their subjects of study and the places.
type reports struct {
	people, subjects, places, findings []string
	text                               string
	asks                               [2]string
}

var proseEN = reports{people: []string{"Okafor", "Lindqvist", "Moreau", "Tanaka", "Sharma", "Novak"},
	subjects: []string{"bees in orchards", "lime mortar", "tidal currents", "sleep of night workers", "soil fungi", "street noise"},
	places:   []string{"Lisbon", "the Faroe Islands", "Osaka", "the Alps", "Nairobi", "the Volga delta"},
	findings: []string{"twice as much was lost in dry summers", "the effect vanished after ten days", "older samples were the more stable", "small groups did better than large ones", "the costs fell by a third", "nothing could be repeated in winter"},
	text:     "%[1]s studied %[2]s in %[3]s for %[5]d years. The main result was that %[4]s.", asks: [2]string{"What came out of the study of %[2]s in %[3]s?", "Who looked into %[2]s in %[3]s, and for how long?"}}

var proseDE = reports{people: []string{"Okafor", "Lindqvist", "Moreau", "Tanaka", "Sharma", "Novak"},
	subjects: []string{"Bienen in Obstgärten", "Kalkmörtel", "Gezeitenströme", "den Schlaf von Nachtarbeitern", "Bodenpilze", "Straßenlärm"},
	places:   []string{"Lissabon", "auf den Färöern", "Osaka", "in den Alpen", "Nairobi", "im Wolgadelta"},
	findings: []string{"in trockenen Sommern doppelt so viel verloren ging", "die Wirkung nach zehn Tagen verschwand", "ältere Proben beständiger waren", "kleine Gruppen besser abschnitten als große", "die Kosten um ein Drittel sanken", "im Winter nichts davon wiederholt werden konnte"},
	text:     "%[1]s untersuchte %[5]d Jahre lang %[2]s, %[3]s. Das wichtigste Ergebnis war, dass %[4]s.", asks: [2]string{"Was ergab die Untersuchung über %[2]s %[3]s?", "Wer hat %[2]s %[3]s erforscht und wie lange?"}}

var proseES = reports{people: []string{"Okafor", "Lindqvist", "Moreau", "Tanaka", "Sharma", "Novak"},
	subjects: []string{"las abejas de los huertos", "el mortero de cal", "las corrientes de marea", "el sueño de quienes trabajan de noche", "los hongos del suelo", "el ruido de las calles"},
	places:   []string{"Lisboa", "las islas Feroe", "Osaka", "los Alpes", "Nairobi", "el delta del Volga"},
	findings: []string{"en los veranos secos se perdía el doble", "el efecto desaparecía a los diez días", "las muestras antiguas eran más estables", "los grupos pequeños daban mejor resultado que los grandes", "los costes bajaban un tercio", "en invierno no se podía repetir nada"},
	text:     "%[1]s estudió %[2]s en %[3]s durante %[5]d años. El resultado principal fue que %[4]s.", asks: [2]string{"¿Qué salió del estudio sobre %[2]s en %[3]s?", "¿Quién investigó %[2]s en %[3]s y cuánto tiempo?"}}

var proseZH = reports{people: []string{"王教授", "林博士", "陈研究员", "赵老师", "孙教授", "周博士"},
	subjects: []string{"果园里的蜜蜂", "石灰砂浆", "潮汐水流", "夜班工人的睡眠", "土壤真菌", "街道噪声"},
	places:   []string{"里斯本", "法罗群岛", "大阪", "阿尔卑斯山", "内罗毕", "伏尔加河三角洲"},
	findings: []string{"干旱的夏天损失会增加一倍", "十天以后效果就消失了", "较老的样本更加稳定", "小组比大组表现更好", "成本下降了三分之一", "冬天的结果无法重复"},
	text:     "%[1]s在%[3]s研究%[2]s长达%[5]d年。主要结论是%[4]s。", asks: [2]string{"%[3]s的%[2]s研究得出了什么结果？", "谁在%[3]s做过%[2]s方面的工作，做了多久？"}}

var proseAR = reports{people: []string{"الدكتورة سلمى", "الأستاذ كريم", "الباحثة هدى", "الدكتور يوسف", "الأستاذة ليلى", "الباحث عمر"},
	subjects: []string{"النحل في البساتين", "ملاط الجير", "تيارات المد", "نوم عمال الليل", "فطريات التربة", "ضجيج الشوارع"},
	places:   []string{"لشبونة", "جزر فارو", "أوساكا", "جبال الألب", "نيروبي", "دلتا الفولغا"},
	findings: []string{"الخسائر تتضاعف في الصيف الجاف", "التأثير يختفي بعد عشرة أيام", "العينات القديمة أكثر ثباتا", "المجموعات الصغيرة أفضل من الكبيرة", "التكاليف تنخفض بمقدار الثلث", "النتائج لا تتكرر في الشتاء"},
	text:     "درس %[1]s موضوع %[2]s في %[3]s لمدة %[5]d سنوات. وكانت النتيجة الرئيسية أن %[4]s.", asks: [2]string{"ما نتيجة دراسة %[2]s في %[3]s؟", "من بحث في %[2]s في %[3]s وكم من الوقت؟"}}

var proseHI = reports{people: []string{"मीरा", "अर्जुन", "कविता", "रोहन", "सुनीता", "विक्रम"},
	subjects: []string{"बागों की मधुमक्खियों", "चूने के गारे", "ज्वार की धाराओं", "रात में काम करने वालों की नींद", "मिट्टी के कवक", "सड़क के शोर"},
	places:   []string{"लिस्बन", "फ़रो द्वीप", "ओसाका", "आल्प्स", "नैरोबी", "वोल्गा डेल्टा"},
	findings: []string{"सूखी गर्मियों में नुकसान दोगुना हुआ", "दस दिन बाद असर गायब हो गया", "पुराने नमूने अधिक स्थिर थे", "छोटे समूह बड़े समूहों से बेहतर रहे", "लागत एक तिहाई घट गई", "सर्दियों में कुछ भी दोहराया नहीं जा सका"},
	text:     "%[1]s ने %[3]s में %[2]s पर %[5]d साल तक अध्ययन किया। मुख्य परिणाम यह था कि %[4]s।", asks: [2]string{"%[3]s में %[2]s के अध्ययन से क्या पता चला?", "%[3]s में %[2]s पर किसने और कितने समय तक काम किया?"}}

// prose makes paragraphs. Each word of a paragraph is in other paragraphs too, but no other
// paragraph has the same combination of words.
func prose(r reports) func(string, *notes) error {
	return func(_ string, n *notes) error {
		for i, p := range n.pairs(len(r.subjects), len(r.places)) {
			path := fmt.Sprintf("memory/topics/reports-%d.md", 1+i/9)
			if i%9 == 0 {
				n.add(path, fmt.Sprintf("# %d", 1+i/9), "")
			}
			args := []any{n.pick(r.people), r.subjects[p[0]], r.places[p[1]], n.pick(r.findings), 2 + n.rng.IntN(8)}
			line := n.add(path, fmt.Sprintf(r.text, args...), "")
			for _, ask := range r.asks {
				n.ask(filled(ask, args[1], args[2]), path, line, line)
			}
		}
		return nil
	}
}

// filled returns a question about a subject and a place.
func filled(ask string, subject, place any) string {
	return strings.NewReplacer("%[2]s", fmt.Sprint(subject), "%[3]s", fmt.Sprint(place)).Replace(ask)
}

// logs makes log lines like those of services.
func logs(_ string, n *notes) error {
	services := []string{"ledger", "mailer", "search-api", "billing", "auth-gateway", "thumbnailer"}
	events := [][2]string{{"ERROR timeout after %d ms calling the database", "time out on the database"}, {"WARN disk usage at %d %%", "run low on disk"}, {"ERROR certificate expired %d days ago", "have an expired certificate"},
		{"INFO restarted, pid %d", "restart"}, {"ERROR out of memory, killed at %d MiB", "get killed for memory"}, {"WARN %d retries to reach the queue", "retry the queue"}}
	for i, p := range n.pairs(len(services), len(events)) {
		path := fmt.Sprintf("memory/2026-05-%02d.md", 1+i/6)
		if i%6 == 0 {
			n.add(path, "# Logs", "", "```")
		}
		req := fmt.Sprintf("%06x", n.rng.IntN(1<<24))
		stamp := fmt.Sprintf("%02d:%02d:%02d", n.rng.IntN(24), n.rng.IntN(60), n.rng.IntN(60))
		for range 2 {
			n.add(path, fmt.Sprintf("%s %s INFO request %06x done in %d ms", stamp, n.pick(services), n.rng.IntN(1<<24), 5+n.rng.IntN(900)))
		}
		line := n.add(path, fmt.Sprintf("%s %s "+events[p[1]][0]+" req=%s", stamp, services[p[0]], 60+n.rng.IntN(900), req))
		if i%6 == 5 {
			n.add(path, "```")
		}
		n.ask("when did "+services[p[0]]+" "+events[p[1]][1]+"?", path, line, line)
		n.ask(req, path, line, line)
	}
	return nil
}

// tables makes tables of parts. Each answer is a row.
func tables(_ string, n *notes) error {
	parts := []string{"M6 bolt", "copper washer", "hose clamp", "ball bearing", "fuse 10 A", "rubber seal", "split pin", "cable tie"}
	makers := []string{"Brandt", "Ibérica", "Hokuto", "Kessler", "Norvik", "Delta Parts"}
	for i, p := range n.pairs(len(parts), len(makers)) {
		path := fmt.Sprintf("memory/topics/stock-%d.md", 1+i/12)
		if i%12 == 0 {
			n.add(path, fmt.Sprintf("# Stock of store %d", 1+i/12), "", "| part | maker | price | pieces | shelf |", "|---|---|---|---|---|")
		}
		line := n.add(path, fmt.Sprintf("| %s | %s | %d.%02d € | %d | %c%d |", parts[p[0]], makers[p[1]], 1+n.rng.IntN(30), n.rng.IntN(100), n.rng.IntN(500), 'A'+rune(n.rng.IntN(6)), 1+n.rng.IntN(40)))
		ask := []string{"What does a %s by %s cost?", "On which shelf are the %ss of %s?"}[i%2]
		n.ask(fmt.Sprintf(ask, parts[p[0]], makers[p[1]]), path, line, line)
	}
	return nil
}

// templates makes daily notes that all have the same headings and phrases.
func templates(_ string, n *notes) error {
	blockers := []string{"the staging certificate", "a flaky importer test", "missing rights on the bucket", "the slow code review", "a broken build image", "the rate limit of the map service"}
	done := []string{"moved the invoices to the new table", "wrote the guide for volunteers", "removed the old login page", "measured the start of the app", "updated the price list", "drew the floor plan"}
	moods := []string{"calm", "tired", "curious", "annoyed", "cheerful"}
	pairs := n.pairs(len(blockers), len(done))
	for i, p := range pairs {
		day := fmt.Sprintf("2026-%02d-%02d", 2+i/18, 1+i%18)
		path := "memory/" + day + ".md"
		n.add(path, "# Daily note "+day, "", "## Mood", "", "Today I feel "+n.pick(moods)+".", "", "## Done", "")
		did := n.add(path, "- Today I "+done[p[1]]+".")
		n.add(path, "", "## Blockers", "")
		stuck := n.add(path, "- Blocked by "+blockers[p[0]]+".")
		n.add(path, "", "## Tomorrow", "", "- Go on with the plan of the week.")
		n.ask("What blocked me on "+day+"?", path, stuck, stuck)
		n.ask("What did I get done on "+day+"?", path, did, did)
	}
	return nil
}
