package bench

import (
	"crypto/sha256"
	"encoding/base64"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/budget"
)

// textBytes is the size of the texts that are counted, which is that of an average
// message, and textParts their number. The reference slows down as texts get
// longer, so that longer ones would flatter the counter.
const (
	textBytes = 2000
	textParts = 4
)

// BenchmarkCount counts the tokens of texts of each class by the o200k counter,
// against the reference tokenizer on the same texts.
func BenchmarkCount(b *testing.B) {
	for _, c := range []struct {
		name string
		text func(*testing.B) string
	}{{"prose", prose}, {"code", code}, {"json", jsonText}, {"cjk", cjk}, {"base64", base64Text}} {
		b.Run(c.name, func(b *testing.B) { count(b, parts(c.text(b))) })
	}
}

// parts cuts the beginning of a text into pieces.
func parts(text string) []string {
	var out []string
	for i := range textParts {
		out = append(out, strings.ToValidUTF8(text[i*textBytes:(i+1)*textBytes], ""))
	}
	return out
}

func count(b *testing.B, texts []string) {
	counter, err := budget.For("o200k")
	if err != nil {
		b.Fatal(err)
	}
	own, want := 0, 0
	for _, s := range texts {
		own += counter.Count(s).Tokens
	}
	if want, _ = tokenise(b, texts); own != want {
		b.Fatalf("%d tokens, the reference counts %d", own, want)
	}
	before := perRun(200*time.Millisecond, func() { tokenise(b, texts) })
	b.SetBytes(textParts * textBytes)
	b.ReportAllocs()
	for b.Loop() {
		for _, s := range texts {
			counter.Count(s)
		}
	}
	took := b.Elapsed() / time.Duration(b.N)
	ref := (before + perRun(200*time.Millisecond, func() { tokenise(b, texts) })) / 2
	b.ReportMetric(float64(ref)/float64(took), "x-reference")
	b.ReportMetric(textParts*textBytes/ref.Seconds()/1e6, "reference-MB/s")
}

// prose is the text of the people and the model in the sample session.
func prose(b *testing.B) string {
	var s strings.Builder
	for _, m := range sample(b) {
		for i := range m.Parts {
			if m.Parts[i].Kind == memkernel.PartText {
				s.WriteString(m.Parts[i].Text + "\n")
			}
		}
	}
	return s.String()
}

func code(b *testing.B) string {
	return file(b, "../cachelayout/ledger.go") + file(b, "../pagevm/next.go")
}
func jsonText(b *testing.B) string { return file(b, "../cachelayout/prices.json") }

func file(b *testing.B, path string) string {
	b.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		b.Fatal(err)
	}
	return string(raw)
}

func cjk(*testing.B) string {
	return strings.Repeat(`渡し船の予約係は、出港の三十分前に乗船名簿を締め切ります。空席が残っていれば、待合室の掲示板に表示されます。
如果风太大,渡轮会停航;系统会把通知发给所有已付款的乘客,并在两天之内退款。请不要在码头关闭之后进入栈桥。
배가 늦게 도착하면 예약 서비스가 다음 편의 좌석을 자동으로 확인하고, 손님에게 두 가지 선택지를 알려 줍니다.
港口的工作人员每天早上核对一次潮汐表,然后更新航班时刻。荷物の重さが五十キロを超える場合は、別の便で運びます。
`, textParts*textBytes/500)
}

func base64Text(*testing.B) string {
	var raw []byte
	sum := sha256.Sum256([]byte("base64"))
	for len(raw) < textParts*textBytes {
		raw = append(raw, sum[:]...)
		sum = sha256.Sum256(sum[:])
	}
	return base64.StdEncoding.EncodeToString(raw)
}
