package solve

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/memkernel/memkernel/internal/textutil"
)

// phrase is a sentence with places for names, written as {}. The names are in backquotes.
type phrase struct {
	text string
	re   *textutil.Regexp
}

func say(text string) phrase {
	return phrase{text, textutil.LazyRegexp(strings.ReplaceAll(regexp.QuoteMeta(text), `\{\}`, "`([^`\n]+)`"))}
}

// of returns the sentence with names in the places.
func (p phrase) of(names ...string) string {
	out := p.text
	for _, n := range names {
		out = strings.Replace(out, "{}", "`"+n+"`", 1)
	}
	return out
}

// begins returns the names in a text that begins with the sentence.
func (p phrase) begins(text string) []string {
	if at := p.re.FindStringSubmatchIndex(text); at == nil || at[0] != 0 {
		return nil
	}
	return p.re.FindStringSubmatch(text)
}

// words holds the sentences of a language.
type words struct {
	steps, read, run, step, done phrase
	tell, ask                    phrase
	who, whoFile                 phrase
	rule, create                 phrase
	instead, put                 phrase
	plan, planStep, goOn         phrase
	planned                      phrase
	fix                          phrase
	is, which                    phrase
	filler                       []string
}

// tells returns the sentences of a user that do not ask the agent to do something.
func (w *words) tells() []phrase { return []phrase{w.tell, w.rule, w.instead, w.is} }

// languages holds the users' languages, by their codes.
var languages = map[string]*words{
	"en": {
		steps: say("Please go through this in order and say when you are through:"), read: say("Read {}."), run: say("Run {}."),
		step: say("Step {}."), done: say("That was the last step."),
		tell: say("As soon as I ask for it, change {} in {} from {} to {}, and nothing else."), ask: say("Now make the change in {} that I told you about earlier."),
		who: say("Which node served request {}? The output of {} says so; it can't be run a second time."), whoFile: say("Which node served request {}? {} says so."),
		rule: say("Every file that you create must begin with the line {}."), create: say("Create the file {} with the line {}."),
		instead: say("Never write to {}: what belongs there goes to {}."), put: say("Append the line {} to {}."),
		plan: say("Work through this plan, up to point {} for now:"), planStep: say("Run {} and append the sum that it prints to {}."),
		goOn: say("Go on with the plan from my first message, up to point {}."), planned: say("Point {} of the plan is done."),
		fix: say("Fix what {} found wrong earlier. Don't run it again, it takes an hour."),
		is:  say("The port of {} is {} from now on."), which: say("Which port does {} have now?"),
		filler: []string{"The queue is drained before a worker stops.", "Retries are spaced by a factor of two.", "Nothing is deleted before its copy was read back.", "A lease ends with its owner.", "Counters are reset at midnight, in the zone of the store."},
	},
	"de": {
		steps: say("Geh das bitte der Reihe nach durch und melde dich am Ende:"), read: say("Lies {}."), run: say("Führe {} aus."),
		step: say("Schritt {}."), done: say("Das war der letzte Schritt."),
		tell: say("Sobald ich danach frage, ändere {} in {} von {} auf {}, sonst nichts."), ask: say("Mach jetzt die Änderung in {}, von der ich vorhin sprach."),
		who: say("Welcher Knoten hat die Anfrage {} bedient? Das steht in der Ausgabe von {}, die es kein zweites Mal gibt."), whoFile: say("Welcher Knoten hat die Anfrage {} bedient? Das steht in {}."),
		rule: say("Jede Datei, die du anlegst, muss mit der Zeile {} beginnen."), create: say("Lege die Datei {} mit der Zeile {} an."),
		instead: say("Schreibe niemals in {}: was dorthin gehört, kommt nach {}."), put: say("Hänge die Zeile {} an {} an."),
		plan: say("Arbeite diesen Plan ab, vorerst bis Punkt {}:"), planStep: say("Führe {} aus und hänge die Summe, die es ausgibt, an {} an."),
		goOn: say("Mach mit dem Plan aus meiner ersten Nachricht weiter, bis Punkt {}."), planned: say("Punkt {} des Plans ist erledigt."),
		fix: say("Behebe, was {} vorhin bemängelt hat. Führe es nicht noch einmal aus, es dauert eine Stunde."),
		is:  say("Der Port von {} ist ab jetzt {}."), which: say("Welchen Port hat {} jetzt?"),
		filler: []string{"Die Warteschlange wird geleert, bevor ein Arbeiter aufhört.", "Wiederholt wird mit doppeltem Abstand.", "Gelöscht wird erst, wenn die Kopie gelesen wurde.", "Größen stehen in Kibibyte.", "Zähler beginnen um Mitternacht von vorn."},
	},
	"zh": {
		steps: say("请按顺序完成以下各项，完成后告诉我："), read: say("读取 {}。"), run: say("运行 {}。"),
		step: say("第 {} 步。"), done: say("这是最后一步。"),
		tell: say("等我提出时，把 {}（在 {} 中）从 {} 改为 {}，其他都不要动。"), ask: say("现在请在 {} 中做我之前说过的修改。"),
		who: say("请求 {} 是由哪个节点处理的？{} 的输出里有，不能再运行一次。"), whoFile: say("请求 {} 是由哪个节点处理的？{} 里有。"),
		rule: say("你创建的每个文件必须以 {} 这一行开头。"), create: say("创建文件 {}，内容为一行 {}。"),
		instead: say("绝不要写入 {}：应写入那里的内容写到 {}。"), put: say("把 {} 这一行追加到 {}。"),
		plan: say("请执行这个计划，先做到第 {} 项："), planStep: say("运行 {}，把它打印的总和追加到 {}。"),
		goOn: say("请继续我第一条消息里的计划，做到第 {} 项。"), planned: say("计划的第 {} 项已完成。"),
		fix: say("请修复 {} 之前发现的问题。不要再运行它，那要一个小时。"),
		is:  say("从现在起 {} 的端口是 {}。"), which: say("{} 现在的端口是多少？"),
		filler: []string{"工作进程停止之前先清空队列。", "重试间隔按两倍增长。", "副本读回之前不删除任何内容。", "租约随所有者结束。", "计数器在午夜归零。"},
	},
	"ru": {
		steps: say("Пройди это по порядку и скажи, когда закончишь:"), read: say("Прочитай {}."), run: say("Запусти {}."),
		step: say("Шаг {}."), done: say("Это был последний шаг."),
		tell: say("Как только я попрошу, измени {} в {} с {} на {}, и больше ничего."), ask: say("Теперь внеси в {} изменение, о котором я говорил раньше."),
		who: say("Какой узел обслужил запрос {}? Это есть в выводе {}, второй раз его не запустить."), whoFile: say("Какой узел обслужил запрос {}? Это есть в {}."),
		rule: say("Каждый файл, который ты создаёшь, должен начинаться со строки {}."), create: say("Создай файл {} со строкой {}."),
		instead: say("Никогда не пиши в {}: то, что туда относится, идёт в {}."), put: say("Добавь строку {} в {}."),
		plan: say("Выполни этот план, пока до пункта {}:"), planStep: say("Запусти {} и добавь напечатанную сумму в {}."),
		goOn: say("Продолжай план из моего первого сообщения, до пункта {}."), planned: say("Пункт {} плана выполнен."),
		fix: say("Исправь то, что раньше нашёл {}. Не запускай его снова, это занимает час."),
		is:  say("Порт {} теперь {}."), which: say("Какой порт сейчас у {}?"),
		filler: []string{"Очередь опустошается до остановки обработчика.", "Повторы идут с удвоением паузы.", "Ничего не удаляется, пока копия не прочитана.", "Аренда кончается вместе с владельцем.", "Счётчики обнуляются в полночь."},
	},
}

// codes lists the codes of the languages in order.
var codes = []string{"en", "de", "zh", "ru"}

// numbered returns a line of a numbered list.
func numbered(n int, text string) string { return fmt.Sprintf("%d. %s\n", n, text) }
