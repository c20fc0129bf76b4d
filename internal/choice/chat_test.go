package choice

import "testing"

func TestChat(t *testing.T) {
	for _, s := range []string{"thanks!", "ok cool, thx", "great job 👍", "continue", "ok do it", "keep going until it's done", "hello there!", "yes please", "no, the other one", "no, not that one, the other way", "nein, lieber die andere Variante", "sounds good, let's do that",
		"vielen Dank, das hat geholfen", "mach bitte weiter", "Guten Morgen!", "merci beaucoup !", "vas-y", "muchas gracias, perfecto", "sigue", "obrigada!", "grazie mille",
		"большое спасибо", "дальше", "شكرا!", "धन्यवाद!", "teşekkürler!", "devam et", "谢谢！", "好的，继续吧", "ありがとう！", "了解です", "감사합니다", "cảm ơn nhiều", "ขอบคุณครับ", "ok"} {
		if !Chat(s) {
			t.Errorf("%q is not taken for chat", s)
		}
	}
	for _, s := range []string{"", "thanks, what did we say about the harbour?", "continue with the migration", "hello world in Go", "yes, use Postgres", "danke, und der Hafen?", "好的，港口呢？",
		"do it like the tide tables", "12", "next release date", "Thanksgiving", "und der zweite?", "port 8080", "merci Anna", "which option?", "design", "version plan", "let's deploy"} {
		if Chat(s) {
			t.Errorf("%q is taken for chat", s)
		}
	}
}

func TestAsksOn(t *testing.T) {
	for _, s := range []string{"why?", "are you sure?", "and the second one?", "what about the other?", "und der zweite?", "warum?", "pourquoi ?", "¿y el segundo?", "¿por qué?", "почему?", "为什么？", "なぜ？", "왜?", "how come?"} {
		if !AsksOn(s) {
			t.Errorf("%q is not taken for asking on", s)
		}
	}
	for _, s := range []string{"why", "why is the harbour closed?", "and Anna?", "thanks!", "und der Hafen?", "which port?", "", "continue"} {
		if AsksOn(s) {
			t.Errorf("%q is taken for asking on", s)
		}
	}
}
