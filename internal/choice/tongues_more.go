package choice

import "slices"

// more are the languages of the rest of Europe, of the Middle East and of Asia.
var more = []tongue{
	{ // Finnish
		option: "vaihtoehto|vaihtoehdon|vaihtoehdolla|vaihtoehdot|suunnitelma|ratkaisu|numero|tapa", pick: "ota|otetaan|valitse|valitsen|käytä|kokeillaan|mennään|tehdään|tee|haluan|mieluummin", fill: "kiitos|se|on|niin|sitten|hyvä|kuulostaa hyvältä|minä|me|nyt",
		yes: "kyllä|joo|juu|ok|selvä|toki|tee niin|anna mennä|hyvä|sopii", neg: "ei|älä|paitsi|kaikki paitsi", and: "ja|sekä", or: "tai|vai", but: "mutta|ilman|koska|kanssa", hedge: "jos|ehkä|miksi|miten|mitä|mikä|kumpi|selitä|vertaa|riippuu",
		ordinals: "ensimmäinen|ensimmäisen;toinen|toisen;kolmas|kolmannen;neljäs|neljännen", numbers: "yksi;kaksi;kolme;neljä", last: "viimeinen|viimeisen", both: "molemmat|kumpikin", none: "ei mikään|ei mitään niistä", neither: "ei kumpikaan|ei kumpaakaan", all: "kaikki",
		former: "edellinen", latter: "jälkimmäinen|jälkimmäisen", many: "kuinka monta|montako|kuinka paljon|kuinka kauan|mikä portti|mikä versio", which: "kumpi|kumman|mikä|minkä|valitset", lead: "pitäisikö|haluatko|teenkö",
		decided: "päätimme|päätin|olemme päättäneet|olen päättänyt|sovimme|valitsimme|valitsin|valitsen", decision: "päätös|päätökset", open: "avoin|ei vielä",
	},
	{ // Hungarian
		option: "lehetőség|lehetőséget|opció|opciót|változat|megoldás|terv|szám|javaslat", pick: "legyen|válasszuk|választom|válaszd|használjuk|próbáljuk|vegyük|csináljuk|inkább|kérem|kérném|menjünk", fill: "kérlek|a|az|jó|jól hangzik|köszönöm|akkor|most|egy|is|és akkor",
		yes: "igen|oké|ok|rendben|persze|mehet|csináld|jó|jöhet", neg: "ne|nem|kivéve|mindent kivéve|sem", and: "és|meg|valamint", or: "vagy", but: "de|nélkül|mert|azonban|csak", hedge: "ha|talán|miért|hogyan|mi|melyik|melyiket|magyarázd|hasonlítsd|attól függ",
		ordinals: "első|elsőt|az elsőt;második|másodikat;harmadik|harmadikat;negyedik|negyediket", numbers: "egy;kettő;három;négy", last: "utolsó|utolsót", both: "mindkettő|mindkettőt|mind a kettő|mind a kettőt", none: "egyiket sem|semelyik|egyik sem|semelyiket", neither: "",
		all: "mind|mindet|összes|mindegyik|mindhárom", former: "előbbi|előbbit", latter: "utóbbi|utóbbit", many: "hány|mennyi|meddig|melyik port|melyik verzió", which: "melyik|melyiket|mit választ", lead: "akarod hogy|szeretnéd hogy|szeretnéd",
		decided: "úgy döntöttünk|úgy döntöttem|megállapodtunk|eldöntöttük|a … választottuk", decision: "döntés|döntések", open: "függőben|nincs",
	},
	{ // Romanian
		option: "opțiunea|opțiune|opțiuni|varianta|variantă|variante|soluția|planul|numărul|abordarea", pick: "mergem cu|hai cu|alege|aleg|alegem|folosește|prefer|vreau|mai bine|încearcă|fă|merg pe", fill: "te rog|vă rog|pe|cea|cel|de|din|e|este|bine|sună bine|mulțumesc|acum|atunci|pentru mine|o",
		yes: "da|sigur|bine|ok|dă-i drumul|desigur|perfect|de acord", neg: "nu|nici|în afară de|fără varianta", and: "și|plus|apoi", or: "sau|ori", but: "dar|însă|cu|fără|pentru că|deoarece", hedge: "dacă|poate|de ce|cum|ce|care|când|explică|compară|diferența|depinde",
		ordinals: "prima|primul|întâi;a doua|al doilea|doua;a treia|al treilea|treia;a patra|al patrulea", numbers: "unu|unul|una;doi|două;trei;patru", last: "ultima|ultimul", both: "ambele|amândouă|amândoi", none: "niciuna|niciunul|nici una|niciuna dintre ele", neither: "niciuna dintre cele două",
		all: "toate|toți|tot", former: "", latter: "", many: "câte|câți|cât|ce port|ce versiune", which: "care|pe care|ce alegi|preferi", lead: "vrei să|să|ar trebui să",
		decided: "am decis|am hotărât|am ales|am convenit|am stabilit|s-a decis", decision: "decizie|decizia|decizii|hotărâre", open: "în așteptare|niciuna",
	},
	{ // Turkish
		option: "seçenek|seçeneği|seçenekler|yaklaşım|yöntem|plan|çözüm|alternatif|numara|yol|öneri", pick: "seç|seçiyorum|seçelim|kullan|kullanalım|dene|deneyelim|yap|yapalım|istiyorum|tercih ederim|gidelim|devam edelim|olsun|alalım", fill: "lütfen|bence|o|olan|ile|iyi|bana uyar|teşekkürler|şimdi|bir|i|yi|ı|u|ü|si|de|da",
		yes: "evet|tamam|olur|tabii|elbette|yap|devam et|aynen|peki", neg: "değil|hariç|hayır|istemiyorum|olmasın", and: "ve|artı|sonra", or: "veya|ya da|yoksa", but: "ama|fakat|ancak|çünkü|için|olmadan", hedge: "eğer|belki|neden|nasıl|ne|hangi|hangisi|açıkla|karşılaştır|fark|bağlı",
		ordinals: "birinci|birincisi|birinciyi|ilk|ilki|ilkini;ikinci|ikincisi|ikinciyi;üçüncü|üçüncüsü|üçüncüyü;dördüncü|dördüncüsü", numbers: "bir;iki;üç;dört", last: "son|sonuncu|sonuncusu|sonuncuyu", both: "ikisi de|her ikisi|her ikisi de|ikisini de", none: "hiçbiri|hiçbirini|hiç biri", neither: "ikisi de değil|ikisi de olmasın",
		all: "hepsi|hepsini|tümü|tümünü", former: "önceki", latter: "sonraki", many: "kaç|ne kadar|kaç tane|hangi port|hangi sürüm", which: "hangisi|hangisini|hangi|tercih", lead: "ister misin|istiyor musun",
		within: "karar verdik|karar verdim|kararlaştırdık|kararlaştırdım|anlaştık|seçtik|seçtim", decision: "karar|kararlar|nihai karar", open: "beklemede|yok|gerekli",
	},
	{ // Russian and Ukrainian
		option: "вариант|варианта|варианту|вариантом|варианты|подход|подхода|способ|план|решение|номер|путь|пункт|опция|опцию|альтернатива|варіант|варіанту|спосіб",
		pick:   "давай|давайте|возьми|возьмём|возьмем|берём|берем|бери|выбери|выбираю|выберем|выбираем|сделай|сделаем|делаем|делай|используй|попробуем|попробуй|хочу|лучше|предпочитаю|я за|остановимся на|идём с|пойдём с|вибираю|беру|бери|зробимо|візьмемо|краще",
		fill:   "пожалуйста|это|так|тогда|ну|я|мы|нам|мне|просто|хорошо|звучит хорошо|подходит|спасибо|сейчас|пока|думаю|по-моему|с|на|будь ласка|дякую|то|же", yes: "да|ага|конечно|хорошо|ок|окей|давай|делай|согласен|согласна|годится|верно|поехали|так|добре|звісно|ладно",
		neg: "не|кроме|всё кроме|все кроме|нет|ни в коем случае|крім|ні", and: "и|плюс|а также|потом|затем|і|та", or: "или|либо|або|чи", but: "но|только|с|без|потому что|так как|для|однако|кроме того|а|але|бо",
		hedge:    "если|может|может быть|возможно|почему|зачем|как|что|какой|когда|ли|объясни|сравни|разница|зависит|не уверен|слишком|якщо|чому|сказал|сказала",
		ordinals: "первый|первая|первое|первого|первую|первым|первые|перший|перша|перше|першу;второй|вторая|второе|второго|вторую|вторым|другий|друга|друге|другу;третий|третья|третье|третью|третьего|третій|третя|третє;четвёртый|четвертый|четвертая|четвёртую|четвертий;пятый|пятая|пятую",
		numbers:  "один|одна|раз;два|две|дві;три;четыре|чотири;пять", last: "последний|последняя|последнее|последнюю|последние|останній|остання|останню", both: "оба|обе|обоих|и то и другое|обидва|обидві", none: "ни один|ни одного|ни одна|ни одной|ничего из этого|никакой|жоден|жодного|жодна",
		neither: "ни то ни другое|ни тот ни другой|ни один из двух|ни та ни другая", all: "все|всё|всі|усі", former: "первый из двух", latter: "последний из двух", many: "сколько|какой порт|какая версия|какую версию|какая строка|какой строке|секунд|минут|процентов|скільки",
		which: "какой|какая|какое|какую|какие|что выбираешь|что выбираете|что предпочитаешь|или|выбирай|выбери|який|яку|що обираєш", lead: "мне|нам|хочешь чтобы я|хотите чтобы я|ты хочешь|либо",
		decided:  "мы решили|я решил|я решила|решено|мы договорились|мы выбрали|я выбрал|я выбрала|мы остановились на|я выбираю|мы выбираем|ми вирішили|я вирішив|ми домовилися|решил|решила|решили",
		decision: "решение|решения|принятое решение|решено|рішення", open: "ожидается|нет|не принято|нужно",
	},
	{ // Hindi
		option: "विकल्प|तरीका|योजना|उपाय|नंबर", pick: "चुनो|चुनें|चुनता हूँ|लो|लें|करो|करें|चाहिए|इस्तेमाल करो|चलो|के साथ चलो", fill: "कृपया|वाला|वाली|को|है|ठीक है|मुझे|हम|तो|यह|वह|ही|के साथ|चलते हैं|से", yes: "हाँ|हां|जी|जी हाँ|ठीक है|करो|ठीक|बिल्कुल", neg: "नहीं|मत|के अलावा|न", and: "और|तथा", or: "या",
		but: "लेकिन|पर|मगर|बिना|क्योंकि", hedge: "अगर|यदि|शायद|क्यों|कैसे|क्या|कौन|कौन सा|समझाओ|तुलना", ordinals: "पहला|पहली|पहले;दूसरा|दूसरी|दूसरे;तीसरा|तीसरी|तीसरे;चौथा|चौथी", numbers: "एक;दो;तीन;चार", last: "आखिरी|अंतिम", both: "दोनों", none: "कोई नहीं|कोई भी नहीं|इनमें से कोई नहीं", neither: "दोनों नहीं",
		all: "सब|सभी|तीनों", many: "कितने|कितना|कितनी|कौन सा पोर्ट", which: "कौन|कौन सा|कौनसा|चुनेंगे", lead: "क्या मैं|क्या हम",
		within: "हमने तय किया|मैंने तय किया|हमने फैसला किया|मैंने फैसला किया|हमने निर्णय लिया|मैंने निर्णय लिया", decision: "निर्णय|फैसला|फ़ैसला", open: "लंबित|नहीं",
	},
	{ // Arabic
		option: "الخيار|خيار|البديل|بديل|الحل|الخطة|الطريقة|النهج|رقم|الاقتراح", pick: "اختر|أختار|لنختر|خذ|لنأخذ|استخدم|لنستخدم|جرب|لنجرب|أفضل|أريد|نفذ|امض مع|لنذهب مع|دعنا نجرب|دعنا نستخدم|اعتمد", fill: "من فضلك|رجاء|لو سمحت|هو|هي|هذا|ذلك|جيد|يبدو جيدا|شكرا|الآن|في|على|معا",
		yes: "نعم|أجل|حسنا|تمام|موافق|طبعا|أكيد|افعل|تفضل|ماشي", neg: "ليس|لا|لا تستخدم|ما عدا|باستثناء|كل شيء إلا|غير", and: "و|ثم|مع", or: "أو|أم", but: "لكن|ولكن|مع|بدون|لأن|بشرط", hedge: "إذا|ربما|لماذا|كيف|ما|ماذا|هل|متى|اشرح|قارن|الفرق|يعتمد",
		ordinals: "الأول|الأولى|أول|أولى;الثاني|الثانية|ثاني|ثانية;الثالث|الثالثة|ثالث;الرابع|الرابعة|رابع;الخامس|الخامسة", numbers: "واحد;اثنان|اثنين;ثلاثة;أربعة", last: "الأخير|الأخيرة|آخر واحد", both: "كلاهما|كليهما|كلتاهما|الاثنان|الاثنين|الاثنين معا|كلا الخيارين", none: "لا شيء|لا شيء منها|ولا واحد|ولا واحدة", neither: "لا هذا ولا ذاك|لا شيء منهما|ولا واحد منهما",
		all: "الكل|كلها|جميعها|كل الخيارات", former: "السابق", latter: "اللاحق", many: "كم|أي منفذ|ما المنفذ|أي إصدار", which: "أي|أيهما|أيها|ماذا تختار|تفضل|ما رأيك", lead: "هل تريد أن|هل أ|هل نستخدم|إما",
		decided: "قررنا|قررت|لقد قررنا|لقد قررت|اتفقنا|اخترنا|اخترت|لقد اتفقنا", decision: "القرار|قرار|القرارات", open: "معلق|لا يوجد|مطلوب",
	},
	{ // Persian
		option: "گزینه|گزینهٔ|گزینه ی|راه|روش|طرح|راه حل|شماره|پیشنهاد|رویکرد", pick: "انتخاب کن|انتخاب می کنم|انتخاب میکنم|بگیر|استفاده کن|برو با|با|امتحان کن|ترجیح می دهم|ترجیح میدهم|انجام بده|می خواهم|میخواهم", fill: "لطفا|لطفاً|را|رو|این|آن|است|خوب است|خوبه|ممنون|الان|همان|که|از",
		yes: "بله|آره|باشه|حتما|خوب|موافقم|انجام بده|برو", neg: "نه|نکن|به جز|به غیر از|جز", and: "و|سپس|بعد", or: "یا", but: "اما|ولی|با|بدون|چون", hedge: "اگر|شاید|چرا|چطور|چگونه|چه|کدام|آیا|توضیح|مقایسه|بستگی", ordinals: "اول|اولی|یکم|نخست;دوم|دومی|دومین;سوم|سومی|سومین;چهارم|چهارمی", numbers: "یک;دو;سه;چهار",
		last: "آخر|آخری|آخرین", both: "هر دو|هردو|دوتاش", none: "هیچکدام|هیچ کدام|هیچ یک|هیچکدوم", neither: "نه این نه آن", all: "همه|همه شان|همشون", former: "", latter: "", many: "چند|چقدر|چندتا|کدام پورت|کدام نسخه", which: "کدام|انتخاب|ترجیح", lead: "آیا|می خواهی|می خواهید",
		within: "تصمیم گرفتیم|تصمیم گرفتم|توافق کردیم|انتخاب کردیم|انتخاب کردم", decision: "تصمیم|تصمیم ها|تصمیم نهایی", open: "معلق|هیچ",
	},
	{ // Sorani Kurdish
		option: "بژاردە|بژاردەی|ڕێگا|ژمارە", pick: "هەڵبژێرە|بەکاربهێنە|بکە", fill: "تکایە|ئەوەی|سوپاس", yes: "بەڵێ|باشە", neg: "نا|نەخێر|جگە لە", and: "و", or: "یان", but: "بەڵام|بێ", hedge: "ئەگەر|بۆچی|چۆن|کام", ordinals: "یەکەم;دووەم;سێیەم;چوارەم", numbers: "یەک;دوو;سێ;چوار", last: "کۆتایی|دواین",
		both: "هەردوو|هەردووک|هەردووکیان", none: "هیچیان|هیچ", all: "هەموو|هەموویان", many: "چەند", which: "کام|کامە", decided: "بڕیارمان دا|بڕیارم دا", decision: "بڕیار",
	},
	{ // Catalan
		option: "opció|opcions|alternativa|enfocament|pla|solució|variant|número|proposta", pick: "anem amb|anem per|tria|trio|triem|fes servir|fem|prefereixo|vull|millor|em quedo amb|provem", fill: "si us plau|el|la|els|les|un|una|de|és|em|jo|bé|està bé|gràcies|ara|doncs", yes: "sí|d'acord|endavant|és clar|ok|perfecte|fes-ho|molt bé", neg: "no|ni|tret de|excepte", and: "i|més", or: "o", but: "però|amb|sense|perquè|per",
		hedge: "si|potser|per què|com|què|quin|quina|explica|compara|depèn", ordinals: "primera|primer;segona|segon;tercera|tercer;quarta|quart", numbers: "un;dos|dues;tres;quatre", last: "última|últim|darrera|darrer", both: "ambdues|ambdós|totes dues|tots dos|les dues", none: "cap|cap d'elles", neither: "cap de les dues|cap dels dos", all: "totes|tots|tot", many: "quants|quantes|quant|quin port|quina versió",
		which: "quina|quin|quines|què prefereixes|prefereixes", lead: "vols que|hauria de|puc", decided: "hem decidit|he decidit|vam decidir|hem acordat|hem triat|he triat", decision: "decisió|decisions", open: "pendent|cap",
	},
	{ // Galician
		option: "opción|opcións|alternativa|plan|solución|número", pick: "imos con|escollo|escolle|usa|prefiro|quero|mellor", fill: "por favor|o|a|de|é|ben|grazas|agora", yes: "si|vale|adiante|claro|de acordo", neg: "non|nin|agás", and: "e", or: "ou", but: "pero|con|sen|porque", hedge: "se|quizais|por que|como|cal", ordinals: "primeira|primeiro;segunda|segundo;terceira|terceiro", numbers: "un|unha;dous|dúas;tres",
		last: "última|último|derradeira", both: "ambas|ambos|as dúas|os dous", none: "ningunha|ningún", neither: "ningunha das dúas", all: "todas|todos|todo", many: "cantos|cantas|canto", which: "cal|prefires", lead: "queres que", decided: "decidimos|decidín|acordamos|escollemos", decision: "decisión|decisións",
	},
	{ // Polish
		option: "opcja|opcję|opcje|opcji|wariant|podejście|plan|rozwiązanie|numer|sposób|propozycja|alternatywa", pick: "weź|weźmy|wybieram|wybierz|wybierzmy|użyj|użyjmy|spróbujmy|spróbuj|zrób|zróbmy|wolę|chcę|lepiej|idziemy z|bierzemy|biorę", fill: "proszę|to|ta|ten|tę|jest|ja|my|dobrze|brzmi dobrze|dzięki|dziękuję|teraz|więc|może być|na|z|tylko",
		yes: "tak|jasne|ok|dobrze|dobra|pewnie|zrób to|zgoda|śmiało|działaj", neg: "nie|oprócz|wszystko oprócz|poza", and: "i|oraz|plus|potem|a potem", or: "lub|albo|czy", but: "ale|z|bez|bo|ponieważ|dla|tylko", hedge: "jeśli|może|dlaczego|jak|co|która|którą|kiedy|wyjaśnij|porównaj|różnica|zależy|za wolna|za wolny",
		ordinals: "pierwsza|pierwszy|pierwsze|pierwszą;druga|drugi|drugie|drugą;trzecia|trzeci|trzecią|trzecie;czwarta|czwarty|czwartą", numbers: "jeden|jedna|jedynka;dwa|dwie|dwójka;trzy;cztery", last: "ostatnia|ostatni|ostatnią", both: "obie|oba|oboje|obydwie", none: "żadna|żaden|żadne|żadnej|żadna z nich", neither: "żadna z dwóch|ani jedna ani druga",
		all: "wszystkie|wszystko", former: "", latter: "ta ostatnia", many: "ile|ilu|który port|jaki port|jaka wersja|sekund|minut", which: "którą|która|który|którego|co wybierasz|wolisz", lead: "czy mam|mam|chcesz żebym|czy", decided: "zdecydowaliśmy|zdecydowałem|zdecydowałam|postanowiliśmy|postanowiłem|uzgodniliśmy|wybraliśmy|wybrałem|wybieram", decision: "decyzja|decyzje|ustalono", open: "w toku|brak",
	},
	{ // Czech
		option: "možnost|možnosti|varianta|variantu|varianty|řešení|plán|číslo|přístup|způsob|návrh", pick: "vezmi|vezmeme|vyber|vybírám|vyberme|použij|zkus|zkusme|udělej|uděláme|raději|chci|bereme|beru|jdeme do", fill: "prosím|ta|ten|tu|to|je|já|my|dobře|zní dobře|díky|děkuji|teď|tak|na", yes: "ano|jo|jasně|ok|dobře|souhlasím|udělej to|určitě",
		neg: "ne|kromě|všechno kromě", and: "a|plus|potom", or: "nebo|či", but: "ale|s|bez|protože|pro|jen", hedge: "pokud|jestli|možná|proč|jak|co|která|kterou|vysvětli|porovnej|rozdíl|záleží", ordinals: "první;druhá|druhý|druhou|druhé;třetí;čtvrtá|čtvrtý|čtvrtou", numbers: "jedna|jedničku;dvě|dva|dvojku;tři;čtyři", last: "poslední", both: "obě|oba|obojí",
		none: "žádná|žádný|žádnou|žádné|nic z toho", neither: "ani jedna|ani jednu", all: "všechny|všechno|vše", many: "kolik|který port|jaká verze", which: "kterou|která|který|co vybereš|co bereme", lead: "mám|chceš abych|máme", decided: "rozhodli jsme|rozhodl jsem|rozhodla jsem|dohodli jsme se|vybrali jsme|vybral jsem|vybírám", decision: "rozhodnutí", open: "čeká|žádné",
	},
	{ // Croatian
		option: "opcija|opciju|mogućnost|varijanta|rješenje|plan|broj|način|prijedlog", pick: "uzmi|uzmimo|biram|odaberi|izaberi|koristi|probajmo|napravi|radije|želim|idemo s|ajmo s", fill: "molim|ta|taj|tu|to|je|ja|mi|dobro|zvuči dobro|hvala|sada|onda", yes: "da|može|ok|dobro|naravno|slažem se|u redu", neg: "ne|osim|sve osim", and: "i|te|plus|zatim", or: "ili", but: "ali|s|bez|jer|za|samo", hedge: "ako|možda|zašto|kako|što|koja|koju|objasni|usporedi|razlika|ovisi",
		ordinals: "prva|prvi|prvu|prvo;druga|drugi|drugu|drugo;treća|treći|treću;četvrta|četvrti", numbers: "jedan|jedna;dva|dvije;tri;četiri", last: "zadnja|zadnji|zadnju|posljednja|posljednji", both: "obje|oba|oboje", none: "nijedna|nijedan|nijednu|ništa od toga", neither: "ni jedna ni druga", all: "sve|svi|svu", many: "koliko|koji port|koja verzija", which: "koju|koja|koji|što biraš", lead: "trebam li|želiš li da|da li da",
		decided: "odlučili smo|odlučio sam|odlučila sam|dogovorili smo|izabrali smo|odabrao sam|odabrali smo", decision: "odluka|odluke",
	},
	{ // Bulgarian
		option: "вариант|опция|възможност|подход|план|решение|номер|начин|предложение", pick: "вземи|избери|избирам|избираме|използвай|опитай|направи|нека|искам|по-добре|предпочитам", fill: "моля|е|аз|ние|добре|звучи добре|благодаря|сега|тогава", yes: "да|добре|разбира се|давай|съгласен|ок", neg: "не|освен|без вариант", and: "и|плюс|после", or: "или", but: "но|с|без|защото|за|само", hedge: "ако|може би|защо|как|какво|кой|коя|обясни|сравни|зависи",
		ordinals: "първият|първия|първата|първи|първа|първото;вторият|втория|втората|втори|втора|второто;третият|третия|третата|трети|трета;четвъртият|четвъртата", numbers: "едно|един;две|два;три;четири", last: "последният|последния|последната|последен", both: "и двете|и двата|двете|двата", none: "никой|никоя|нито един|нито една|нищо от това", neither: "нито едното нито другото", all: "всички|всичко",
		many: "колко|кой порт|коя версия", which: "кой|коя|кое|какво избираш|предпочиташ", lead: "да|искаш ли да", decided: "решихме|реших|разбрахме се|избрахме|избрах", decision: "решение|решения",
	},
	{ // Greek
		option: "επιλογή|επιλογές|λύση|προσέγγιση|σχέδιο|εναλλακτική|αριθμός|τρόπος|πρόταση", pick: "πάμε με|διάλεξε|διαλέγω|επιλέγω|χρησιμοποίησε|δοκίμασε|κάνε|προτιμώ|θέλω|καλύτερα|πάρε", fill: "παρακαλώ|η|ο|το|την|τον|τη|τα|οι|είναι|εγώ|εμείς|καλά|ακούγεται καλό|ευχαριστώ|τώρα|λοιπόν|με", yes: "ναι|εντάξει|οκ|βεβαίως|προχώρα|συμφωνώ|κάν' το|φυσικά", neg: "όχι|δεν|μη|εκτός από|όλα εκτός", and: "και|συν|μετά", or: "ή|είτε",
		but: "αλλά|με|χωρίς|γιατί|επειδή|για|μόνο", hedge: "αν|ίσως|πώς|τι|ποια|ποιο|πότε|εξήγησε|σύγκρινε|διαφορά|εξαρτάται", ordinals: "πρώτη|πρώτο|πρώτος|πρώτον;δεύτερη|δεύτερο|δεύτερος;τρίτη|τρίτο|τρίτος;τέταρτη|τέταρτο", numbers: "ένα|μία;δύο|δυο;τρία|τρεις;τέσσερα", last: "τελευταία|τελευταίο|τελευταίος", both: "και τα δύο|και τα δυο|και οι δύο|και τις δύο", none: "κανένα|καμία|κανένας|τίποτα από αυτά", neither: "κανένα από τα δύο|ούτε το ένα ούτε το άλλο", all: "όλα|όλες|όλους|και τα τρία",
		many: "πόσα|πόσες|πόσο|πόσους|ποια θύρα|ποια έκδοση", which: "ποια|ποιο|ποιον|τι προτιμάς|προτιμάς", lead: "να|θέλεις να", decided: "αποφασίσαμε|αποφάσισα|έχουμε αποφασίσει|συμφωνήσαμε|επιλέξαμε|επέλεξα", decision: "απόφαση|αποφάσεις", open: "εκκρεμεί|καμία",
	},
	{ // Armenian
		option: "տարբերակ|տարբերակը|լուծում|պլան", pick: "ընտրում եմ|ընտրիր|վերցրու|արա|ուզում եմ", fill: "խնդրում եմ|լավ|շնորհակալություն|է", yes: "այո|լավ|իհարկե|համաձայն եմ", neg: "ոչ|բացի", and: "և|ու", or: "կամ", but: "բայց|առանց|որովհետև", hedge: "եթե|գուցե|ինչու|ինչպես|որ", ordinals: "առաջին|առաջինը;երկրորդ|երկրորդը;երրորդ|երրորդը", numbers: "մեկ;երկու;երեք", last: "վերջին|վերջինը", both: "երկուսն էլ|երկուսը", none: "ոչ մեկը", all: "բոլորը", many: "քանի|որքան", which: "որը|որն|ո՞րը",
		decided: "մենք որոշեցինք|որոշեցինք|որոշեցի", decision: "որոշում",
	},
	{ // Basque
		option: "aukera|aukerak|plana|irtenbidea|zenbakia", pick: "hartu|aukeratu|nahi dut|erabili|egin|hobe", fill: "mesedez|da|ondo|eskerrik asko|orain|zenbakia", yes: "bai|ados|ondo|aurrera|noski", neg: "ez|izan ezik", and: "eta", or: "edo|ala", but: "baina|gabe", hedge: "agian|zergatik|nola|zer|zein", ordinals: "lehena|lehenengoa|lehen|lehenengo;bigarrena|bigarren;hirugarrena|hirugarren", numbers: "bat;bi;hiru", last: "azkena", both: "biak|bi-biak", none: "bat ere ez|bakar bat ere ez", all: "denak|guztiak", many: "zenbat", which: "zein|zer nahiago",
		decided: "erabaki dugu|erabaki dut|adostu dugu|aukeratu dugu", decision: "erabakia|erabakiak",
	},
	{ // Irish
		option: "rogha|roghanna|plean|uimhir|réiteach", pick: "tóg|roghnaigh|úsáid|déan|is fearr liom|ba mhaith liom", fill: "le do thoil|an|ceann|na|maith|go raibh maith agat|anois", yes: "tá|sea|ceart go leor|ar aghaidh|cinnte", neg: "ná|ní|seachas", and: "agus", or: "nó", but: "ach|gan|mar", hedge: "má|b'fhéidir|cén fáth|conas|cad|cé acu", ordinals: "chéad|an chéad cheann;dara|an dara ceann;tríú|an tríú ceann", numbers: "aon|a haon;dó|a dó;trí|a trí", last: "deireanach|an ceann deireanach", both: "an dá cheann|iad araon", none: "ceann ar bith|aon cheann acu", all: "gach ceann|iad go léir",
		many: "cé mhéad|cá mhéad", which: "cé acu|cén ceann", decided: "shocraíomar|chinneamar|shocraigh mé|chinn mé", decision: "cinneadh|cinntí",
	},
	{ // Indonesian
		option: "opsi|pilihan|alternatif|rencana|solusi|cara|nomor|pendekatan|usulan", pick: "pilih|saya pilih|kita pilih|pakai|gunakan|coba|ambil|lakukan|lebih baik|saya mau|mau|lanjut dengan|lanjutkan dengan|kita pakai", fill: "tolong|yang|itu|ini|saja|saya|kita|aja|dulu|bagus|terdengar bagus|terima kasih|sekarang|deh|ya", yes: "ya|iya|oke|ok|boleh|silakan|setuju|baik|lanjutkan|tentu", neg: "bukan|tidak|jangan|kecuali|semua kecuali", and: "dan|serta|lalu|kemudian",
		or: "atau", but: "tapi|tetapi|dengan|tanpa|karena|untuk", hedge: "jika|kalau|mungkin|kenapa|mengapa|bagaimana|apa|jelaskan|bandingkan|beda|tergantung", ordinals: "pertama|kesatu;kedua;ketiga;keempat;kelima", numbers: "satu;dua;tiga;empat", last: "terakhir", both: "keduanya|dua-duanya|kedua-duanya", none: "tidak satupun|tidak ada|bukan semuanya", neither: "tidak keduanya|bukan keduanya", all: "semua|semuanya|ketiganya",
		many: "berapa|port mana|versi mana", which: "yang mana|pilih|mana", lead: "apakah saya|haruskah saya|mau saya", decided: "kami memutuskan|kita memutuskan|saya memutuskan|kami sepakat|kita sepakat|kami memilih|saya memilih|kami telah memutuskan|kita telah memutuskan", decision: "keputusan", open: "menunggu|belum|tidak ada",
	},
	{ // Vietnamese
		option: "phương án|lựa chọn|tùy chọn|cách|kế hoạch|giải pháp|số|đề xuất", pick: "chọn|tôi chọn|mình chọn|dùng|lấy|làm|thử|tôi muốn|mình muốn|đi với|theo|làm theo", fill: "cái|nhé|nha|đi|đó|này|là|tôi|mình|thì|vậy|thôi|giúp|cho|ạ|nhá|với|ổn|nghe ổn|cảm ơn|bây giờ|trước", yes: "vâng|ừ|được|đồng ý|ok|có|làm đi|đúng|dạ|tiến hành đi", neg: "không|đừng|trừ|ngoại trừ", and: "và|rồi|cùng với", or: "hoặc|hay",
		but: "nhưng|với|không có|vì|để|mà không", hedge: "nếu|có lẽ|tại sao|vì sao|thế nào|gì|nào|khi nào|giải thích|so sánh|khác nhau|tùy", ordinals: "thứ nhất|đầu tiên|đầu;thứ hai|thứ nhì;thứ ba;thứ tư;thứ năm", numbers: "một;hai;ba;bốn", last: "cuối cùng|cuối|sau cùng", both: "cả hai|cả 2", none: "không cái nào|không phương án nào|không chọn cái nào", neither: "không cái nào trong hai", all: "tất cả|cả ba|hết",
		former: "cái trước", latter: "cái sau", many: "bao nhiêu|mấy|cổng nào|phiên bản nào", which: "nào|chọn|muốn", lead: "tôi nên|bạn có muốn tôi", decided: "chúng tôi đã quyết định|chúng ta đã quyết định|tôi đã quyết định|tôi quyết định|chúng tôi quyết định|chúng ta quyết định|chúng ta đã thống nhất|chúng tôi đã thống nhất|đã quyết định|tôi chọn|chúng tôi chọn", decision: "quyết định", open: "đang chờ|chưa có",
	},
	{ // Chinese
		option: "方案|选项|選項|办法|方法|方式|计划|路线|思路|号|第|策略|建议|做法|种|個|个", pick: "选择|選擇|我选择|我选|我選|选|選|用|就用|采用|走|试试|试|要|我要|做|先做|再做|按|按照|倾向|觉得|以|拿|来|使用", kill: "如果你|要是你|随便|接下来|下一步|还有什么|还有别的", fill: "吧|的|了|请|就|那|那就|我|我们|咱们|这|先|是|好了|可以|好|行|没问题|更好|比较好|谢谢|嗯|一下|看看|这个|那个|项|条|款|呗|哈|啊|呢|一个",
		yes: "好的|好|可以|行|是的|是|对|没问题|同意|就这样|继续|嗯|开始吧|做吧|当然|没错|就这么办|ok", neg: "不要|别用|别选|不选|不用|除了|别|不是|不", and: "和|跟|与|以及|加上|加|再|及|然后", or: "或者|或|还是", but: "但是|但|不过|只是|然而|因为|并且|同时|如果可以",
		hedge: "如果|假如|要是|也许|可能|为什么|为何|怎么|什么|哪|解释|说明|对比|比较一下|区别|取决|不确定|吗|太|多少|说过|能不能", ordinals: "第一|首个|头一;第二;第三;第四;第五;第六", numbers: "一;二|两|兩;三;四;五;六", last: "最后一个|最后|最后那个|最後一個", both: "两个都要|两个都做|两者都要|两个都|两者|都要|两种都要|兩個都要|都做", none: "都不要|都不行|都不选|都不好|一个都不要|哪个都不要|都别|全都不要|都不用",
		neither: "两个都不要|两个都不行|两者都不", all: "全部|全都要|全都|所有|三个都要|都要|都做", firstTwo: "前两个|前兩個|前两项|前两种|前二个|前2个", former: "前者", latter: "后者|後者", many: "多少|几个|几次|几秒|多久|多大|哪个端口|什么端口|哪个版本|哪一行", which: "哪个|哪一个|哪种|哪|请选择|还是|选择|倾向|怎么选", lead: "要我|我应该|你想让我|是要",
		decided: "我们决定|我决定|我们已决定|我们已经决定|我已决定|我们商定|我们同意|我们选择|我选择|我们選擇|我們決定|最终决定|决定采用|我们确定|我们选定", decision: "决定|决策|决议|最终决定|技术选型决策|技术决策|決定|決策|架构决策", open: "待定|无|未定|没有|待讨论",
	},
	{ // Japanese
		option: "案|方法|選択肢|オプション|プラン|方式|番目|番|つ目|個目|アプローチ|パターン|候補|手", pick: "選ぶ|選びます|選んで|使って|使う|にする|にします|にして|にしましょう|でいきましょう|で行きましょう|でいこう|で行こう|試して|試しましょう|やって|進めて|採用|希望|がいい|が良い|のほうが|の方が|進めましょう",
		kill: "次は何|他に", fill: "で|に|を|は|が|の|も|と|お願いします|おねがいします|お願い|ください|いいです|良いです|いい|良い|です|ます|それ|これ|じゃあ|では|そう|思います|だと|して|しましょう|します|する|方|ほう|よ|ね|かな|まず|ありがとう|ございます|な|まして|も", yes: "はい|うん|ええ|了解|わかりました|お願いします|それで|いいよ|大丈夫|もちろん|そうしてください|進めてください",
		neg: "以外|ではなく|じゃなく|いらない|やめて|なし|ないで", and: "と|および|及び|そして|次に", or: "または|もしくは|それとも|か", but: "ただし|でも|けど|しかし|なしで|なので|だから|ただ|ので", hedge: "もし|たぶん|なぜ|どうして|どう|何|どの|教えて|説明|比較|違い|場合|ですか|ますか|遅|重",
		ordinals: "最初|一番目|一つ目|ひとつ目|第一;二番目|二つ目|ふたつ目|第二;三番目|三つ目|みっつ目|第三;四番目|四つ目|第四", numbers: "一;二;三;四;五", last: "最後", both: "両方|両方とも|どちらも|二つとも|どっちも", none: "どれもいらない|どれもやらない|どれも違う|全部いらない|どれでもない|どれもなし", neither: "どちらもいらない|どちらでもない|どっちもいらない|どちらもやらない|両方いらない", all: "全部|すべて|全て",
		firstTwo: "最初の二つ|最初の2つ|上の二つ|前の二つ", former: "前者", latter: "後者", many: "いくつ|何回|何秒|何個|何分|どのポート|どのバージョン|何行|どれくらい", which: "どちら|どれ|どの|どっち|選んで", lead: "", within: "ことにしました|ことに決めました|ことにします|に決定しました|に決めました|を採用します|を採用しました|ことで合意しました|ことになりました", decision: "決定|決定事項|最終決定|方針決定", open: "未定|なし|保留",
	},
	{ // Korean
		option: "방안|옵션|선택지|방법|계획|안|번째|번|대안|접근|제안", pick: "선택|사용|써|쓰자|쓰죠|하자|합시다|해줘|해주세요|진행|가자|가죠|갑시다|갈게요|할게요|하죠|해|골라|원해|원합니다|좋겠|하고 싶|시도", fill: "으로|로|을|를|이|가|은|는|요|에|의|주세요|부탁|드려요|드립니다|합니다|해요|해|걸|거|것|게|그|저|우리|좋아요|좋아|좋습니다|좋네요|그럼|그냥|일단|네|감사|입니다|이요|시다|도|할|게요|니다|고|습니다|주|세|지|두|개",
		yes: "네|예|응|그래|좋아요|좋아|좋습니다|그렇게 해주세요|알겠습니다|진행해주세요|진행해|당연|물론|ㅇㅇ", neg: "말고|빼고|제외|아니라|하지 마|아니", and: "하고|와|과|그리고|랑|및|다음", or: "또는|아니면|이나|거나|혹은", but: "하지만|그런데|단|다만|없이|대신|때문|지만|그래도", hedge: "만약|면|아마|왜|어떻게|무엇|뭐|어떤|설명|비교|차이|느려|너무|까요|나요|생각해",
		ordinals: "첫 번째|첫번째|첫째|첫;두 번째|두번째|둘째;세 번째|세번째|셋째;네 번째|네번째|넷째", numbers: "일|하나;이|둘;삼|셋;사|넷", last: "마지막", both: "둘 다|둘다|두 개 다|두개 다|양쪽 다|양쪽", none: "아무것도|모두 아니|다 아니|전부 아니|하나도", neither: "둘 다 아니|둘다 아니|둘 다 싫|둘 다 필요 없|둘 다 말고", all: "전부|모두|모든|다",
		firstTwo: "처음 두 개|앞의 두 개|앞 두 개|처음 둘", former: "전자", latter: "후자", many: "몇 번|몇 개|몇|얼마|어느 포트|어떤 버전|몇 초", which: "어느|어떤|무엇|선택|할까요", lead: "", within: "기로 했습니다|기로 결정했습니다|기로 결정했어요|기로 했어요|기로 정했습니다|기로 합의했습니다|을 선택했습니다|를 선택했습니다", decision: "결정|결정사항|결정 사항|최종 결정", open: "미정|없음|보류",
	},
	{ // Thai
		option: "ตัวเลือกที่|ตัวเลือก|ทางเลือกที่|ทางเลือก|ข้อที่|ข้อ|แบบที่|แบบ|วิธีที่|วิธี|แผน|หมายเลข|อันที่|อัน|เบอร์", pick: "เลือก|เอา|ใช้|ลอง|ทำ|ขอ|อยากได้|ไปกับ", fill: "ครับ|ค่ะ|คะ|นะ|เลย|ก็|ก่อน|ได้|ดี|ผม|ฉัน|เรา|แล้วกัน|ละกัน|ขอบคุณ|ก็ได้|ๆ", yes: "ใช่|ตกลง|ได้|โอเค|ครับ|ค่ะ|ทำเลย|เอาเลย", neg: "ไม่เอา|ยกเว้น|อย่า|ไม่ใช่|ไม่", and: "และ|กับ|แล้วก็", or: "หรือ", but: "แต่|โดย|เพราะ|พร้อม", hedge: "ถ้า|อาจ|ทำไม|อย่างไร|ยังไง|อะไร|ไหน|อธิบาย|เปรียบเทียบ|ขึ้นอยู่",
		ordinals: "แรก|ที่หนึ่ง;ที่สอง;ที่สาม;ที่สี่", numbers: "หนึ่ง;สอง;สาม;สี่", last: "สุดท้าย", both: "ทั้งสอง|ทั้งสองอย่าง|ทั้งคู่", none: "ไม่เอาเลย|ไม่เอาทั้งหมด|ไม่มีข้อไหน", neither: "ไม่เอาทั้งสอง|ไม่เอาทั้งคู่|ไม่ทั้งสอง", all: "ทั้งหมด|ทุกข้อ|ทั้งสาม", many: "กี่|เท่าไร|เท่าไหร่|พอร์ตไหน|เวอร์ชันไหน", which: "ไหน|อันไหน|แบบไหน|เลือก", lead: "", decided: "เราตัดสินใจ|ผมตัดสินใจ|ฉันตัดสินใจ|เราได้ตัดสินใจ|เราตกลง|เราเลือก", decision: "การตัดสินใจ|ข้อสรุปการตัดสินใจ|มติ", open: "รอ|ไม่มี",
	},
}

// tongues are the languages of package index/analysis that write words.
var tongues = slices.Concat(western, more)
