package analysis

import (
	"slices"
	"strings"
)

// ownStops are function words of languages whose bleve packages need a module that
// is not among ours.
var ownStops = map[string]string{
	"ar": "في من على إلى عن مع هذا هذه ذلك تلك التي الذي الذين ما ماذا متى أين كيف كم هل لماذا هو هي هم نحن أنا أنت كان كانت يكون قد ثم أو أم أن إن لا لم لن " +
		"كل بعد قبل عند أي بين منذ حتى لكن كما إذا غير يتم و ف ب ل",
	"fa": "در از به با که را این آن و یا تا برای است بود شد شده می هم یک چه کی کجا چرا چگونه آیا ما من تو او شما آنها اگر اما پس هر همه بر نه دیگر باید",
	"vi": "và là của có không được cho trong với một những các này đó khi ở đã sẽ đang bị do từ đến lúc thì mà nào gì ai đâu sao bao nhiêu mấy vì nếu để ra vào lên " +
		"tôi bạn rồi nên cũng như hay hoặc tại về trên dưới theo bằng thế cái con người việc",
	"pl": "i w na z do nie się że jest są był była było to ten ta te co jak kto kiedy gdzie dlaczego czy o od po za dla przez przy ale lub oraz ma mają już tylko " +
		"jego jej ich który która które ile jaki jaka jakie",
}

// Affixes of Arabic that a light stemmer takes off, the longest first, in the spelling that lower
// gives them: the article with the particles that are written together with it, and the endings
// of number, gender and possession. The choice of affixes is that of light10 (Larkey, Ballesteros
// and Connell 2007).
var (
	arabicPrefixes = []string{"وال", "بال", "كال", "فال", "ال", "لل"}
	arabicSuffixes = []string{"ها", "ان", "ات", "ون", "ين", "يه", "ه", "ي"}
)

// lightArabic takes prefixes and suffixes off a word, as long as two letters
// remain of a prefix's rest and of a suffix's.
func lightArabic(w string) string {
	const least = 2
	r := []rune(w)
	if len(r) > 3 && r[0] == 'و' {
		r = r[1:]
	}
	for _, p := range arabicPrefixes {
		if cut := []rune(p); len(r) >= len(cut)+least && slices.Equal(r[:len(cut)], cut) {
			r = r[len(cut):]
			break
		}
	}
	for _, s := range arabicSuffixes {
		if cut := []rune(s); len(r) >= len(cut)+least && strings.HasSuffix(string(r), s) {
			r = r[:len(r)-len(cut)]
		}
	}
	return string(r)
}
