package consolidation_test

import (
	"strings"
	"testing"
)

// A day's log in a language: keeps are parts of what is worth keeping, drops of what was done or is
// to be done.
var days = []struct{ lang, log, keeps, drops string }{
	{"en", "## The trial of the tides\n- **Conclusion**: `tide-api` refuses a page over 500 rows, so it must be read in parts of 400\n## Observations\n- The `gate` pipeline is running smoothly since the fix of Monday\n## What's included\n- `lamp_report.js` makes the list of lamps\n",
		"parts of 400", "running smoothly,lamp_report"},
	{"en", "## Notes\n- 23:00 EST: User ran `setup.py` and got 403 Forbidden, because Apollo rejected the key in `apollo.env`\n- \"The 7-month rule: why `stamina` matters more every day\"\n- 22:10 EST: User confirmed that reports must always come from `tide-api`, not from the old export\n## Pending user decisions\n- Script ready: `cleanup.sh` created (retention, disk checks, rotation)\n## Steps\n- Added UFW rule: `sudo ufw allow 443/tcp`\n",
		"must always come from", "User ran,7-month,Script ready,UFW,EST"},
	{"zh", "## 上午（10:07 AM）\n- 用户要求：\"给我一张 `Selfie` 照片，角度从下往上\"\n- 执行了每日 `GitHub` 仓库备份推送任务\n- 收到用户的反馈：\"`Report` 的标题永远不要用英文\"\n",
		"永远不要用英文", "角度从下往上,备份推送,（）"},
	{"ru", "## Решения\n- Счета храним в `SQLite`, а не в CSV, потому что диск дважды их испортил\n## Правила от владельца\n- Владелец попросил всегда указывать цены без НДС\n## Что сделано\n- Добавлен экспорт в `report.xlsx`\n## Дальше\n- Проверить `gateway.service` на складе\n## Проблемы\n- Принтер зависает, если две задачи приходят за секунду; решение: нужна пауза 3 секунды в `printd.conf`\n",
		"Счета храним,без НДС,Принтер зависает", "Добавлен экспорт,Проверить"},
	{"pt", "## Decisões\n- Guardamos as faturas em `SQLite` em vez de CSV, porque o disco as estragou duas vezes\n## Preferências\n- O dono pediu preços sempre sem IVA\n## O que foi feito\n- Adicionado o export para `report.xlsx`\n## Próximos passos\n- Verificar o `gateway.service` no armazém\n",
		"Guardamos as faturas,sem IVA", "Adicionado,Verificar"},
	{"it", "## Decisioni\n- Teniamo le fatture in `SQLite` invece di CSV, perché il disco le ha rovinate due volte\n## Regole\n- Il proprietario ha chiesto prezzi sempre senza IVA\n## Cosa è stato fatto\n- Aggiunto l'export in `report.xlsx`\n## Prossimi passi\n- Verificare il `gateway.service` nel magazzino\n",
		"Teniamo le fatture,senza IVA", "Aggiunto,Verificare"},
	{"ko", "## 결정\n- 디스크가 두 번 망가뜨렸기 때문에 송장은 CSV 대신 `SQLite` 에 보관하기로 결정\n## 규칙\n- 사용자가 가격은 항상 부가세 없이 표시하라고 요청\n## 완료\n- `report.xlsx` 내보내기 추가\n## 다음 단계\n- 창고의 `gateway.service` 확인\n",
		"송장은,부가세", "내보내기,창고의"},
	{"en", "## Reading\n- **54% of the harbours prefer human-in-the-loop** cranes in `tide-api`; 10% allow them without review\n- ⏳ User wants the list of `lamp.db` always sorted by pier\n",
		"", "54%,lamp.db"},
	{"zh", "## 抓取尝试\n- **结论**: `tide-api` 有反爬虫机制，必须登录后才能抓取 `rows.json`\n- 待用户确认 `gate` 的规则（每天 vs 每周）\n",
		"必须登录", "待用户"},
}

func TestCurateReadsDaysOfManyLanguages(t *testing.T) {
	for _, d := range days {
		got := strings.Join(curatedOf(t, "# 2026-03-09\n\n"+d.log), "\n")
		for _, k := range strings.Split(d.keeps, ",") {
			if !strings.Contains(got, k) {
				t.Errorf("%s: %q is not kept of\n%s\nbut\n%s", d.lang, k, d.log, got)
			}
		}
		for _, k := range strings.Split(d.drops, ",") {
			if strings.Contains(got, k) {
				t.Errorf("%s: %q is kept:\n%s", d.lang, k, got)
			}
		}
	}
}

// The day in the title of a log is no part of a subject, however it is written.
func TestSubjectWithoutTheDay(t *testing.T) {
	for _, title := range []string{"Memory: Monday, March 9, 2026", "Memory — 9 mars 2026", "2026年3月9日の記録", "2026-03-09"} {
		got := curatedOf(t, "# "+title+"\n\n## Key decisions today\n\n- Decided to restart `sweepd` every night, because it leaks 40 MB an hour\n")
		if len(got) != 1 || strings.Contains(got[0], "2026") {
			t.Errorf("%q makes %q", title, got)
		}
	}
}

// The time or the number before a heading is no part of the subject.
func TestSubjectWithoutItsTime(t *testing.T) {
	for _, h := range []string{"00:04 - Sweeper of the harbour", "15:17 — Decision: Sweeper of the harbour", "1️⃣ Sweeper of the harbour", "2026-03-09 Sweeper of the harbour"} {
		got := curatedOf(t, "# 2026-03-09\n\n## "+h+"\n\n- Decided to restart it every night, because `sweepd` leaks 40 MB an hour\n")
		if len(got) != 1 || strings.Contains(got[0], "0Sweeper") || strings.ContainsAny(strings.SplitN(got[0], "Decided", 2)[0], "0123456789") || strings.Contains(got[0], "Decision:") {
			t.Errorf("%q makes %q", h, got)
		}
	}
}
