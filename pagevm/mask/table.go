package mask

import (
	"strings"

	"github.com/memkernel/memkernel/internal/textutil"
)

// ownRules find secrets by the text before them: an option of a command, a field of a connection
// string, a line of a file of credentials. Each row has words to look for first, an expression,
// and a judge of the first group that matched. To add a row, first write texts with and without
// secrets into internal/hostile.
//
// In expressions <arg> is a value on a command line, in quotes or not, and <str> a value in
// quotes. <b32> is base32 of a seed, <eol> the end of a line or a string, <num> a line's number
// in a listing, and <..> the rest of a command up to the place.
var ownRules = []ownRule{
	// Connection strings.
	{id: "connection-string", words: "accountkey= accesskey= account-key storage_key", judge: generated,
		expr: `(?i)(?:account|access|storage)[-_]?key(?:[ ]?=[ ]?|[ ]+)["']?([A-Za-z0-9+/]{20,}={0,2})`},
	{id: "connection-string", words: "password= pwd= passwd=", lead: 600,
		expr: `(?i)(?:\b(?:server|source|addr|address|hostname|host|uid|user|id|username|dsn|driver|database|catalog|endpoint|port|timeout|security|encrypt)[ ]?=[^;\n"']*;|jdbc:[^\s;"']*;)(?:[^;\n"']*;)*?\s*(?:password|pwd|passwd)[ ]?=[ ]?(?:\{([^}\n]+)\}|'([^'\n\[]+)'|([^\s;,"'\\<>&\[{][^\s;"'\\<>]*))`},
	{id: "connection-string", words: "password= pwd=",
		expr: `(?i)\b(?:password|pwd)=([^\s;,"'\\<>&\[{][^\s;"'\\<>]*);[ ]?(?:server|data source|host|uid|user|database|initial|encrypt|port|persist|trust|pooling)`},
	{id: "connection-string", words: ",password= ,pass=", lead: 300,
		expr: `(?i)(?:[\w.-]+:\d+|user(?:name)?=[^,\s"']+)(?:,[^,\s"'()]*)*?,pass(?:word)?=([^\s,"'\\()\[]+)`},
	{id: "connection-string", words: "password=", lead: 300,
		expr: `(?i)\b(?:host|user|dbname|port|sslmode|hostaddr)=[^\s,"']+[ ]+(?:\w+=[^\s,"']*[ ]+)*?password=([^\s,"'\\\[()]+)`},
	{id: "connection-string", words: "?password= &password= ?pwd= &pwd= ?passwd= &passwd=",
		expr: `(?i)[?&](?:password|pwd|passwd)=([^\s&"'\\<>#\[()]+)`},
	{id: "connection-string", words: "jdbc:oracle", expr: `(?i)jdbc:oracle:\w+:\w+/([^\s@"'\[]+)@`},
	{id: "signed-url", words: "sig= ature= token= key= code= auth= appid= setup= ticket= invite= hmac=", judge: generated, run: true,
		expr: `(?:[?&](?i:x-amz-|x-goog-|api[_-]?|access_|security-)*(?i:signature|token|key|code|auth|appid|setup|ticket|invite|hmac)|[?&;"' ](?i:sig|x-amz-signature|x-goog-signature))=([\w.~%+/-]{20,}=?)`},

	// Tokens of a known shape, and hooks whose address alone gives access.
	{id: "telegram-token", words: ":aa api_hash", judge: generated, expr: `(?:(?:^|[^0-9A-Za-z]|bot)(\d{8,10}:AA[\w-]{32,34})|(?i:api_hash)["']?\s*[:=]\s*["']?([0-9a-f]{32}))(?:[^\w-]|$)`},
	{id: "discord-token", words: `.login(" .login(' .run(" .run(' bot·m bot·n bot·o discord`, judge: generated,
		expr: `(?i:\.login\(|\.run\(|\bbot |discord\S{0,20}[ :=]+)["']?([A-Za-z\d_-]{23,28}\.[A-Za-z\d_-]{6}\.[A-Za-z\d_-]{27,40})`},
	{id: "slack-webhook", words: "hooks.slack.com", judge: shape, expr: `((?:https?://)?hooks\.slack\.com/(?:services|workflows|triggers)/[A-Za-z0-9+/]{40,})`},
	{id: "aws-key", words: "akia asia masked:aws-", judge: generated, expr: `(?:A[KS]IA[A-Z0-9]{16}|\[masked:aws-key\])["']?\s?[,:]?\s?["']?([A-Za-z0-9+/]{40})(?:[^A-Za-z0-9+/]|$)`},
	{id: "atlassian", words: "masked:atlassian]=", judge: shape, expr: `\[masked:atlassian\](=[0-9A-F]{8})`},
	{id: "issuer-token", words: "sq0csp- sq0atp- dp.st. dp.sa. sntrys_ sntryu_ nrak- nrii- nrjs- vercel_blob_rw_ vcp_ vci_ vca_ vck_ fc- squ_ sqp_ sqa_ snyk_ phx_ ctx7sk- apify_api_ e2b_ jina_ pa- cal_live_ tfp_ xsmtpsib- syt_ hrku- rgapi- waka_ bb_live_ rpa_ tgp_v1_ sk-lf- ls__ bkct_ atctt3x atsvtt napi_ aq.ab8 ccipat_ ccipprj_ plane_api_ lin_oauth_ aio_ astracs: rnd_ gldt- frp_ sk-admin- sk_ pat-eu pat-na sdk- hcaik_ oauth:", judge: func(_, v string) bool { return generated("", v) && digits(v) > 1 },
		expr: `(?:^|[^\w./-])((?:sq0(?:csp|atp)-|dp\.(?:st|sa)\.|sntry[su]_|NR(?:AK|II|JS)-|vercel_blob_rw_|vc[piak]_|fc-|sq[upa]_|snyk_|phx_|ctx7sk-|apify_api_|e2b_|jina_|pa-|cal_live_|tfp_|xsmtpsib-|syt_|HRKU-|RGAPI-|waka_|bb_live_|rpa_|tgp_v1_|sk-lf-|sk-admin-|ls__|bkct_|AT(?:CTT3x|SVTT)|napi_|AQ\.Ab8|CCIP(?:AT|PRJ)_|plane_api_|lin_oauth_|aio_|AstraCS:|rnd_|gldt-|frp_|pat-(?:eu|na)\d-|sdk-[0-9a-f]{8}-|hcaik_|oauth:|sk_(?:[a-f0-9]{2}))[\w.=:-]{24,})`},
	{id: "docker-pat", words: "dckr_", judge: generated, expr: `\b(dckr_(?:pat|oat)_[\w-]{20,})`},
	{id: "groq", words: "gsk_", judge: generated, expr: `\b(gsk_[A-Za-z0-9]{40,})`},
	{id: "replicate", words: "r8_", judge: generated, expr: `\b(r8_[A-Za-z0-9]{37})\b`},
	{id: "xai", words: "xai-", judge: generated, expr: `\b(xai-[A-Za-z0-9]{60,})`},
	{id: "slack-session", words: "xoxd-", judge: generated, expr: `\b(xoxd-[A-Za-z0-9%+/=_-]{30,})`},
	{id: "google-refresh-token", words: "1//0", judge: generated, expr: `\b(1//0[\w-]{40,})`},
	{id: "vault-token", words: "vault root·token", also: "hvs. hvb. s.", lead: 200, judge: generated, expr: `(?:^|[^\w.])(hv[sb]\.[\w-]{24,}|s\.[A-Za-z0-9]{24})(?:[^\w.]|$)`},
	{id: "vault-unseal-key", words: "unseal", judge: generated, expr: `(?i)unseal key(?: \d+)?\s*[:=]\s*["']?([A-Za-z0-9+/]{40,}={0,2})`},

	// Passwords as they are stored.
	{id: "password-hash", words: "$2a$ $2b$ $2x$ $2y$ $apr1$ $1$ $5$ $6$ $y$ $7$ $p$ $s$ $argon2 $scrypt $pbkdf2 $krb5 $nt$ $bcrypt $sha512$ $8$ $9$ sha256$ sha512$ sha1$ scram-sha- scrypt:", judge: generated2,
		expr: `(\${1,2}(?:2[abxy]|apr1|[156789y]|argon2(?:id|i|d)|s?crypt|pbkdf2[\w-]*|krb5\w+|NT|bcrypt-sha256|sha512)\${1,2}[\w./+=,$*@-]{20,}|\$[PS]\$[./A-Za-z0-9]{31,}|\b(?:pbkdf2[:_]\w+|SCRAM-SHA-\d+|sha\d+|scrypt:)[$:][\w:./+=,$-]{1,30}[$:][\w:./+=,$-]{30,})`},
	{id: "password-hash", words: "{sha} {ssha {sha2 {sha5 {crypt {pbkdf", judge: shape, expr: `(\{(?:S?SHA(?:256|512)?|CRYPT|PBKDF2[\w-]*)\}[^\s"'\\:]{20,})`},
	{id: "password-hash", words: ":::", lead: 120, judge: shape, expr: `:\d+:([0-9a-fA-F]{32}:[0-9a-fA-F]{32}):::`},

	// Files of credentials.
	{id: "docker-auth", words: `"auths`, within: `"auths[^\n]*(?:\n[^\n]*){0,80}`, judge: credential, reach: 4000, expr: `"auth\\?"\s*:\s*\\?"([A-Za-z0-9+/=_-]{8,})\\?"`},
	{id: "docker-auth", words: `"auth"`, judge: func(_, v string) bool {
		return pair(v) || len(v) >= 24 && generated("", v) && strings.IndexByte("=", v[len(v)-1]) >= 0
	},
		expr: `"auth"\s*:\s*"([A-Za-z0-9+/=]{8,})"`},
	{id: "netrc", words: "machine default·login default\nlogin", also: "password passwd", reach: 600,
		expr: `\b(?:machine[ \t]+[\w.:-]+|default)\s+(?:<num>login\s+\S+\s+<num>(?:account\s+\S+\s+<num>)?)(?:password|passwd)[ \t]+([^\s"'\\\[]+)`},
	{id: "pgpass", words: `:5432: :5433: :6432: :*:`, lead: 200,
		expr: `(?:^|[\s"'→])[\w.*-]+:(?:\d{4,5}|\*):[\w*-]+:[\w*-]+:((?:[^\s:"'\\\[]|\\.)+)(?:["'\s]|$)`},
	{id: "smtp-login", words: `:587· :465· :25·`, lead: 120, expr: `(?:^|[\s"'>])\[?[\w.-]+\]?:(?:587|465|25)[ \t]+[\w.@+-]+:([^\s:"'\\\[]+)[ \t]*<eol>`},
	{id: "smtp-login", words: `auth·plain ugfzc3dvcmq6 vxnlcm5hbwu6`, judge: credential, expr: `(?:AUTH PLAIN\s+|334 (?:UGFzc3dvcmQ6|VXNlcm5hbWU6)\s+(?:C:[ ]*)?)([A-Za-z0-9+/]{8,}={0,2})(?:[\s"'\\]|$)`},
	{id: "putty-key", words: "private-lines private-mac", judge: shape, reach: 4000,
		expr: `(?:Private-Lines:[ ]*\d+\s+((?:[>|+ \t]*[A-Za-z0-9+/=]{20,}\s?)+)|Private-MAC:[ ]*([0-9a-f]{40,}))`},
	{id: "private-key", words: `"kty"`, lead: 2000, within: `\{[^{}]*"kty"[^{}]*\}`, judge: generated, expr: `"(?:d|p|q|dp|dq|qi|k)"\s*:\s*"([\w-]{20,})"`},
	{id: "private-key", words: "<rsakeyvalue", within: `<RSAKeyValue>[\s\S]*?</RSAKeyValue>`, reach: 4000, judge: generated, expr: `<(?:D|P|Q|DP|DQ|InverseQ)>([A-Za-z0-9+/=\s]{20,})<`},
	{id: "client-key", words: "key-data", judge: generated, run: true, expr: `client-key-data["']?\s*:\s*["']?([A-Za-z0-9+/=]{20,})`},
	{id: "psk", words: "psk= psk: .psk psk·\" eap·\" edkey ed-key· ed-key= psksecret", expr: `(?i)(?:\b(?:[\w.-]*psk|presharedkey)\s*[=:]\s*<arg>|(?:psk|:[ ]eap)[ ]+<str>|(?:pre-shared-key[ =]+(?:local[ ]|remote[ ]|ascii-text[ ])?|set[ ]psksecret[ ]+(?:ENC[ ]+)?)<arg>)`},
	{id: "psk", words: "wpa_passphrase nmcli wifi-sec.psk wireless.", expr: `(?:wpa_passphrase(?:=|[ ]+[\w-]+[ ]+)|\bwireless\.[^\s.]+\.key\d?=|\bnmcli[ ]<..>(?:password|[\w.-]*psk)[ ]+)<arg>`},
	{id: "psk", words: "wifi:t: wifi:s: wifi:h:", expr: `(?i)WIFI:[^\n]*?;P:((?:[^;\s"\\]|\\.)+);`},
	{id: "snmp-community", words: "snmp", also: "·-c ·-A ·-X communi auth", within: `\bsnmp[\w-]*[ ][^\n]*`, expr: `[ ](?:-[cAX][ ]*|community[ ]+|auth[ ]+(?:sha|md5)\S*[ ]+|priv[ ]+(?:aes|des|3des)(?:[ ]+\d+)?[ ]+)<arg>`},
	{id: "snmp-community", words: "rocommunity rwcommunity unity:", expr: `(?:\br[ow]community6?[ ]+|(?i:\bcommunity)["']?:[ ]*)<arg>`},
	{id: "bind-password", words: "bindpw bind_pass authtok rootpw binddn_pass bind-pass bindpass",
		expr: `(?i)\b(?:bindpw|bind_?-?pass(?:word|wd)?|\w*authtok|\w*rootpw)["']?(?:[ \t]*[:=][ \t]*|[ \t]+(?:--plaintext[ ]+)?)<arg>`},
	{id: "router-password", words: "\"·*· \"\t*\t", lead: 80, judge: word, expr: `(?m:^)[ \t>]*"[^"\s]+"[ \t]+\*[ \t]+"([^"\n]+)"`},
	{id: "redis-password", words: "requirepass masterauth", expr: `\b(?:requirepass|masterauth)[ ]+<arg>`},
	{id: "ansible-password", words: "sible_", expr: `\bansible_\w*pass(?:word|wd|phrase)?["']?[ ]*[:=][ ]*<arg>`},

	// Files of keys, and the commands that print them.
	{id: "erlang-cookie", words: "-setcookie", expr: `-setcookie[ ]+<arg>`},
	{id: "key-file", words: "ls0tls1cru eyj ewog ewok", regions: keyBase64, judge: shape, reach: 16 << 10, lead: 4},
	{id: "private-key", words: "badanbgkqhkig9w0baqefaasc ibaak ibazcc mhccaqeei ageamb mc4caqawbqydk2vw b3blbnnzac1rzxktdje rwrty0iy", regions: keyBodies, judge: shape, lead: 10, reach: 16 << 10},
	{id: "private-key", words: "-----end", regions: keyTails, judge: shape, lead: 16 << 10, reach: 80},
	{id: "vault-token", words: "hvs. hvb.", judge: generated, expr: `\b(hv[sb]\.[\w-]{20,})`},
	{id: "aws-key", words: "iqojb3jpz2lu fwogzxivyxdz", judge: generated, reach: 3000, expr: `\b((?:IQoJb3JpZ2lu|FwoGZXIvYXdz)[A-Za-z0-9+/=%]{80,})`},
	{id: "cloudflare-tunnel", words: "eyjhijoi", judge: generated, expr: `\b(eyJhIjoi[A-Za-z0-9+/_=-]{60,})`},
	{id: "airtable", words: "airtable _pat= _pat\" _pat: _pat· pat:·", reach: 200, judge: generated, expr: `\b(pat[A-Za-z0-9]{14}\.[0-9a-f]{64})\b`},
	{id: "laravel-key", words: "base64:", judge: generated, expr: `\b(base64:[A-Za-z0-9+/]{42,44}=)`},
	{id: "asana", words: "asana", judge: generated, expr: `\b(\d/\d{10,}(?:/\d{10,})?:[0-9a-f]{32})\b`},
	{id: "teams-webhook", words: "incomingwebhook", lead: 120, judge: shape, expr: `/([0-9a-f-]{36}@[0-9a-f-]{36}/IncomingWebhook/[\w/-]{20,})`},
	{id: "private-url", words: "alchemy. infura. quiknode. hooks hook/ hook. /ical /private /feed /trigger/ /reset /invit /magic /verify /confirm /activat /set-password /password-reset", lead: 80, judge: func(_, v string) bool {
		return unguessable(v) || uuid.MatchString(v) || strings.Contains(v, "/") || len(v) > 30 && digits(v) > 7
	},
		expr: `://[^\s"'<>]{0,120}?(?i:hooks?\b|(?:alchemy|infura|quiknode)\.|/ical\b|/private|/feeds?/|/trigger/|/(?:(?:password-)?reset|invit|magic|verify|confirm|activat|set-password)[\w-]*)[^\s"'<>]{0,120}?[/-]([\w-]{20,}|\d{5,}/\w{6,})`},
	{id: "wireguard-key", words: "wg·gen wg·show private·key:", judge: generated, expr: `(?:\bwg[ ]+(?:gen(?:key|psk)|show)\b[^\n]*(?:\n[^\n]{0,80}?)?[\n \t>]([A-Za-z0-9+/]{43}=)|(?i:private key):\s+([\w+/-]{43}=?)(?:[^\w]|$))`},
	{id: "bitcoin-key", words: "xprv yprv zprv tprv uprv vprv", judge: shape, expr: `\b([xyztuv]prv[A-Za-z0-9]{100,})`},
	{id: "bitcoin-key", words: "privkey ·wif wif· private·key", judge: generated, expr: `\b([5KL][1-9A-HJ-NP-Za-km-z]{50,51})\b`},
	{id: "key-bytes", words: "·0x {0x [0x (0x _key:·[ _key·=·[ array.from([ keypair id.json fromsecretkey bytes([", judge: func(_, v string) bool { return entropy(v) > 2 }, reach: 900, lead: 100,
		expr: `(?:(?i:key|secret|seed)[\w-]{0,12}["']?[ ]?(?:\[\w*\])?[ ]?[=:(]|id\.json)[^\[{\n]{0,60}\n?[^\[{\n]{0,20}(?:[\[{(]|:[ ])((?:\s*(?:0x[0-9a-fA-F]{1,2}|\d{1,3})\s*,){15,63}\s*(?:0x[0-9a-fA-F]{1,2}|\d{1,3})\s*,?\s*)(?:[\]})\n]|$)`},
	{id: "pairing-code", words: "homekit setup·code pairing·code bitlocker recovery rical·password", judge: func(_, v string) bool { return varied(v) }, expr: `(?:(?i:homekit|setup code|pairing code)[^\n\d]{0,40}(\d{3}-\d{2}-\d{3}|\d{4}-?\d{3}-?\d{4})|\b(\d{6}(?:-\d{6}){7}))(?:[^\d-]|$)`},
	{id: "key-file", words: "\"ciphertext\"", also: "kdf", judge: generated, expr: `"ciphertext"\s*:\s*"([0-9a-f]{32,})"`, lead: 400},
	{id: "command-password", words: "nickserv sv_setsteamaccount", expr: `(?i)(?:nickserv[ :]+identify[ ]+(?:\S+[ ]+)??|sv_setsteamaccount[ ]+)(\S{6,})[ ]*<eol>`},
	{id: "secret-file", words: "vault_pass vault-pass erlang.cookie master.key credentials/ initialadminpassword initial-password password.txt passwd.txt following·password", reach: 200,
		expr: `(?i:vault[_-]pass[\w.]*|erlang\.cookie|master\.key|credentials/\w+\.key|initialAdminPassword|initial-password|pass(?:word|wd)?\.txt|following password)[^\n"')]*\n+[ >]*([^\s"'<>()]{8,})[ ]*<eol>`},
	{id: "secret-file", words: "reset-password new·value", expr: `(?:[rR]eset-password[^\n]*:[ ]*\n[ ]*|New value:[ ]*)([^\s"'<>()]{10,})`},
	{id: "terraform-password", words: `"result"`, also: `"bcrypt_hash" "override_special" "min_special"`, lead: 400, expr: `"result"\s*:\s*"([^"\n]{8,})"`},
	{id: "azure-storage-key", words: "keyname", judge: generated, expr: `"keyName"[^}]{0,200}?"value"\s*:\s*"([A-Za-z0-9+/]{40,}={0,2})"`},
	{id: "password-table", words: ",password, ,\"password\" |password, |password·| |·pass username,pass ,secret ,token ,api_key |·secret _token\n \tpass \tpin", regions: passwordColumns, lead: 300, reach: 8 << 10},
	{id: "license-key", words: "licence license licens lizenz licencia licenza serial product·key productkey activation registration recovery·key unlock·key filevault", judge: func(_, v string) bool { return digits(v) > 1 && varied(v) },
		expr: `(?i:licen[sc]\w*|lizenz\w*|serial|product\s?key|activation|registration|filevault|(?:recovery|unlock)[ ]key)[^\n]{0,60}?(?:\n[^\n]{0,20}?)?\b([A-Z0-9]{4,8}(?:-[A-Z0-9]{4,8}){3,8})\b`, reach: 160},
	{id: "license-key", words: "begin·license", reach: 900, judge: shape, expr: `BEGIN LICENSE [^\n]*\n(?:[^\n]+\n){1,4}?((?:[0-9A-F]{8}[ \r\n]+){8,})`},
	{id: "license-key", words: "-eyj", judge: shape, expr: `\b([A-Z0-9]{10}-eyJ[\w+/=-]{40,})`, reach: 3000},
	{id: "recovery-code", words: "recovery·code recovery-code recovery_code recoverycode backup·code backup_code backup-code backupcode digos·de· codes·de· codici·di· lungscode езервны 备用码 バックアップコード 백업·코드", within: `(?i:(?:recovery|backup)[ _-]?codes?|c[óo]digos de (?:recupera|respaldo)|codes de (?:secours|récup)|codici di (?:recupero|backup)|wiederherstellungscodes|резервны\S* код\S*|备用码|バックアップコード|백업 코드)[\s\S]{0,500}`, reach: 600,
		judge: func(_, v string) bool { return digits(v) > 1 }, expr: `[\s"'.,:)：，、]([0-9a-zA-Z]{4,8}-[0-9a-zA-Z]{4,8}(?:-[0-9a-zA-Z]{4,8})*|\d{4}[ ]\d{4}|\d{8}|[0-9a-z]{10}|[0-9A-Z]{10})\b`},
	{id: "recovery-phrase", words: "\n1.· \n1)· \n·1.· \"1.· mnemo mnémo seed recover wallet phrase bip39 bip-39 semilla cartera monedero portefeuille portafogli brieftasche recupera récup wiederherstell 助记 助記 復元 ニーモニック シード 복구 시드 니모닉 сид мнемони фраз",
		regions: seedPhrases, judge: shape, reach: 700, lead: 2},

	{id: "printed-secret", words: "openssl·rand pwgen /dev/urandom /dev/random gopass· pass·show op·read op·item bw·get versions·access get-secret-value find-generic-password keyring·get terraform·output lpass·show mkpasswd apg· pbpaste wl-paste xclip·-o get·secret", reach: 400,
		within: `(?:openssl rand|\bpwgen|/dev/u?random|\b(?:gopass|pass|lpass)[ ]show|gopass|op (?:read|item)|bw get|versions access|get-secret-value|find-generic-password|keyring get|terraform output|mkpasswd|\bapg|pbpaste|wl-paste|xclip -o|get secret[^\n]*base64 (?:-d|-D|--decode))\b[^\n]*((?:\n[^\s"]{12,}[ ]*){1,4})`,
		judge: func(_, v string) bool {
			return generated("", v) && !strings.Contains(v, "://") && v[0] != '/' && v[0] != '-'
		}, expr: `\n(\S{12,})`},
	{id: "app-password", words: "app·password app-password apppassword app-specific application·password >wp.", judge: func(_, v string) bool { return !sentence(v) },
		expr: `(?i:app(?:lication|-specific)?[ -]?password)[^\n]{0,40}?\n?[^\n]{0,20}?\b((?:[a-z]{4}[ -]){3}[a-z]{4})(?:[^\w]|$)|>wp\.[\s\S]*?>((?:\w{4}[ ]){5}\w{4})\x3c`},
	{id: "api-key", words: "\"key\"", also: "secret", judge: generated, expr: `"key"\s*:\s*"([^"\s]{16,})",?\s*"secret`},
	{id: "mailgun", words: "key-", judge: generated, expr: `\b(key-[0-9a-f]{32})\b`},
	{id: "issuer-token", words: "::server: ::node: nkey nats seed aqe", lead: 120, judge: generated, expr: `\b(K10[0-9a-f]{64}::\w+:\w{16,}|S[AUCNOX][A-Z2-7]{56}\b|AQE[A-Za-z0-9+/]{40,}={0,2}-[^\s"'<]{16,})`},
	{id: "clickup", words: "pk_", judge: generated, expr: `\b(pk_\d{6,}_[A-Z0-9]{32})\b`},
	{id: "login-token", words: "·login· snyk·auth dns·", judge: generated, expr: `(?:\b(?:wandb|cargo|vercel|netlify|fly|snyk|sentry-cli|doppler|huggingface-cli|hf|glab|pulumi|infisical)[ ]+(?:login|auth(?:[ ]+login)?)[ ]<..>|\n\s*dns[ ]+\w+[ ]+)([\w.-]{24,})`},
	{id: "ethereum-key", words: "wallet( accounts:", judge: generated, expr: `(?:Wallet\(|accounts:[ ]*\[)\s*["'](?:0x)?([0-9a-fA-F]{64})["']`},
	{id: "totp-secret", words: "rate_limit totp_auth window_size", lead: 120, judge: totp, expr: `\b([A-Z2-7]{16,})\n"[ ]`},
	{id: "encryption-key", words: "key:·\" key:·' key\":", judge: generated, expr: `\b(?i:key)["']?:[ ]?["']([A-Za-z0-9+/]{43}=|[A-Za-z0-9+/]{80,86}==)["']`},
	{id: "secret-file", words: "auth.txt login.conf credentials.txt", expr: `(?:auth\.txt|login\.conf|credentials\.txt)[^\n]*\n[ >]*\S+[ ]*\n[ >]*([^\s"'<>]{6,})[ ]*<eol>`},
	{id: "license-key", words: "/ipk", judge: generated, expr: `/ipk[ ]+([A-Z0-9]{5}(?:-[A-Z0-9]{5}){4})`},
	{id: "secret", words: "secret_key secret-key secretkey", judge: func(_, v string) bool {
		return len(v) >= 32 && entropy(v) >= 4 && !strings.ContainsAny(v, " \t") && !chain(v)
	},
		expr: `(?i:secret[_-]?key)(?:_BASE)?["']?[ ]*[:=][ ]*(?:["']([^"'\n]{32,})["']|([^\s"'(]\S{39,}))`},
	{id: "connection-string", words: "@tcp( @unix(", lead: 120, expr: `(?:^|["'` + "`" + `=\s])[\w.-]+:([^@\s"'` + "`" + `]+)@(?:tcp|unix)\(`},
	{id: "connection-string", words: "neo4j_auth", expr: `NEO4J_AUTH["']?[=:][ ]*["']?neo4j/([^\s"']+)`},
	{id: "login-password", words: "mysqli pdo( getconnection( pg_connect(", expr: `(?:mysqli(?:_connect)?|PDO|getConnection)\((?:\s*(?:"[^"\n]*"|'[^'\n]*')\s*,){2}\s*<str>`},
	{id: "login-password", words: "password=\"", also: "username=\"", lead: 120, expr: `username="[^"\n]*"[ ]+password="([^"\n\[]+)"`},
	{id: "xml-password", words: "<value>", lead: 120, judge: xmlText, expr: `(?i)<\w*password>\s*<value>([^<\n\[]+)<`},
	{id: "command-password", words: "rabbitmqctl", expr: `\brabbitmqctl[ ]+(?:add_user|change_password)[ ]+\S+[ ]+<arg>`},
	{id: "redis-password", words: ">·auth·", lead: 2, expr: `>[ ]AUTH[ ]+(?:\w+[ ]+)?([^\s"']{6,})[ ]*<eol>`},
	{id: "router-password", words: "radius-server tacacs-server isakmp·key enable·secret enable·password", expr: `(?:isakmp key(?:[ ]\d)?[ ]+(\S+)[ ]+address|(?:radius|tacacs)-server[ ](?:[^\n]*?[ ])??key[ ]+(?:\d[ ]+)?(\S{6,})|(?:^|\n)[ ]*enable (?:secret|password)[ ]+(\S{8,})[ ]*<eol>)`},

	// Commands and calls.
	{id: "psk", words: "key·content schlüsselinhalt contenu·de·la contenido·de·la contenuto·chiave", expr: `(?:Key Content|Schlüsselinhalt|Contenu de la clé|Contenido de la clave|Contenuto chiave)\s*:\s*(\S+)`},
	{id: "router-password", words: "password·7 key·7 secret·5 secret·8 secret·9 password·0 secret·0", judge: shape,
		expr: `\b(?:password|secret|key)[ ]+(?:7[ ]+([0-9A-Fa-f]{8,})|[589][ ]+(\$\d+\$\S+)|0[ ]+(\S{6,})[ ]*<eol>)`},
	{id: "command-password", words: "/pass: /password: /rp·", expr: `[ ]/(?:pass(?:word)?:|rp[ ]+)<arg>`},
	{id: "command-password", words: "defaultpassword", expr: `DefaultPassword\b[^\n]*?(?:/d[ ]+|=[ ]*)<arg>`},
	{id: "command-password", words: "openssl·", also: "·-K ·-k passwd ·-hmac", expr: `\bopenssl[ ]+(?:<..>-(?:K|hmac)[ ]+["']?([0-9A-Fa-f]{16,})|<..>-k[ ]+<arg>|passwd(?:[ ]+-\w+)*[ ]+<str>)`},
	{id: "command-password", words: "plink pscp psftp", also: "·-pw", expr: `\b(?:plink|pscp|psftp)(?:\.exe)?[ ]<..>-pw[ ]+<arg>`},
	{id: "command-password", words: "mosquitto_", also: "·-P", expr: `\bmosquitto_\w+[ ]<..>-P[ ]+<arg>`},
	{id: "command-password", words: "sqlplus sqlldr expdp impdp conn· connect·", expr: `\b(?:(?:sqlplus|sqlldr|expdp|impdp)[ ]<..>|(?i:conn(?:ect)?)[ ]+)["']?[\w$#]+/([^\s@"'/]+)@`},
	{id: "command-password", words: "-auth·", expr: `[ ]-auth[ ]+[\w.@-]+:(<bare>)`},
	{id: "login-password", words: "auth=( basicauth( wifi.begin(", expr: `(?:auth=|BasicAuth|WiFi\.begin)\(\s*["'][^"'\n]+["'],\s*<str>`},
	{id: "login-password", words: ".fill( .type( send·\" sendline(", also: "assword asswort PASSWORD", lead: 160, expr: `(?i:assword|asswort)[^\n]{0,40}?(?:\n[ \t]*)?(?:\.(?:fill|type)\(|send(?:line)?[ (]["']?)["']?([^"'\\\n]{6,})["'\\]`},
	{id: "login-token", words: "oauth1", within: `OAuth1\w*\([^)]*\)`, judge: generated, expr: `["'][\w-]{20,}["'],\s*["']([\w-]{40,})["']`},
	{id: "jwt-secret", words: "jwt.sign jwt.verify jwt.encode jwt.decode", judge: generated, expr: `jwt\.(?:sign|verify|encode|decode)\([^\n]*?,\s*["']([^"'\n]{8,})["']`},
	{id: "twilio-auth-token", words: "('ac (\"ac sid·=·\"ac sid=\"ac sid:·\"ac sid·=·'ac sid='ac sid:·'ac", judge: generated, expr: `["']AC[0-9a-f]{32}["'][,;]?\s*(?:\w+\s*[:=]\s*)?["']([0-9a-f]{32})["']`},
	{id: "algolia", words: "algoliasearch(", judge: generated, expr: `algoliasearch\(\s*["'][^"'\n]+["'],\s*["']([0-9a-f]{32})`},
	{id: "totp-secret", words: "otp( setup·key 2fa- authenticator·app", judge: totp, expr: `(?:\b[TH]?OTP\(\s*["']|(?i:setup key|2fa-\w+|authenticator app)[^\n]{0,70}?[: ])(<b32>)\b`},
	{id: "cookie", words: `"cookies"`, within: `"cookies"\s*:\s*\[[\s\S]*?(?:\]|$)`, reach: 8 << 10, judge: cookie, expr: `"name"\s*:\s*"[^"]*"\s*,\s*"value"\s*:\s*"([^"]{12,})"`},
	{id: "authorization", words: "digest·", within: `(?i)\bdigest\b[^\n]*`, judge: generated, expr: `\bresponse="?([0-9a-f]{32,64})`},
	{id: "secret", words: "define(", judge: func(name, v string) bool { return len(v) >= 32 && entropy(v) >= 4 || word(name, v) }, expr: `define\(\s*["']\w*(?:KEY|SALT|PASSWORD|PASS|SECRET|TOKEN)\w*["'],\s*(?:'([^'\n]{8,})'|"([^"\n]{8,})")`},
	{id: "secret", words: "pass'] pass\"] passwd'] password'] password\"] secret'] secret\"]", judge: word, expr: `\[["']\w*(?i:pass(?:wd|word)?|secret)["']\]\s*=\s*<str>`},
	{id: "secret", words: "_pass _pw _secret", judge: word, expr: `(?:PASS(?:WORD|WD)?|PW|SECRET)["']?\]?\)?[ ]*(?:\|\||\?\?|or|,)[ ]*<str>`},
	{id: "secret", words: ".secret=", judge: word, expr: `\b(?:\w+\.)+secret[ ]*=[ ]*([^\s"'$]{8,})[ ]*<eol>`},

	// Cookies.
	{id: "cookie", words: "cookie", within: `(?i)\bcookies?\b\\?["']?(?:[ ]*[:=][ ]*|[ ]+)([^\n]*)`, judge: cookie,
		expr: `[\w.%-]+\\?["']?[=:][ ]?\\?["']?([^\s;,"'\\&<>()\[\]{}]{12,})`, reach: 4000},
	{id: "cookie", words: "curl·", also: "·-b", within: `\bcurl\b[^\n]*?[ ]-b[ ]*["']?[^\n"']*=[^\n"']*`, judge: cookie, expr: `[\w.%-]+=([^\s;,"'\\&<>()\[\]]{12,})`, reach: 2000},
	{id: "cookie", words: "\t/\t jsessionid phpsessid t.sid _sessionid laravel_session", judge: cookie,
		expr: `(?i)(?:\b(?:jsessionid|phpsessid|connect\.sid|asp\.net_sessionid|laravel_session)["']?[=\t:][ ]?|\t\d{1,12}\t[\w.%-]+\t)["']?([^\s;,"'\\&<>()\[\]{}]{12,})`},

	// Commands.
	{id: "curl-user", words: "curl·", also: "·-u -user ·-U u·", reach: 800, expr: `\bcurl[ ]+<..>(?:-[a-zA-Z]*u|--user|-U|--proxy-user)[ =]*(?:\\?"[^\s:"$<\[]+:([^"\\\n\[]+)|'[^\s:'$<\[]+:([^'\n\[]+)|[\w.@%+-]+:(<bare>))`},
	{id: "http-user", words: "http·-a http·--auth https·-a https·--auth", expr: `\bhttps?[ ]+(?:-a|--auth)[ ]+["']?[\w.@-]+:(<bare>)`},
	{id: "command-password", words: "mysql mariadb", also: "·-p '-p \"-p", expr: `\b(?:mysql|mysqldump|mysqladmin|mysqlimport|mysqlcheck|mysqlshow|mysqlsh|mariadb|mariadb-dump|mariadb-admin)[ ]<..>["']?-p<arg>`},
	{id: "command-password", words: "mongo sshpass docker·login podman·login registry·login az·login oras·login skopeo·login twine rdesktop evil-winrm psexec winexe wmiexec", also: "·-p",
		expr: `\b(?:mongo\w*|sshpass|(?:docker|podman|nerdctl|helm registry|az|oras|skopeo)[ ]login|twine|rdesktop|evil-winrm|psexec|winexe|wmiexec)[ ]<..>-p[ ]*<arg>`},
	{id: "command-password", words: "sqlcmd bcp· unzip· zip·- ssh-keygen isql· ipmitool security·import", also: "·-P ·-N", expr: `\b(?:sqlcmd|bcp|isql|unzip|zip|ssh-keygen|ipmitool|security import)[ ]<..>-[PN][ ]*<arg>`},
	{id: "command-password", words: "ldap", also: "·-w ·-s ·-a", expr: `\bldap(?:search|add|modify|delete|passwd|whoami|compare|modrdn|exop)[ ]<..>-[wsa][ ]*<arg>`},
	{id: "command-password", words: "redis-cli", also: "·-a ·--pass", expr: `\bredis-cli[ ]<..>(?:-a|--pass)[ ]+<arg>`},
	{id: "command-password", words: "-password -passphrase -pass· -pass= -passwd storepass keypass -pw· -pw=", judge: option, lead: 20,
		expr: `(?:^|[ \t"'])(?:--?[a-z-]*(?:password|passphrase|passwd|storepass|keypass)|--[a-z-]*(?:pass|pw))(?:=|[ \t]+)<arg>`},
	{id: "command-password", words: "pass:", expr: `[ ](?:-pass(?:in|out)?|-k)[ ]+["']?pass:(<bare>)`},
	{id: "command-password", words: "smbclient rpcclient smbmap winexe smbget", expr: `\b(?:smb\w+|rpcclient|winexe)[ ]<..>-U[ ]*["']?[\w.\\/@-]+%(<bare>)`},
	{id: "command-password", words: "impacket- dump.py exec.py users.py client.py", expr: `\b(?:impacket-\w+|\w+\.py)[ ]<..>["']?[\w./-]+:["']?([^\s"'@\\\[]+)["']?@`},
	{id: "command-password", words: "freerdp winrs", expr: `\b(?:[xw]l?freerdp3?|winrs)[ ]<..>[/-]p:<arg>`},
	{id: "command-password", words: "7z·x 7z·a 7z·e 7z·t 7za· 7zr· rar·x rar·a rar·e unrar", also: "·-p", expr: `\b(?:7z[ar]?|rar|unrar)[ ]<..>-p<arg>`},
	{id: "command-password", words: "lftp·", expr: `\blftp[ ]<..>-u[ ]*["']?[\w.@-]+,["']?(?:([^'"\n\[]+)["']|(<bare>))`},
	{id: "command-password", words: "htpasswd·-", expr: `\bhtpasswd[ ]+-\w*b\w*[ ]+(?:-\w+[ ]+)*(?:\S+[ ]+)??[\w.@-]+[ ]+<arg>(?:[\s"';|&\\]|$)`},
	{id: "command-password", words: "chpasswd", lead: 200, expr: `["'][\w.-]+:([^"'\n\[]+)["'][ ]*\|[ ]*(?:sudo[ ]+)?chpasswd`},
	{id: "command-password", words: "sudo·- -stdin cryptsetup _pass .pass pass.txt", also: "echo printf <<<", lead: 300,
		expr: `(?:\b(?:echo|printf)[ ]+(?:-n[ ]+|["']?%s(?:\\n)?["']?[ ]+)?<arg>[ ]*(?:\|[ ]*(?:(?:sudo[ ]+)?cryptsetup\b|sudo[ ]+-\w*S|[^|\n]*-stdin)|>+[ ]*\S*[._-]?pass)|sudo[ ]+-S[ ]*<<<[ ]*<arg>)`},
	{id: "command-password", words: "net·user net·use", expr: `(?i)\bnet1?[ ]+(?:user[ ]+[\w.-]+[ ]+([^\s/*"'\\\[][^\s"'\\]*)[ ]+/add|use[ ]<..>/user:\S+[ ]+([^\s/*"'\[][^\s"']*)|use[ ]<..>\\\\\S+[ ]+([^\s/*"'\[][^\s"']*)[ ]+/user:)`},
	{id: "command-password", words: "setx· set·-", judge: generated, expr: `\b(?:setx|set[ ]-[gUx]+)[ ]+(?i:\w*(?:key|token|secret|pass(?:word)?|pwd))[ ]+<arg>`},
	{id: "command-password", words: "alias·set", expr: `\bmc\w*[ ]+alias[ ]+set[ ]+\S+[ ]+\S+[ ]+\S+[ ]+<arg>`},
	{id: "command-password", words: "g·host·add", expr: `\bmc[ ]+config[ ]+host[ ]+add[ ]+\S+[ ]+\S+[ ]+\S+[ ]+<arg>`},
	{id: "command-password", words: "netsh", also: "key=", expr: `\bnetsh[ ]+wlan[ ]<..>key=<arg>`, lead: 120},
	{id: "command-password", words: "password-command password-file=<(", expr: `--password-(?:command|file)[ =]*(?:["']|<\()echo[ ]+(<bare>)`},
	{id: "command-password", words: "-literal", within: `\bcreate[ ]+secret\b[^\n]*`, lead: 120, reach: 1000, expr: `--from-literal[ =][\w.-]*(?:pass|key|token|secret|pwd)[\w.-]*=<arg>`},
	{id: "totp-secret", words: "otpauth://", judge: totp, expr: `(?i)otpauth://[^\s"']*?[?&]secret=([A-Z2-7]{16,})`},
	{id: "totp-secret", words: "oathtool base32stringseed totp· totp_ totp- totps 2fa· 2fa_ mfa· mfa_ mfas authenticator otpsecret otp_secret otp·s", judge: totp, expr: `(?:(?i:totp|otp|2fa|mfa|authenticator)[\w -]{0,14}?(?i:secret|seed|key)(?: key)?["']?(?: for [^\n:]{1,30}?)?\s*(?:[:=]|is)\s*["']?|oathtool[ ]<..>(?:-b|--base32)[ ]+["']?|Base32StringSeed[^\n]*\n[ ]*)(<b32>)(?:[^\w]|$)`},

	// SQL, PowerShell, XML, code.
	{id: "sql-password", words: "ied·by password·' password·\" set·password", lead: 200,
		expr: `(?:(?i:(?:user|grant|to|role)\b[^\n;]*identified(?:[ ]+with[ ]+\S+)?[ ]+by)[ ]+(?:password[ ]+)?|\b(?:PASSWORD|password)[ ]+|(?i:set[ ]+password)[^=\n]*=[ ]*)<str>`},
	{id: "powershell-password", words: "to-securestring asplaintext", reach: 300, lead: 30,
		expr: `(?i)ConvertTo-SecureString\b(?:[ ]+-(?:String|AsPlainText|Force))*[ ]+(?:<str>|([^\s"'$\-()\[\\][^\s"'()\\]*)[ ])`},
	{id: "powershell-password", words: "networkcredential", expr: `(?i)NetworkCredential\([ ]*["'][^"'\n]*["'],[ ]*<str>`},
	{id: "login-password", words: ".login(", expr: `\.login\([ ]*["'][^"'\n]+["'],[ ]*<str>`},
	{id: "xml-password", words: "password> passwd> passphrase> pwd> password&gt;", judge: xmlText, lead: 60,
		expr: `(?i)<[\w:.-]*(?:password|passwd|passphrase|pwd)>([^<>\n\[]+)</`},
	{id: "xml-password", words: `password= passwd= pwd= password" passphrase"`, judge: xmlText, lead: 300,
		expr: `(?i)<[A-Za-z][\w:.-]*[^<>]*?[ \n\t](?:[\w:.-]*(?:password|passwd|pwd)[ ]?=[ ]?|(?:name|key)=["'][\w.:-]*(?:password|passwd|pwd|passphrase)["'][ ]+value=)\\?(?:"([^"<>\\\n\[{]+)\\?"|'([^'<>\n\[{]+)')`},
	{id: "xml-password", words: `password" passwd"`, judge: xmlText, lead: 200,
		expr: `(?i)<(?:property|entry|prop|param|init-param|setting|env|constructor-arg)[ ][^<>]*(?:name|key)="[\w.:-]*(?:password|passwd)"[^<>]*>([^<>\n\[]+)</`},

	// Names and values.
	{id: "password", words: "password passwd passphrase _pass _pwd sshpass pgpassword rediscli_auth", lead: 60,
		expr: `(?:^|[^\w$])(?:(?:[A-Z][A-Z0-9_]*_)?(?:PASSWORD|PASSWD|PASSPHRASE)|[A-Z][A-Z0-9_]*_(?:PASS|PWD)|SSHPASS|PGPASSWORD|REDISCLI_AUTH)(?:=|:[ ]+)<arg>`},
	{id: "password", words: "__password _password _db_password tf_var", lead: 60, expr: `\b(?:TF_VAR_\w*(?:password|secret)|\w+__Password)=<arg>`},
	{id: "password", words: "password passwd .pwd", lead: 120,
		expr: `(?:^|[\s"'>]|-D)(?:(?:[\w-]+\.){2,}|(?:db|database|jdbc|spring|mail|smtp|ftp|connection|datasource|ldap|redis|proxy|auth)\.)[\w.-]*(?i:password|passwd|pwd|passphrase)(?:=|:[ ])([^\s"'\\();,\[{][^\n"'\\();,\[{]*?)[ ]*<eol>`},
	{id: "password", words: "password passwd .pwd passphrase", judge: word, lead: 60,
		expr: `(?i)\b(?:[\w-]*[._-])?(?:\w*password|passwd|pwd|passphrase)\\?["']?[ \t]*(?:[=-]>|[:=])[ \t]*(?:\\?"([^"\\\n\[]+)\\?"|'([^'\n\[]+)')`},
	{id: "password", words: "pass:· pass= pass\" pass' pass· pw= pw:· pw\" pw'", also: "pass: pass= pass\" pass' pass· pw", judge: word, lead: 30,
		expr: `(?:^|[^\w.$-]|[a-z]_)(?:pass|pw)\\?["']?(?:=|:[ ]|[ ]=[ ])[ ]?(?:\\?"([^"\\\n\[]{6,})\\?"|'([^'\n\[]{6,})'|([^\s"'\\;,()\[{}<>` + "`" + `]{7,}))`},
	{id: "password", words: "password passwd pass:· pass\"", also: "user User login email", lead: 300,
		expr: `(?i)\b(?:user(?:name|_name)?|login|email)\\?["']?(?:[ ]*[:=][ ]*\\?["'][^"'\n\\]*\\?["'][ ]*,\s*|:[ ]+[^\s"'{}();,]+[ ]*\n<num>[ \t]*(?:[\w.-]+:[ ]+[^\s"'{}();,]+[ ]*\n<num>[ \t]*)?|=[^\s"'{}();,]+\n<num>|:[ ]+[^\s"'{}();,]+,[ ]+)\\?["']?(?:password|passwd|pass)\\?["']?(?:[ ]*[:=][ ]*(?:\\?"([^"\\\n\[]+)\\?"|'([^'\n\[]+)')|:[ ]+([^\s"'\\{}();,|>&*!\[]+)[ ]*<eol>|=([^\s"'\\{}();,\[]+)[ ]*<eol>)`},
	{id: "password", words: "password passwd", judge: word, lead: 200, expr: `\buser(?:name)?[ ]=[ ][^\s"'(){};,]+\n<num>(?:password|passwd)[ ]=[ ]([^\s"'\\(){};,\[]+)<eol>`},
	{id: "authorization", words: "authorization", judge: generated,
		expr: `(?i)\bauthorization\\?["']?\s*[:=,]\s*\\?["'` + "`" + `]?(?:token|bot|apikey|key|api-key|sso-key|genie-key|splunk|ssws)[ ]+(?:token=)?["']?([\w.~+/=-]{16,})`},
	{id: "api-key", words: "x-auth-key x-api-key auth-key job-token deploy-token x-auth", judge: generated,
		expr: `(?i)\b(?:x-auth-(?:key|token)|x-api-key|auth-key|job-token|deploy-token)\\?["']?\s*[:=,]\s*\\?["']?([\w.~+/=-]{16,})`},
	{id: "npm", words: "_password= _auth= npmauth", judge: credential, expr: `(?:_password|_auth|npmAuth(?:Token|Ident))["']?\s*[:=]\s*["']?([\w+/=:-]{12,})`},

	{id: "security-answer", words: "security·answer security·question question·secrète sicherheitsfrage pregunta·de·seguridad domanda·segreta", reach: 300, expr: `(?:(?i:maiden name|first (?:pet|school|car|teacher))["']?(?:[ ]*[=:]|[ ]is)[ ]*["']?([\pL\d-]{4,})|(?i:answer|réponse|antwort|respuesta|risposta)(?:[ ]?[:=]|[ ]is)[ ]*["']?(\pL[\pL\d -]{3,24}))`},
	{id: "bundler-credential", words: "bundle_", judge: func(_, v string) bool { return digits(v) > 2 && given("", v) }, expr: `\bBUNDLE_\w+__\w+["']?[:=][ ]*["']?(\w{2,}:[\w-]{8,}|\w{16,})`},
	{id: "login-password", words: "setpassword set_password :auth( .auth(", judge: func(_, v string) bool { return strict("", v) || jumpy(v) || passphrase(v, 4) }, expr: `(?:[sS]et_?[pP]ass(?:word|phrase)?[(:]@?|[.:]auth\()\s*<str>`},
	{id: "password", words: "pass·=· pass=", expr: `\b(?:remote|local|smtp|imap|mail|ftp|db|user)pass[ ]?=[ ]?([^\s"'$(){}\[<]+)[ ]*<eol>`},
	{id: "password", words: "dav·", lead: 80, judge: strict, expr: `https?://\S+dav[ ]+\S+[ ]+<arg>[ ]*<eol>`},
	{id: "command-password", words: "mysql·", also: "·-p\n", judge: func(_, v string) bool { return generated("", v) || strict("", v) }, expr: `\bmysql [^\n]*-p\n[ ]*(?:\d+[ ]+)?([^\s/]{8,})[ ]*<eol>`},
	{id: "command-password", words: "winrm crackmapexec netexec nxc· -hashes", judge: generated, expr: `[ ](?:-H|-hashes|--hash)[ ]+["']?(?:[0-9a-fA-F]{0,32}:)?([0-9a-fA-F]{32})`},
	{id: "azure-devops-token", words: "azdo", lead: 90, judge: generated, expr: `\b([A-Za-z0-9]{70,80}AZDO[A-Za-z0-9]{4})\b`},
	{id: "backblaze-key", words: "k00", judge: generated, expr: `\b(K00\d?[A-Za-z0-9+/]{26,28})\b`},
	{id: "private-key", words: "<master> <password> <passphrase>", judge: shape, expr: `<(?:master|password|passphrase)>(\{[A-Za-z0-9+/=]{40,}\})<`},
	{id: "named-secret", words: "::add-mask", expr: `::add-mask::(\S+)`},
	{id: "account-number", words: "mullvad", judge: func(_, v string) bool { return varied(v) }, expr: `(?i)mullvad[\s\S]{0,60}?\b(\d{16})\b`},
	{id: "password", words: "password·51:b:", judge: shape, reach: 4000, expr: `password 51:b:([0-9A-F]{40,})`},
	{id: "xml-password", words: "php_auth_pw", expr: `PHP_AUTH_PW[^\w\n]{1,3}(?:<[^>\n]*>)+[ ]*([^<\s]+)`},
	{id: "snmp-community", words: "createuser", within: `\bcreateUser [^\n]*`, expr: `(?:MD5|SHA\S*|AES\S*|DES)[ ]+<arg>`},
	{id: "password", words: "passphrase: password: secret: passwd:", judge: func(_, v string) bool { return !sentence(v) && (generated("", v) || strict("", v) || passphrase(v, 3)) }, expr: `(?i:password|passphrase|passwd|secret)["']?:[ ]*[|>][-+]?[ ]*\n[ ]+([^\s][^\n]*)`},
	{id: "one-time-code", words: "gungscode verification·code confirmation·code security·code heitscode 認証コード 验证码 인증번호 digo·de·verif code·de·v codice·di·ver подтверждения", judge: digitsOnly, reach: 80, expr: `(?i:(?:bestätigungs|sicherheits)code|(?:verification|confirmation|security) code|認証コード|验证码|인증번호|código de verif\pL*|code de v[ée]rif\pL*|codice di verif\pL*|код подтверждения)[^\n\d]{0,20}(\d{6,8})(?:[^\d.-]|\.(?:\D|$)|$)`},
	{id: "named-secret", words: "--token --api-key --apikey --secret --access- --auth-", judge: handed, expr: `[ ]--(?:(?:api|access|auth)-?(?:key|token)|token|secret)[ =]+["']?([\w.+/=:-]{16,})`},
	{id: "named-secret", words: "env·", judge: handed, lead: 2, reach: 1500, expr: `(?m:^)[ ]*ENV[ ]+\w*(?:PASSWORD|PASS|TOKEN|SECRET|KEY)[ ]+["']?([^\s"']{16,})`},
	{id: "named-secret", words: "token·| secret·| key·| password·|", judge: handed, lead: 60, reach: 1500, expr: `\|[ ]*\w*_(?:TOKEN|SECRET|KEY|PASSWORD)[ ]*\|[ ]*([^\s|]{16,})[ ]*\|`},
	{id: "named-secret", words: "invalid·key invalid·token invalid·api invalid·cred", judge: handed, reach: 1500, expr: `(?i:invalid (?:api |access )?(?:key|token|credentials?))[ :]+["'(<]([^"'\n]{16,})["')>]`},
	{id: "named-secret", words: "\n-· \n*· \n·-·", lead: 1, reach: 160, judge: func(name, v string) bool {
		return (unguessable(v) || uuid.MatchString(v)) && !otherValue.MatchString(name) && !otherName.MatchString(strings.Trim(name, "\n -*:"))
	}, expr: `\n[ ]?[-*][ ][a-z][\w-]{2,30}:[ ]+([\w.+/=:-]{20,140})[ ]*<eol>`},
	{id: "named-secret", words: "token secret credential passw passphrase key _pat· _pat= _pat: _pat\" _pat' _pat\\ _pat\x60 ·pat· ·pat: 密钥 令牌 トークン シークレット キー 키를 키는 키: schlüssel geheimnis jeton pepper geniekey 토큰 klucz anahtar nyckel nøgle nøkkel klíč kulcs مفتاح auth: auth= auth\": clave llave clé· clé: chave chiave sleutel ключ токен", regions: nearSecrets, reach: 500, lead: 30, judge: shape},
	{id: "near-password", words: passwordWords + " root admin postgres", regions: nearPasswords, judge: shape, lead: 120, reach: 200},
	{id: "kubernetes-secret", words: `kind:·secret "kind":"secret "kind":·"secret kind:·"secret \"kind\":\"secret`, regions: kubeSecrets, lead: 16 << 10, reach: 16 << 10, judge: encoded, run: true},
}

// ownRule is a row.
type ownRule struct {
	id      string
	words   string // the words to look for first, separated by blanks, in lower case; · is a space
	expr    string
	judge   judge                   // nil is given
	also    string                  // words of which one must be near, as they are written; "" for none
	within  string                  // an expression; expr applies to its matches only, "" for everywhere
	regions func(s string) [][2]int // finds the secrets in place of expr
	lead    int                     // how far before a word a match may begin, in bytes; 0 is 40
	reach   int                     // how far after a word a match may end, in bytes; 0 is 500
	run     bool                    // the secret extends to the end of its base64
}

const (
	bare       = "[^\\s\"'\\\\;|&<>()`\\[][^\\s\"'\\\\;|&<>()`]*"
	quoteMarks = "\"'`“”„«»‘’‚「」『』《》"
)

var spelling = strings.NewReplacer(
	"<bare>", bare,
	"<arg>", `(?:\\?"([^"\\\n\[][^"\\\n]*)\\?"|'([^'\n\[][^'\n]*)'|(`+bare+`))`,
	"<str>", `(?:\\?"([^"\\\n\[][^"\\\n]*)\\?"|'([^'\n\[][^'\n]*)')`,
	"<eol>", `(?:[\r\n"'\\]|$)`,
	"<b32>", `[A-Z2-7]{16,64}|(?:[A-Z2-7]{4}[ ]){3,15}[A-Z2-7]{2,4}|(?:[a-z2-7]{4}[ ]){5,15}[a-z2-7]{2,4}`,
	"<num>", `(?:[ \t]*\d+[→\t][ \t]*)?`,
	"<..>", `(?:(?:[^\n|]|\\\r?\n)*?[ \n])??`,
)

func generated2(_, v string) bool { return varied(v) && digits(v) > 1 }

// totp accepts base32 seeds, except the seed that manuals use.
func totp(_, v string) bool {
	return varied(v) && !strings.HasPrefix(strings.ToUpper(v), "JBSWY3DPEHPK3PXP")
}

// xmlText is the judge of the text of an XML element or attribute.
func xmlText(name, v string) bool {
	v = strings.TrimSpace(v)
	return strings.Count(v, " ") <= 1 && given(name, v) && (len(v) >= 5)
}

var sessionName = textutil.LazyRegexp(`(?i)sess|sid\b|sid$|auth|token|jwt|csrf|xsrf|remember|login|secret|key|ticket|cf_clearance|__cf|bm_`)

// cookie accepts a random value of a cookie with the name of a session cookie.
func cookie(name, v string) bool {
	return sessionName.MatchString(name) && generated(name, v)
}
