package choice

// tongue holds the words of one language by which people answer and agents state decisions.
// Phrases are separated by "|", written in small letters, and found without their accents,
// too.
type tongue struct {
	// option names what is offered ("option 2"), points points at one of several ("the
	// second", "both"), and pick begins a choice ("go with").
	option, points, pick string
	// fill adds nothing of its own, kill begins something else, and hedge takes a choice
	// back: conditions, doubts, questions.
	fill, kill, hedge      string
	yes, neg, and, or, but string
	// which asks for one of several.
	which string
	// decided begins a sentence that states a decision, "…" in it matching any words;
	// within is anywhere in such a sentence.
	decided, within string
	// decision is a label before a decision; open follows the label if nothing was decided.
	decision, open string
}

// western are the languages of Western Europe.
var western = []tongue{
	{ // English
		option: "option|options|approach|plan|alternative|choice|choose|variant|solution|number|path|route|way|strategy|idea|scenario|design|version|proposal|suggestion|answer|item|method",
		pick:   "let's|lets|go with|going with|go for|going for|let's go with|let's try|let's do|let's use|let's take|let's pick|lets go with|lets try|lets do|lets use|try|take|use|pick|choose|chose|select|do|i choose|i pick|i prefer|prefer|i vote|vote for|i want|want|i'd like|i'd prefer|i'd go with|i'd say|i would say|i'll take|i'd take|start with|proceed with|stick with|i like|implement|run with|make it|opt for|say|leaning towards",
		fill:   "please|pls|it's|that's|the|a|an|one|ones|that|this|it|is|i|i'd|i'll|let's|lets|let|us|we|we'll|me|my|would|could|can|should|shall|will|so|well|hmm|then|now|for now|first and foremost|just|only|really|definitely|rather|actually|think|i think|guess|sounds good|looks good|sounds great|look good|sound good|is fine|is good|is best|is better|works|works for me|is ok|best|seems best|seems fine|seems good|thanks|thank you|cheers|great|perfect|of|of them|of these|of those|of the two|here|my favourite|as you suggested|as proposed|it is|by all means|again|go|at once|to be|to", kill: "whatever|whichever|what you prefer|what you choose|if you|what's next|what next|what else|anything else|first of all|at first|first things first|all right then what|to do both is|a bit of",
		yes: "yes|looks good|look good|everything works|all works|it works|yes please|yep|yeah|yup|sure|ok|okay|go ahead|do it|please do|sounds good|all good|all right|alright|go for it|absolutely|of course|agreed|fine|proceed|make it so|ship it|lgtm|correct|right|exactly|sure thing|please proceed|good|that works|works for me|perfect|great|do that|yes do it|all set|all done", neg: "nah|nope|not|don't|dont|do not|doesn't|won't|never|no|anything but|everything but|all but|everything except|all except|anything except|except|skip|drop the idea of|rather not|won't work|isn't|is not|cannot|can't|nor",
		and: "and|plus|as well as|and then|along with|followed by|together with|first and then|then", or: "or", but: "but|with|without|because|since|for|as|except that|just with|only with|however|though|although|minus|instead of|so that|over|in|on|at|using|if possible",
		hedge:    "too|if|unless|maybe|perhaps|might|why|how|what|what's|when|which|who|whether|explain|compare|difference|tell me|more about|about|depends|not sure|unsure|not convinced|either|tried|said|says|told|asked|wrote|mentioned|would have|used to|instead|until|before|have you|did you|is there|does|wonder|wondering|describe|show me|hypothetically",
		points:   "first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|one|two|three|four|five|six|seven|eight|nine|last|final|both|both of them|the two|none|none of them|none of these|none of those|none of the above|nothing of that|not any|neither|neither of them|neither one|all|all of them|all of these|all of those|everything|every one|all of the above|former|latter",
		which:    "which|what|prefer|choose|pick|want|like|your call|or|either|tell me|let me know|preference|decide",
		decided:  "we decided|let's go with|the decision is to|my decision is to|i decided|we have decided|i have decided|we've decided|i've decided|we agreed|we have agreed|we've agreed|i'll go with|i will go with|we'll go with|we will go with|i'm going with|i am going with|we're going with|going with|we settled on|i settled on|we've settled on|i have chosen|i've chosen|i chose|we chose|we have chosen|we opted for|i opted for|i've opted for|it was decided|it is decided|decided to",
		decision: "decision|decisions|key decision|key decisions|final decision|final decisions|architecture decision|architecture decisions|technical decision|technical decisions|design decision|design decisions|decision made|decisions made|decided|agreed", open: "pending|none|needed|tbd|open|unknown|n/a|not yet|required|to be|none yet|awaiting|your call|up to you",
	},
	{ // German
		option: "option|variante|ansatz|lösung|alternative|möglichkeit|plan|nummer|weg|vorschlag|version|wahl|punkt|methode|nr",
		pick:   "nimm|nehmen|wir nehmen|nehmen wir|ich nehme|mach|machen wir|machen|mach mal|lass uns|probieren|versuchen wir|versuch|wähle|ich wähle|wir wählen|ich bin für|bin für|dann|lieber|ich bevorzuge|ich will|ich möchte|gehen wir mit|wir gehen mit|benutze|benutz|verwende|entscheide mich für|ich entscheide mich für|bitte mit|weiter mit|fang mit",
		fill:   "bitte|die|der|das|den|dem|des|ein|eine|einen|einer|doch|mal|ich|wir|uns|es|ist|von|davon|von den|an|gut|klingt gut|passt|wäre gut|am besten|besser|danke|gerne|gern|also|mit|für mich|jetzt|erstmal|würde|nehmen|sagen|eher|wohl|ok|zuerst|so", kill: "was immer|was du|was sie|wenn du|wenn sie|falls du|falls sie|was nun|was als nächstes|sonst noch|zuerst einmal|erst mal",
		yes: "ja|ja bitte|jawohl|klar|okay|mach das|mach es|gut so|einverstanden|genau|passt|in ordnung|los|leg los|machen wir so|so machen wir es|gerne|sicher", neg: "nicht|kein|keine|keinen|keinesfalls|nie|alles außer|alles ausser|ausser|außer|bloß nicht|nur nicht",
		and: "und|sowie|dann", or: "oder", but: "aber|jedoch|mit|ohne|weil|da|denn|für|allerdings|nur ohne|nur mit|statt",
		hedge:    "zu|wenn|falls|vielleicht|warum|wieso|was|wie|welche|ob|erkläre|vergleiche|unterschied|kommt darauf an|unsicher|mir zu|sofern|hast du|gesagt|sagte",
		points:   "erste|ersten|erster|erstes|die eins|zweite|zweiten|zweiter|zweites|dritte|dritten|dritter|drittes|vierte|vierten|fünfte|fünften|eins|zwei|drei|vier|fünf|letzte|letzten|letzter|letztere von allen|letztes|beide|beides|alle beide|alle zwei|keine|keinen|keins|keines|nichts davon|keine davon|keins davon|gar keine|keine von beiden|keins von beiden|keinen von beiden|weder noch|keines von beiden|alle|alles|allesamt|alle davon|erstere|ersteres|ersteren|letztere|letzteres|letzteren|die ersten beiden|die beiden ersten|ersten beiden|beiden ersten|ersten zwei",
		which:    "welche|welcher|welches|welchen|was meinst du|was willst du|was möchtest|lieber|oder|entscheide|wähle",
		decided:  "wir haben … entschieden|ich habe … entschieden|wir haben … beschlossen|ich habe … beschlossen|wir haben uns … geeinigt|wir entscheiden uns für|ich entscheide mich für|ich nehme|wir nehmen|wir haben entschieden|wir haben beschlossen|ich habe mich … entschieden|beschlossen ist|ich habe … gewählt",
		decision: "entscheidung|entscheidungen|beschluss|beschlossen|entschieden", open: "offen|keine|steht aus|nötig|ausstehend",
	},
	{ // French
		option: "option|options|approche|solution|alternative|choix|plan|variante|numéro|piste|proposition|méthode|possibilité|n",
		pick:   "prends|prenons|prendre|on prend|je prends|choisis|je choisis|on choisit|va pour|allons-y pour|allons y pour|allons pour|partons sur|pars sur|on part sur|je préfère|préfère|utilise|utilisons|fais|faisons|essaie|essayons|plutôt|je veux|on fait|je vote pour|optons pour|avec",
		fill:   "s'il te plaît|s'il vous plaît|stp|svp|le|la|les|l|un|une|celle|celui|du|de|d|des|ce|c|c'est|c'est bon|est|je|j|on|nous|alors|donc|bien|bon|me va|me convient|semble mieux|est mieux|merci|pour moi|ici|y|deux options|à|au", kill: "ce que tu|ce que vous|si tu|si vous|et maintenant|quoi d'autre|autre chose|tout d'abord|d'abord",
		yes: "oui|ouais|d'accord|vas-y|vas y|allez-y|ok|bien sûr|parfait|fais-le|fais le|allons-y|entendu|ça marche|ça me va|très bien|exact|volontiers", neg: "pas|ne|sauf|tout sauf|jamais|surtout pas|non",
		and: "et|ainsi que|puis|et puis|plus", or: "ou|ou bien", but: "mais|avec|sans|car|parce que|pour|cependant|sauf que|puisque|en",
		hedge:    "si|peut-être|pourquoi|comment|que|quel|quelle|qu'est-ce|explique|compare|différence|ça dépend|pas sûr|trop|as-tu|dit",
		points:   "première|premier|deuxième|second|seconde|troisième|quatrième|cinquième|un|deux|trois|quatre|cinq|dernière|dernier|les deux|toutes les deux|tous les deux|les deux options|aucune|aucun|aucune des options|rien de tout ça|ni l'une ni l'autre|ni l'un ni l'autre|aucune des deux|aucun des deux|toutes|tous|tout|toutes les options|celle-là d'abord|celle-ci|cette dernière|ce dernier|les deux premières|les deux premiers|deux premières|deux premiers",
		which:    "laquelle|lequel|quelle|quel|que choisis|préfères|préférez|ou|dites-moi|dis-moi",
		decided:  "nous avons décidé|on a décidé|j'ai décidé|nous avons convenu|nous sommes convenus|j'ai choisi|nous avons choisi|on a choisi|je pars sur|on part sur|il a été décidé|je retiens|nous retenons|on s'est mis d'accord",
		decision: "décision|décisions|décision finale|décidé", open: "en attente|aucune|à prendre|requise",
	},
	{ // Spanish
		option: "opción|opciones|alternativa|enfoque|plan|solución|variante|número|vía|propuesta|método|posibilidad|camino",
		pick:   "vamos con|vamos a por|vamos por|elige|elijo|escoge|escojo|usa|usemos|usar|toma|probemos|prueba|haz|hagamos|prefiero|me quedo con|quiero|mejor|voto por|sigue con|ve con|optemos por",
		fill:   "por favor|porfa|el|la|lo|los|las|un|una|uno|de|del|que|es|me|yo|nos|creo|pues|entonces|bien|me gusta|me gusta más|está bien|parece bien|suena bien|gracias|ahora|para mí|mí|vale|a|o", kill: "primero de todo|en primer lugar",
		yes: "sí|si|vale|claro|dale|adelante|hazlo|de acuerdo|ok|perfecto|por supuesto|procede|bueno|exacto|está bien|genial", neg: "no|ni|menos|salvo|excepto|todo menos|nunca",
		and: "y|e|además de|más|junto con|luego|y luego", or: "o|u|o bien", but: "pero|con|sin|porque|ya que|para|aunque|salvo que|solo que|pues",
		hedge:    "demasiado|muy|si|quizás|quizá|tal vez|por qué|cómo|qué|cuál|cuándo|explica|compara|diferencia|depende|no estoy|dijo|dijiste|funciona mal",
		points:   "primera|primero|primer|segunda|segundo|tercera|tercero|tercer|cuarta|cuarto|quinta|quinto|uno|dos|tres|cuatro|cinco|última|último|ambas|ambos|las dos|los dos|las dos opciones|ninguna|ninguno|ninguna de ellas|ninguna de las opciones|nada de eso|ninguna de las dos|ninguno de los dos|ni una ni otra|ni uno ni otro|todas|todos|todo|todas ellas|las tres|los tres|aquella|esta última|este último|las dos primeras|los dos primeros|las primeras dos|los primeros dos|dos primeras",
		which:    "cuál|cuáles|qué|prefieres|prefiere|eliges|o|dime|dígame",
		decided:  "hemos decidido|he decidido|decidimos|decidí|hemos acordado|acordamos|hemos elegido|he elegido|elegimos|elegí|optamos por|he optado por|hemos optado por|se decidió|me quedo con|nos quedamos con|voy con|vamos con",
		decision: "decisión|decisiones|decisión final|decidido|acuerdo", open: "pendiente|ninguna|por tomar|necesaria",
	},
	{ // Portuguese
		option: "opção|opções|alternativa|abordagem|plano|solução|variante|número|caminho|proposta|método|possibilidade",
		pick:   "vamos com|vamos de|vamos pela|vamos pelo|escolho|escolhe|escolha|usa|use|usemos|usar|pega|prefiro|fico com|quero|melhor|tenta|faz|faça|segue com|voto na|vai com|vai de",
		fill:   "por favor|o|a|os|as|um|uma|de|da|do|das|dos|que|é|me|eu|nós|acho|então|bem|parece bom|está bom|está bem|soa bem|obrigado|obrigada|agora|para mim|na|no|com", kill: "o que você|se quiser|se você|se preferir|primeiro de tudo|em primeiro lugar",
		yes: "sim|claro|pode ser|pode|vai|vai em frente|faça isso|ok|perfeito|certo|isso|combinado|manda ver|tudo bem|beleza|concordo", neg: "não|nem|menos|exceto|tudo menos|nunca|sem ser",
		and: "e|mais|além de|depois|e depois|junto com", or: "ou", but: "mas|com|sem|porque|pois|já que|para|porém|só que",
		hedge:    "demais|muito|se|talvez|por que|por quê|como|qual|quando|explica|compara|diferença|depende|disse|não tenho certeza",
		points:   "primeira|primeiro|segunda|segundo|terceira|terceiro|quarta|quarto|quinta|quinto|um|uma|dois|duas|três|quatro|cinco|última|último|ambas|ambos|as duas|os dois|as duas opções|nenhuma|nenhum|nenhuma delas|nada disso|nenhuma das duas|nenhum dos dois|nem uma nem outra|nem um nem outro|todas|todos|tudo|as três|os três|aquela|esta última|este último|as duas primeiras|os dois primeiros|as primeiras duas",
		which:    "qual|quais|que opção|prefere|preferes|escolhe|ou|me diga|diga",
		decided:  "decidimos|decidi|resolvemos|resolvi|concordamos|combinamos|escolhemos|escolhi|optamos por|optei por|foi decidido|fico com|ficamos com|vou com|vamos com",
		decision: "decisão|decisões|decisão final|decidido", open: "pendente|nenhuma|a tomar|necessária",
	},
	{ // Italian
		option: "opzione|opzioni|alternativa|approccio|piano|soluzione|variante|numero|strada|proposta|metodo|possibilità",
		pick:   "andiamo con|vai con|andiamo per|scelgo|scegli|scegliamo|usa|usiamo|prendi|prendiamo|prendo|proviamo|prova|preferisco|voglio|meglio|facciamo|fai|voto per|opto per|direi",
		fill:   "per favore|per piacere|il|lo|la|le|i|gli|l|un|una|uno|di|del|della|che|è|mi|io|noi|credo|allora|bene|va bene|mi piace|sembra buona|suona bene|grazie|adesso|ora|per me|con|a", kill: "quello che|se vuoi|se preferisci|prima di tutto|innanzitutto",
		yes: "sì|si|certo|ok|va bene|vai|procedi|fallo|d'accordo|perfetto|esatto|volentieri|vai pure|bene così", neg: "non|né|tranne|tutto tranne|mai|eccetto|no",
		and: "e|ed|più|oltre a|poi|e poi|insieme a", or: "o|oppure", but: "ma|però|con|senza|perché|dato che|visto che|per|tranne che|solo che",
		hedge:    "troppo|se|forse|perché mai|come|quale|quando|cosa|spiega|spiegami|confronta|differenza|dipende|non sono sicuro|ha detto",
		points:   "prima|primo|seconda|secondo|terza|terzo|quarta|quarto|quinta|quinto|uno|due|tre|quattro|cinque|ultima|ultimo|entrambe|entrambi|tutte e due|tutti e due|le due|nessuna|nessuno|nessuna di queste|niente di tutto ciò|nessuna delle due|nessuno dei due|né l'una né l'altra|né l'uno né l'altro|tutte|tutti|tutto|tutte e tre|tutti e tre|quella|quest'ultima|quest'ultimo|le prime due|i primi due|prime due",
		which:    "quale|quali|cosa preferisci|preferisci|preferite|scegli|oppure|dimmi|o",
		decided:  "abbiamo deciso|ho deciso|abbiamo concordato|abbiamo scelto|ho scelto|abbiamo optato per|ho optato per|è stato deciso|andiamo con|vado con|siamo d'accordo",
		decision: "decisione|decisioni|decisione finale|deciso", open: "in sospeso|nessuna|da prendere|in attesa",
	},
	{ // Dutch
		option: "optie|opties|aanpak|alternatief|plan|oplossing|variant|nummer|keuze|voorstel|methode|mogelijkheid",
		pick:   "doe maar|doe|neem|we nemen|laten we|kies|ik kies|ik wil|liever|gebruik|probeer|ga voor|ik ga voor|we gaan voor|ik neem|ga met|ga verder met|graag",
		fill:   "alsjeblieft|aub|graag|de|het|een|die|dat|van|er|ik|we|wij|mij|dan|maar|even|klinkt goed|is goed|lijkt me|beter|bedankt|nu|voor mij|proberen|nemen|doen",
		yes:    "ja|ja graag|prima|oké|ok|doe maar|ga je gang|akkoord|goed|zeker|klopt|is goed", neg: "niet|geen|behalve|alles behalve|nooit",
		and: "en|plus|en dan", or: "of", but: "maar|met|zonder|want|omdat|voor|alleen",
		hedge:    "als|misschien|waarom|hoe|wat|welke|wanneer|leg uit|vergelijk|verschil|hangt ervan af|weet niet|te duur|te traag",
		points:   "eerste|tweede|derde|vierde|vijfde|één|twee|drie|vier|vijf|laatste|allebei|beide|alle twee|geen|geen van allen|geen enkele|niets daarvan|geen van beide|geen van beiden|alle|allemaal|alles|alle drie|eerstgenoemde|laatstgenoemde",
		which:    "welke|wat wil je|liever|kies|zeg maar",
		decided:  "we hebben besloten|wij hebben besloten|ik heb besloten|we hebben … besloten|we hebben afgesproken|we kiezen voor|ik kies voor|we hebben gekozen|ik heb gekozen|ik ga voor|we gaan voor",
		decision: "beslissing|beslissingen|besluit|besluiten|besloten", open: "open|geen|nodig",
	},
	{ // Swedish
		option: "alternativ|val|lösning|plan|variant|förslag|nummer|metod",
		pick:   "ta|vi tar|jag tar|kör|vi kör|kör på|välj|jag väljer|använd|prova|testa|gör|jag vill ha|hellre|helst",
		fill:   "tack|det|den|de|ett|en|av|är|jag|vi|då|bra|låter bra|snälla|nu|på|med",
		yes:    "ja|japp|okej|ok|gör det|kör|absolut|visst|bra|gärna|javisst", neg: "inte|ej|inga|allt utom|utom|aldrig",
		and: "och|plus|samt|sedan", or: "eller", but: "men|med|utan|för|eftersom",
		hedge:    "om|kanske|varför|hur|vad|vilken|vilket|förklara|jämför|skillnad|beror på",
		points:   "första|förste|andra|andre|tredje|fjärde|femte|ett|två|tre|fyra|fem|sista|båda|bägge|båda två|inget|ingen|inga|inget av dem|ingen av dem|inget av dem båda|ingendera|ingetdera|alla|allt|alla tre|förstnämnda|sistnämnda",
		which:    "vilken|vilket|vilka|vad vill du|väljer|föredrar",
		decided:  "vi har beslutat|vi beslutade|vi bestämde|vi har bestämt|jag har bestämt|jag bestämde|vi har kommit överens|vi valde|jag valde|jag väljer|vi kör på|vi väljer",
		decision: "beslut|beslutat", open: "väntar|inget|behövs",
	},
	{ // Danish
		option: "mulighed|muligheder|løsning|plan|variant|forslag|nummer|valg|metode",
		pick:   "tag|vi tager|jag tager|jeg tager|vælg|jeg vælger|brug|prøv|gør|kør med|lad os tage|lad os|hellere|jeg vil have",
		fill:   "tak|den|det|de|en|et|af|er|jeg|vi|så|godt|lyder godt|nu|venligst|med|dem",
		yes:    "ja|ja tak|okay|ok|gør det|fint|selvfølgelig|gerne|jo", neg: "ikke|ingen|alt undtagen|undtagen|aldrig",
		and: "og|plus|samt", or: "eller", but: "men|med|uden|fordi|for",
		hedge:    "hvis|måske|hvorfor|hvordan|hvad|hvilken|hvilket|forklar|sammenlign|forskel|kommer an på",
		points:   "første|anden|andet|tredje|fjerde|femte|en|ét|to|tre|fire|fem|sidste|begge|begge to|ingen|intet|ingen af dem|ingen af delene|ingen af de to|alle|alt|alle tre|førstnævnte|sidstnævnte",
		which:    "hvilken|hvilket|hvilke|hvad vil du|vælger|foretrækker",
		decided:  "vi har besluttet|vi besluttede|jeg har besluttet|jeg besluttede|vi er blevet enige|vi valgte|jeg valgte|jeg vælger|vi vælger",
		decision: "beslutning|beslutninger|besluttet", open: "afventer|ingen|mangler",
	},
	{ // Norwegian
		option: "alternativ|valg|løsning|plan|variant|forslag|nummer|metode",
		pick:   "ta|vi tar|jeg tar|velg|jeg velger|bruk|prøv|gjør|kjør|kjør på|la oss ta|la oss|heller|jeg vil ha|gå for|vi går for",
		fill:   "takk|den|det|de|en|et|av|er|jeg|vi|så|bra|høres bra ut|nå|vennligst|med|dem",
		yes:    "ja|ja takk|ok|gjør det|greit|selvsagt|selvfølgelig|gjerne", neg: "ikke|ingen|alt unntatt|unntatt|aldri",
		and: "og|pluss|samt", or: "eller", but: "men|med|uten|fordi|for",
		hedge:    "hvis|kanskje|hvorfor|hvordan|hva|hvilken|hvilket|forklar|sammenlign|forskjell|kommer an på",
		points:   "første|andre|tredje|fjerde|femte|en|én|to|tre|fire|fem|siste|begge|begge to|ingen|intet|ingen av dem|ingen av de to|alle|alt|alle tre|førstnevnte|sistnevnte",
		which:    "hvilken|hvilket|hvilke|hva velger|hva vil du|velger|foretrekker",
		decided:  "vi har besluttet|vi har bestemt|vi bestemte|jeg har bestemt|vi ble enige|vi valgte|jeg valgte|jeg velger|vi velger|vi går for",
		decision: "beslutning|beslutninger|avgjørelse|bestemt", open: "venter|ingen|mangler",
	},
}
