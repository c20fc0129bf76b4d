package relevance

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/memkernel/memkernel/retrieval"
)

// tongues are our own notes of a ferry office in languages of which there is no
// set, with a question on each, whose words are inflected otherwise, or are in
// another order, than the note's. All notes of a language are in one file.
var tongues = map[string][][2]string{
	"ja": {
		{"夏の時刻表は五月一日から始まり、最終便は二十三時に出ます。", "最終便は何時に出ますか"},
		{"フェリーの定員は百八十人で、車は四十台まで載せられます。", "車は何台載せられますか"},
		{"キャンセル料は出発の四十八時間前まで無料です。", "キャンセル料が無料なのはいつまで"},
		{"データベースのバックアップは毎晩三時に実行される。", "バックアップはいつ実行される"},
		{"冬は風が強いので北航路がよく欠航になる。", "欠航が多いのはどの航路"},
		{"山田さんは乗船券の印刷を担当している。", "乗船券の印刷の担当は誰"},
		{"犬は甲板でのみ同伴できる。", "犬と一緒に乗れる場所"},
		{"京都の代理店が団体旅行を予約した。", "京都"},
	},
	"th": {
		{"เรือเที่ยวสุดท้ายออกเวลาห้าทุ่มในฤดูร้อน", "เรือเที่ยวสุดท้ายออกกี่โมง"},
		{"เรือรับผู้โดยสารได้หนึ่งร้อยแปดสิบคน", "เรือรับผู้โดยสารได้กี่คน"},
		{"การยกเลิกตั๋วก่อนสองวันได้เงินคืนเต็มจำนวน", "ยกเลิกตั๋วแล้วได้เงินคืนไหม"},
		{"ฐานข้อมูลสำรองทุกคืนเวลาตีสาม", "สำรองฐานข้อมูลเมื่อไร"},
		{"สมชายเป็นคนพิมพ์บัตรขึ้นเรือ", "ใครพิมพ์บัตรขึ้นเรือ"},
		{"สุนัขอยู่ได้เฉพาะบนดาดฟ้า", "พาสุนัขไปไว้ที่ไหนได้"},
		{"ท่าเรือปิดเมื่อลมแรงมาก", "ท่าเรือปิดเพราะอะไร"},
	},
	"ru": {
		{"Последний паром летом отходит в одиннадцать вечера.", "Когда отходят последние паромы?"},
		{"На борт помещается сто восемьдесят пассажиров и сорок машин.", "Сколько пассажиров на борту?"},
		{"Отмена билета за двое суток бесплатна.", "Можно ли бесплатно отменить билеты?"},
		{"Резервная копия базы данных делается каждую ночь.", "Как часто делают резервные копии баз данных?"},
		{"Зимой северный маршрут часто закрывают из-за ветра.", "Какие маршруты закрываются зимой?"},
		{"Ольга печатает посадочные талоны.", "Кто занимается печатью посадочных талонов?"},
		{"Собак пускают только на палубу.", "Куда можно с собакой?"},
	},
	"ar": {
		{"تغادر آخر عبارة في الصيف عند الحادية عشرة ليلا.", "متى تغادر العبارة الأخيرة؟"},
		{"تتسع السفينة لمئة وثمانين راكبا وأربعين سيارة.", "كم راكب في السفينة؟"},
		{"إلغاء التذكرة قبل يومين مجاني.", "هل إلغاء التذاكر مجاني؟"},
		{"يتم نسخ قاعدة البيانات احتياطيا كل ليلة.", "متى يتم النسخ الاحتياطي لقواعد البيانات؟"},
		{"في الشتاء يغلق الطريق الشمالي بسبب الرياح.", "ما سبب إغلاق الطريق الشمالي؟"},
		{"فاطمة مسؤولة عن طباعة بطاقات الصعود.", "من المسؤول عن طباعة البطاقات؟"},
		{"يسمح بالكلاب على السطح فقط.", "أين يسمح للكلاب؟"},
	},
	"vi": {
		{"Chuyến phà cuối cùng vào mùa hè rời bến lúc hai mươi ba giờ.", "Chuyến phà cuối rời bến lúc mấy giờ?"},
		{"Phà chở được một trăm tám mươi hành khách và bốn mươi xe.", "Phà chở được bao nhiêu hành khách?"},
		{"Hủy vé trước hai ngày được hoàn tiền đầy đủ.", "Hủy vé có được hoàn tiền không?"},
		{"Cơ sở dữ liệu được sao lưu mỗi đêm lúc ba giờ.", "Khi nào sao lưu cơ sở dữ liệu?"},
		{"Mùa đông tuyến phía bắc thường đóng vì gió mạnh.", "Vì sao tuyến phía bắc đóng?"},
		{"Chị Lan phụ trách in thẻ lên tàu.", "Ai in the len tau?"},
		{"Chó chỉ được ở trên boong.", "Được dắt chó lên đâu?"},
	},
	"tr": {
		{"Yazın son feribot gece yirmi üçte kalkar.", "Son feribotlar kaçta kalkıyor?"},
		{"Gemiye yüz seksen yolcu ve kırk araba sığar.", "Gemi kaç yolcu alır?"},
		{"Bileti iki gün önce iptal etmek ücretsizdir.", "Biletlerin iptali ücretli mi?"},
		{"Veritabanı her gece yedeklenir.", "Veritabanının yedeği ne zaman alınır?"},
		{"Kışın kuzey hattı rüzgâr yüzünden kapanır.", "Kuzey hattını ne kapatıyor?"},
		{"Ayşe biniş kartlarını basıyor.", "Biniş kartını kim basar?"},
		{"Köpekler yalnız güvertede durabilir.", "Köpeğimle nerede durabilirim?"},
	},
}

// TestTongues asks each language alone, then all of them in one workspace, as
// people who mix languages have it.
func TestTongues(t *testing.T) {
	mixed := t.TempDir()
	for lang, notes := range tongues {
		t.Run(lang, func(t *testing.T) {
			dir := t.TempDir()
			writeTongue(t, dir, lang, notes)
			tongueRecall(t, dir)
		})
		writeTongue(t, mixed, lang, notes)
	}
	t.Run("mixed", func(t *testing.T) { tongueRecall(t, mixed) })
}

func tongueRecall(t *testing.T, dir string) {
	t.Helper()
	b := open(t, dir)
	got := run(t, b, retrieval.Options{})
	// What Turkish builds words with is beyond its stemmer: one question fails.
	if got.RecallAt5 < .85 || got.RecallAt1 < .8 {
		answers, _ := b.Ask(t.Context(), nil, dayAfter(t, b))
		for _, a := range answers {
			if a.Ranks[0] != 1 {
				t.Logf("%s: %s: rank %v", a.ID, a.Text, a.Ranks)
			}
		}
		t.Errorf("recall@1 %.2f, recall@5 %.2f, want .80 and .85", got.RecallAt1, got.RecallAt5)
	}
}

func writeTongue(t *testing.T, dir, lang string, notes [][2]string) {
	t.Helper()
	text, rows := "# "+lang+"\n\n", ""
	for i, n := range notes {
		text += "- " + n[0] + "\n"
		rows += fmt.Sprintf(`{"id":"%s%d","category":"%s","question":%q,"evidence":[{"file":"memory/%s.md","line":%d}]}`+"\n", lang, i, lang, n[1], lang, i+3)
	}
	file := filepath.Join(dir, "memory", lang+".md")
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	qa := filepath.Join(dir, "qa.jsonl")
	old, _ := os.ReadFile(qa)
	if err := os.WriteFile(qa, []byte(string(old)+strings.ReplaceAll(rows, `\u`, `\\u`)), 0o644); err != nil {
		t.Fatal(err)
	}
}
