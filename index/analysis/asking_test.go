package analysis_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/memkernel/memkernel/index/analysis"
)

// asks are words with which languages ask.
var asks = [][2]string{
	{"en", "what which who whom whose when where why how"},
	{"de", "was welche welcher welches welchen welchem wer wem wen wessen wann wo warum wieso weshalb wie wieviel wieviele woher wohin womit wofür worauf woran worin wodurch"},
	{"es", "qué cuál cuáles quién quiénes cuándo dónde adónde por qué cómo cuánto cuánta cuántos cuántas"},
	{"fr", "que quoi quel quelle quels quelles qui quand où pourquoi comment combien lequel laquelle lesquels lesquelles"},
	{"pt", "que qual quais quem quando onde aonde porquê como quanto quanta quantos quantas"},
	{"it", "che cosa quale quali chi quando dove perché come quanto quanta quanti quante"},
	{"nl", "wat welke welk wie wiens wanneer waar waarom hoe hoeveel waarmee waarvoor waarin waarop"},
	{"ru", "что какой какая какое какие какую каким каком какого каких какими кто кого кому чей чья чьё когда где куда откуда почему зачем как сколько скольких каков какова"},
	{"sv", "vad vilken vilket vilka vem vems när var varför hur"},
	{"da", "hvad hvilken hvilket hvilke hvem hvis hvornår hvor hvorfor hvordan"},
	{"no", "hva hvilken hvilket hvilke hvem når hvor hvorfor hvordan"},
	{"fi", "mikä mitä mikä mitkä kuka kenen milloin missä mihin mistä miksi miten kuinka montako paljonko"},
	{"tr", "ne hangi kim kimin nerede nereye nereden neden niçin nasıl kaç"},
	{"hu", "mi milyen melyik ki kinek mikor hol hova honnan miért hogyan mennyi hány mit"},
	{"ro", "ce care cine cui când unde cum cât câtă câți câte"},
	{"bg", "какво какъв каква какви кой коя кое кои кого кога къде откъде защо как колко"},
	{"hi", "क्या कौन किस किसका कब कहाँ क्यों कैसे कितना कितने कितनी"},
	{"fa", "چه کدام کی کجا چرا چگونه چطور چند چقدر"},
	{"ar", "ما ماذا أي من متى أين لماذا كيف كم"},
	{"el", "τι ποιος ποια ποιο ποιοι πότε πού γιατί πώς πόσο πόσα πόσοι"},
}

// A question's own words are not searched for, in whatever language it asks.
func TestQuestionWordsAreDropped(t *testing.T) {
	a := analysis.New()
	for _, l := range asks {
		want := a.Query("xylophone", []string{l[0]})
		for _, w := range strings.Fields(l[1]) {
			if got := a.Query(w+" xylophone", []string{l[0]}); !slices.Equal(got, want) {
				t.Errorf("%s: %q is searched as %q", l[0], w, got)
			}
		}
	}
	for q, want := range map[string]string{"сколько стоит тариф": "стоит тариф", "combien coûte le phare": "coût phar", "wann öffnet der Leuchtturm": "offnet leuchtturm"} {
		if got := strings.Join(a.Query(q, nil), " "); !strings.Contains(got, strings.Fields(want)[1]) || len(a.Query(q, nil)) > 4 {
			t.Errorf("%q is searched as %q", q, got)
		}
	}
}

// A document of one language may hold the words with which another asks.
func TestQuestionWordsTellNoLanguage(t *testing.T) {
	a := analysis.New()
	if got := a.Language("comment lines of pourquoi and combien are in it"); got != "en" {
		t.Errorf("read as %q", got)
	}
}
