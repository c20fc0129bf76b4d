package choice

import "strings"

// chatter are, by language, the words of thanks, greetings, praise and of letting
// somebody go on that are not among those of agreeing: a message of nothing else asks
// nothing and states nothing.
var chatter = []string{
	// English
	"thanks|thank you|thx|ty|thank|so much|very much|a lot|much|many|appreciate|appreciated|cheers|hi|hello|hey|hiya|there|all|everyone|morning|good morning|afternoon|good afternoon|evening|good evening|night|good night|bye|goodbye|see you|later|tomorrow|soon|" +
		"how are you|how's it going|how is it going|what's up|today|doing|nice|cool|awesome|excellent|amazing|wonderful|brilliant|fantastic|great job|good job|job|well done|nice work|good work|work|helped|helps|helpful|was exactly|exactly what|what i wanted|needed|got it|understood|noted|i see|makes sense|" +
		"continue|go on|going|keep going|keep at it|carry on|next|resume|finish|until|done|it's done|and then|onwards|more|other|other one|the other|other way|way|let's|let|sounds|sounds good|looks|looks good|fine|later on|do that|do this|do so|instead|rather|not that one|not this one|that one|was|you|are|have|day|weekend|very|too|for everything|for your help|help",
	// German
	"danke|dankeschön|danke schön|vielen dank|besten dank|herzlichen dank|tausend dank|dank|hallo|moin|servus|guten|tag|morgen|guten morgen|abend|guten abend|nacht|gute nacht|tschüss|tschüs|ciao|bis morgen|bis später|bis bald|wie geht's|wie geht es dir|wie gehts|" +
		"prima|super|nein|nee|nö|lieber|andere|anderen|anderes|die andere|den anderen|doch|eher|lieber die|klingt gut|sieht gut aus|passt so|toll|klasse|spitze|wunderbar|hervorragend|genau das|wollte ich|brauchte ich|hat geholfen|das hat|geholfen|gut gemacht|verstanden|alles klar|passt|fortfahren|weiter|mach|mach weiter|bitte|weitermachen|fahr fort|geht's weiter|nächster|nächstes|der nächste|für alles|für die hilfe|sehr|dir|euch",
	// French
	"merci|merci beaucoup|merci bien|mille mercis|beaucoup|bonjour|bonsoir|salut|coucou|bonne nuit|bonne journée|bonne soirée|soirée|plutôt|ça marche|ça me va|au revoir|à demain|à bientôt|ça va|comment ça va|nickel|super|génial|bravo|parfait|impeccable|excellent|compris|bien reçu|noté|continue|continuez|continuer|poursuis|poursuivez|vas-y|allez-y|la suite|suivant|l'autre|autre|pour tout|c'est",
	// Spanish
	"gracias|suena bien|mejor|me parece bien|muchas gracias|mil gracias|muchas|hola|buenos días|buenas tardes|buenas noches|buenas|adiós|hasta mañana|hasta luego|hasta pronto|qué tal|cómo estás|genial|perfecto|estupendo|excelente|buen trabajo|entendido|recibido|sigue|siga|continúa|continúe|continuar|adelante|siguiente|hazlo|el otro|la otra|por todo|por la ayuda|muy",
	// Portuguese
	"obrigado|ficou|ficou ótimo|pode fazer|pode|fazer|pode ser|obrigada|muito obrigado|muito obrigada|valeu|olá|oi|bom dia|boa tarde|boa noite|tchau|até amanhã|até logo|até|amanhã|tudo bem|tudo bom|ótimo|perfeito|excelente|entendi|continue|continua|continuar|prossiga|segue|próximo|o outro|muito|por tudo|pela ajuda|ajuda",
	// Italian
	"grazie|va bene così|meglio|suona bene|buona serata|grazie mille|mille|molte grazie|ciao|buongiorno|buonasera|buonanotte|arrivederci|a domani|come stai|come va|perfetto|ottimo|eccellente|bravo|capito|ricevuto|continua|continui|prosegui|avanti|prossimo|l'altro|di tutto|molto",
	// Dutch, Swedish, Danish, Norwegian, Finnish
	"bedankt|dank je|dank u|dankjewel|hartelijk|hallo|hoi|goedemorgen|goedemiddag|goedenavond|welterusten|doei|tot morgen|hoe gaat het|mooi|geweldig|begrepen|ga door|ga verder|doorgaan|verder|volgende|de andere",
	"tack|tack så mycket|tusen|hej|hejsan|god morgon|godmorgon|god natt|hej då|vi ses|hur mår du|toppen|bra jobbat|uppfattat|fortsätt|gå vidare|nästa|den andra|tak|mange tak|godmorgen|godnat|farvel|hvordan går det|fortsæt|næste|takk|tusen takk|god natt|ha det|fortsett|neste|kiitos|paljon|hei|moi|huomenta|hyvää huomenta|hyvää yötä|näkemiin|mitä kuuluu|hienoa|jatka|seuraava",
	// Polish, Czech, Hungarian, Romanian, Turkish
	"dziękuję|dzięki|bardzo|cześć|dzień dobry|dobry wieczór|dobranoc|do widzenia|do jutra|jak się masz|świetnie|super|rozumiem|kontynuuj|dalej|następny|ten drugi|děkuji|díky|ahoj|dobrý den|dobré ráno|dobrou noc|na shledanou|jak se máš|skvělé|výborně|rozumím|pokračuj|pokračujte|další|köszönöm|köszi|szia|jó reggelt|jó napot|jó éjszakát|viszlát|hogy vagy|nagyszerű|értem|folytasd|tovább|következő",
	"mulțumesc|mersi|salut|bună|bună dimineața|bună ziua|bună seara|noapte bună|la revedere|pe mâine|ce faci|excelent|am înțeles|continuă|mai departe|următorul|teşekkürler|teşekkür ederim|çok teşekkürler|teşekkür|ederim|çok|sağ ol|sağol|merhaba|selam|günaydın|iyi günler|iyi akşamlar|iyi geceler|hoşça kal|görüşürüz|nasılsın|harika|süper|mükemmel|anladım|devam et|devam|sonraki|diğeri",
	// Russian, Ukrainian, Bulgarian, Greek
	"спасибо|лучше|звучит хорошо|другой вариант|большое спасибо|большое|благодарю|огромное|привет|здравствуй|здравствуйте|доброе утро|добрый день|добрый вечер|спокойной ночи|пока|до свидания|до завтра|до встречи|как дела|отлично|супер|класс|прекрасно|здорово|молодец|понял|поняла|понятно|ясно|всё работает|все работает|работает|продолжай|продолжайте|продолжить|дальше|далее|поехали|следующий|другой|очень|дякую|привіт|добрий день|доброго ранку|до побачення|чудово|зрозуміло|продовжуй|далі|благодаря|здравей|добро утро|лека нощ|довиждане|чудесно|разбрах|продължи|продължавай|нататък|" +
		"ευχαριστώ|ευχαριστώ πολύ|πολύ|γεια|γεια σου|γεια σας|καλημέρα|καλησπέρα|καληνύχτα|αντίο|τα λέμε|τι κάνεις|τέλεια|υπέροχα|κατάλαβα|συνέχισε|συνεχίστε|προχώρα|επόμενο",
	// Arabic, Persian, Hindi
	"شكرا|شكراً|شكرا جزيلا|جزيلا|مرحبا|أهلا|السلام عليكم|صباح الخير|مساء الخير|تصبح على خير|مع السلامة|إلى اللقاء|كيف حالك|ممتاز|رائع|فهمت|تابع|استمر|واصل|أكمل|التالي|من فضلك|ممنون|مرسی|متشکرم|سلام|صبح بخیر|شب بخیر|خداحافظ|خوبی|عالی|فهمیدم|ادامه بده|ادامه|بعدی|धन्यवाद|शुक्रिया|बहुत|बहुत धन्यवाद|नमस्ते|नमस्कार|सुप्रभात|शुभ रात्रि|शुभ प्रभात|अलविदा|फिर मिलेंगे|कैसे हो|आप कैसे हैं|बढ़िया|शानदार|समझ गया|समझ गई|जारी रखो|जारी रखें|जारी|रखो|रखें|आगे बढ़ो|आगे|अगला",
	// Vietnamese, Indonesian
	"cảm ơn|cám ơn|cảm ơn nhiều|nhiều|bạn|xin chào|chào|chào bạn|chào buổi sáng|chúc ngủ ngon|tạm biệt|hẹn gặp lại|bạn khỏe không|tuyệt|tuyệt vời|hoàn hảo|hiểu rồi|tiếp tục|tiếp|đi|tiếp theo|terima kasih|terimakasih|banyak|makasih|halo|hai|selamat pagi|selamat siang|selamat malam|sampai jumpa|apa kabar|bagus|mantap|mengerti|lanjutkan|lanjut|teruskan|berikutnya",
	// Chinese
	"谢谢|在吗|在么|可以|就这样|就这样做|这样做|换|换一个|另一个|不对|不是这个|那个|谢谢你|谢谢您|多谢|感谢|非常感谢|辛苦了|辛苦|你好|您好|嗨|早上好|早安|早|下午好|晚上好|晚安|再见|拜拜|明天见|回头见|你好吗|太好了|太棒了|很好|真棒|完美|厉害|非常好|干得好|收到|明白了|明白|知道了|懂了|了解|继续|继续吧|接着|接着做|接着来|往下|下一个|下一步吧|嗯|嗯嗯|哈哈|請|謝謝|繼續|請繼續|請接着做|请接着做|请继续|请",
	// Japanese
	"ありがとう|お疲れさま|お疲れさまでした|お疲れ様でした|別の|別の方|ありがとうございます|ありがとうございました|どうも|感謝します|こんにちは|こんばんは|おはよう|おはようございます|おやすみ|おやすみなさい|さようなら|またね|また明日|お元気ですか|元気ですか|素晴らしい|すばらしい|完璧です|完璧|いいですね|助かりました|お疲れ様|お疲れ様です|了解|了解です|了解しました|わかりました|分かりました|なるほど|続けて|続けてください|続き|続きをお願いします|進めて|進めてください|次|次へ|次に進んで|お願いします|それでいいです|それで",
	// Korean
	"감사합니다|감사해요|고마워|고마워요|고맙습니다|안녕|안녕하세요|좋은 아침이에요|좋은 아침|좋은 아침입니다|안녕히 가세요|안녕히 주무세요|잘 자|내일 봐요|잘 지내세요|완벽해요|완벽합니다|훌륭해요|최고예요|잘했어요|알겠습니다|알겠어요|이해했어요|계속|계속해|계속해 주세요|계속하세요|진행해 주세요|진행해주세요|진행하세요|다음|다음으로|수고하셨습니다",
	// Thai
	"ขอบคุณ|ขอบคุณครับ|ขอบคุณค่ะ|ขอบคุณมาก|สวัสดี|สวัสดีครับ|สวัสดีค่ะ|อรุณสวัสดิ์|ราตรีสวัสดิ์|ลาก่อน|สบายดีไหม|เยี่ยม|เยี่ยมมาก|ยอดเยี่ยม|สมบูรณ์แบบ|เข้าใจแล้ว|ทำต่อ|ทำต่อไป|ต่อไป|ไปต่อ|ดำเนินการต่อ|ครับ|ค่ะ|มาก",
}

// further are the words that a question has which only asks on.
const further = "are you sure|sure|why|how|how come|what about|how about|where|when|who|what|else|what else|other|the other|really|and|also|same|it|they|them|he|she|him|her|its|their|those|these|does|did|do|is|are|was|were|mean|for|" +
	"warum|wieso|weshalb|wie|wo|wann|wer|was|sonst|wirklich|auch|und|dann|der|die|das|den|dem|er|sie|es|" +
	"pourquoi|comment|où|quand|qui|quoi|sinon|vraiment|et|le|la|les|il|elle|ils|" +
	"por qué|cómo|dónde|cuándo|quién|qué|y|el|la|los|las|ella|ellos|por que|como|onde|quando|quem|e|o|os|perché|come|dove|chi|il|lo|waarom|hoe|waar|wanneer|wie|wat|en|" +
	"почему|зачем|как|где|когда|кто|что|и|а|ещё|он|она|они|чому|де|коли|хто|niye|neden|nasıl|nerede|ne zaman|kim|peki|ya|لماذا|كيف|أين|متى|من|ماذا|و|क्यों|कैसे|कहाँ|कब|कौन|और|tại sao|thế nào|ở đâu|khi nào|còn|thì sao|kenapa|mengapa|bagaimana|dan|" +
	"为什么|为何|怎么|怎么办|怎么样|哪里|什么时候|谁|什么|还有|还有呢|那|那么|呢|なぜ|どうして|どうやって|どこ|いつ|誰|何|では|それは|それで|は|왜|어떻게|어디|언제|누구|그리고|그럼|ทำไม|อย่างไร|ที่ไหน|เมื่อไหร่|แล้ว|ล่ะ"

// maxChat is the longest message, in bytes, that is taken for chat or for asking on.
const maxChat = 160

// Chat reports whether a message is nothing but agreement, the choice of an option, thanks, a greeting, praise or
// leave to go on, in any of the languages.
func Chat(message string) bool {
	const options = isOption | isPick // nothing but these are words to look for
	return made(message, options|isFill|isYes|isNeg|isAnd|isBut|isPoint|isChat, 0) && !made(message, options, 0) && !AsksOn(message)
}

// AsksOn reports whether a message is a question that can't be understood without the one
// before it: "why?", "and the second one?".
func AsksOn(message string) bool {
	return strings.ContainsAny(message, "?？؟;") && made(message, isFill|isYes|isNeg|isAnd|isOr|isBut, isOption|isWhich|isPoint|isFurther)
}

// made reports whether all words of a message are of some classes, and at least one of
// those of core, if there are any, figures being of core.
func made(message string, of, core class) bool {
	message = strings.TrimSpace(message)
	if message == "" || len(message) > maxChat {
		return false
	}
	words, found := 0, core == 0
	for _, t := range chatting().scan(message) {
		switch {
		case t.kind == word && t.is(core), t.kind == number && core != 0:
			words, found = words+1, true
		case t.kind == word && t.is(of):
			words++
		case t.kind == word, t.kind == number, t.text == "#":
			return false
		}
	}
	return words > 0 && found
}
