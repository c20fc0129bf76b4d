package choice

import "strings"

// goings are the phrases by which people ask, in a new conversation, to go on from where
// the work was; alone are those that ask for it only as a whole message.
var (
	goings = strings.Split("where were we|where was i|where are we at|where did we stop|where did we leave|where did i leave|left off|what were we doing|what were we working on|what was i doing|what was i working on|pick up where|carry on from|resume our|resume the work|resume my|catch me up|last session|previous session|"+
		"wo waren wir|wo sind wir stehen|stehen geblieben|stehengeblieben|wo haben wir aufgehört|wir aufgehört haben|woran haben wir|letzte sitzung|letzten sitzung|"+
		"où en étions|où en était|on en était|où nous en étions|où on s'est arrêté|là où nous|dernière session|"+
		"dónde estábamos|donde estabamos|dónde lo dejamos|donde lo dejamos|por dónde íbamos|en qué estábamos|última sesión|onde estávamos|onde paramos|onde parámos|última sessão|dove eravamo|dove siamo rimasti|ultima sessione|waar waren we|waar zijn we gebleven|laatste sessie|"+
		"var var vi|hvor var vi|mihin jäimme|gdzie skończyliśmy|na czym stanęło|na czym skończyliśmy|kde jsme skončili|hol tartottunk|unde am rămas|nerede kalmıştık|"+
		"где мы остановились|на чём мы остановились|на чем мы остановились|де ми зупинилися|докъде стигнахме|πού είχαμε μείνει|أين توقفنا|أين كنا|کجا بودیم|हम कहाँ थे|chúng ta đang ở đâu|sampai mana kita|"+
		"上次做到哪|我们做到哪|做到哪了|说到哪|上次到哪|どこまで|前回の続き|어디까지 했|지난 세션|ถึงไหนแล้ว", "|")
	alone = strings.Split("continue|please continue|go on|please go on|carry on|resume|keep going|weiter|mach weiter|weitermachen|bitte weiter|continuez|poursuis|continúa|continua|sigue|ga verder|fortsätt|fortsæt|fortsett|jatka|kontynuuj|pokračuj|folytasd|devam|devam et|продолжай|продолжи|продовжуй|συνέχισε|تابع|ادامه بده|जारी रखो|tiếp tục|lanjutkan|继续|繼續|続けて|続き|계속|ทำต่อ", "|")
)

// GoesOn reports whether the first message of a conversation asks to go on from where an
// earlier one stopped: "where were we?", "continue".
func GoesOn(message string) bool {
	message = strings.ToLower(strings.TrimSpace(message))
	if len(message) > maxChat {
		return false
	}
	for _, g := range goings {
		if strings.Contains(message, g) {
			return true
		}
	}
	message = strings.Trim(message, " .,!?。！？、")
	for _, a := range alone {
		if message == a {
			return true
		}
	}
	return false
}
