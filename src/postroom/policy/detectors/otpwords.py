"""Words that tell of a one-time code, in the languages that services write in."""

from __future__ import annotations

from postroom.policy.detectors.pattern import pattern

_OF = r"(?: \w+){0,2}"
STRONG = pattern(
    # English
    r"\b(?:verification|security|log-?in|log in|sign-?in|sign in|access|authentication|authenticator|authori[sz]ation"
    r"|auth|activation|validation|one-?time|single-use|temporary|recovery|reset|two-factor|two-step|2-step|2fa|mfa|sms"
    r"|unlock|pairing|identity|identification|approval|magic|registration|device|transaction|dynamic|sign-?up)"
    r"(?:[ -]\(?\w+\)?)?[ -](?:code|pin|passcode)s?\b",
    r"\b(?:verification|security|authentication|one-?time|login|sign-in) (?:number|digits|token|key)\b",
    r"\b(?:confirmation|account|email|phone) (?:code|pin)\b",
    r"\bone[- ]?time[- ](?:\w+[- ])?(?:pass|use)",
    r"\bt?otp\b|\bpasscodes?\b",
    r"\bcode to (?:\w+ )?(?:verify|confirm|sign|log|authenticate|access|continue|complete|finish|activate|unlock"
    r"|reset)",
    r"\bcode (?:for|from) (?:sign|log)ging[ -]in|\b(?:sign|log) ?in with (?:this|the) code",
    r"\bpin(?:[ -]?code|[ -]?number| is| ?[:=])|\byour (?:\w+ )?pin\b",
    # German
    r"(?:best[äa]e?tigungs|verifizierungs|verifikations|sicherheits|einmal|anmelde|zugangs|log-?in|freischalt|freigabe"
    r"|aktivierungs|authentifizierungs|pr[üu]e?f|zugriffs|legitimations|registrierungs|identifikations)"
    r"[ -]?(?:code|kode|pin|kennwort|passwort|nummer|schl[üu]e?ssel|zahl|ziffer)|\b(?:m|sms-?|push-?|i|chip)?tan\b",
    r"\bcode (?:zur|f[üu]r (?:die|deine|ihre)) (?:best[äa]tigung|anmeldung|verifizierung|freischaltung|registrierung)",
    # French
    rf"\bcodes?{_OF} (?:de |d['’])(?:v[ée]rification|s[ée]curit[ée]|confirmation|connexion|validation|acc[èe]s"
    rf"|activation"
    r"|authentification|identification|d[ée]verrouillage)",
    r"\bcode (?:[àa] usage unique|secret|confidentiel|temporaire|unique|d'usage)"
    r"|mot de passe (?:[àa] usage )?(?:unique|temp)",
    # Spanish, Portuguese
    rf"\bc[óo]digos?{_OF} (?:de |del? |da )?(?:un solo uso|uso [úu]nico|[úu]nico|temporal|tempor[áa]rio|verifica"
    rf"|seguran"
    r"|segurid|confirma|acce?s|inicio|in[íi]cio|activa|ativa|autentic|autoriza|valida|login|desbloqu|identifica)",
    r"\bclave (?:temporal|din[áa]mica|de (?:un solo uso|acceso|seguridad))|contrase[ñn]a (?:de un solo uso|temporal)",
    r"\b(?:senha|palavra-passe) (?:de (?:uso|utiliza[çc][ãa]o) [úu]nic|tempor[áa]ria|[úu]nica|descart[áa]vel)",
    # Italian
    rf"\bcodice{_OF} (?:di |d['’])(?:verifica|sicurezza|conferma|accesso|attivazione|autentica|autorizza|sblocco"
    rf"|login)",
    r"\bcodice (?:otp|monouso|temporaneo|usa e getta|pin|sms)|password (?:monouso|temporanea|usa e getta)",
    # Dutch, Swedish, Danish, Norwegian, Finnish
    r"(?:verificatie|beveiligings|bevestigings|inlog|toegangs|activerings|activatie|eenmalige |controle"
    r"|authenticatie|pin)"
    r"[ -]?code|eenmalig(?:e)? (?:wachtwoord|pin)",
    r"(?:verifierings|verifikations|eng[åa]ngs|s[äa]kerhets|bekr[äa]ftelse|inloggnings|aktiverings"
    r"|bekr[æe]ftelses|engangs"
    r"|sikkerheds|sikkerhets|bekreftelses|verifiserings|innloggings|p[åa]loggings|logind|login)(?:kod|kode|l[öo]senord"
    r"|passord|adgangskode)",
    r"(?:vahvistus|kertak[äa]ytt[öo]|turva|varmennus|kirjautumis|todennus)-?(?:koodi|tunnus|salasana)",
    # Polish, Czech, Slovak, Hungarian, Romanian
    r"\bkod\w{0,3} (?:\w+ )?(?:weryfikac|bezpiecze|potwierdz|dost[ęe]p|logowan|do logowan|jednoraz|aktywac|autoryzac"
    r"|uwierzyt|zabezpiecz|sms\b)|jednorazow\w+ (?:kod|has[łl])|has[łl]\w+ jednorazow",
    r"(?:ov[ěe][řr]ovac[íi]|bezpe[čc]nostn[íiýy]|potvrzovac[íi]|potvrdzovac[íi]|p[řr]ihla[šs]ovac[íi]|jednor[áa]zov\w+)"
    r" (?:k[óo]d|heslo)",
    r"(?:ellen[őo]rz[őo]|biztons[áa]gi|meger[őo]s[íi]t[őo]|hiteles[íi]t[őo]|bel[ée]p[ée]si"
    r"|egyszer haszn[áa]latos|azonos[íi]t[óo])"
    r" (?:\w+ )?(?:k[óo]d|jelsz)",
    r"\bcod(?:ul)?(?: \w+)? de (?:verific|securit|confirm|acces|autentific|activ)|parol\w+ (?:unic|de unic)",
    # Turkish, Indonesian, Malay, Vietnamese
    r"(?:do[ğg]rulama|g[üu]venlik|onay|giri[şs]|eri[şs]im|aktivasyon|tek kullan[ıi]ml[ıi]k|kimlik do[ğg]rulama)"
    r" (?:kod|[şs]ifre|parola|pin)",
    r"\bkode (?:verifikasi|otp|keamanan|akses|konfirmasi|masuk|login|aktivasi)|\bkod (?:pengesahan|keselamatan)",
    r"m[ãa] (?:x[áa]c (?:minh|nh[ậa]n|th[ựu]c)|b[ảa]o m[ậa]t|otp|[đd][ăa]ng nh[ậa]p|k[íi]ch ho[ạa]t)",
    # Russian, Ukrainian, Bulgarian, Greek
    r"код\pL{0,3} (?:\pL+ )?(?:подтвержд|проверк|безопасн|доступ|авторизац|активац|вход|верификац|из смс"
    r"|підтвердж|перевірк"
    r"|безпек|входу|потвържд|сигурност)|(?:одноразов|однораз|проверочн|защитн|еднократ)\pL+ (?:код|парол)|пин-?код",
    r"κωδικ\pL+ (?:\pL+ )?(?:επαλήθευσης|επιβεβαίωσης|ασφαλείας|μίας χρήσης|μιας χρήσης|πρόσβασης|σύνδεσης)",
    # Chinese, Japanese, Korean
    "(?:验证|驗證|校验|校驗|动态|動態|确认|確認|安全|登录|登入|登陆|一次性|授权|授權|认证|認證|激活|随机|短信|动态登录)"
    "(?:码|碼|密码|密碼|代码|代碼|口令|验证码|驗證碼)",
    "(?:認証|確認|検証|セキュリティ|ワンタイム|ログイン|アクセス|本人確認|二段階認証|承認|登録|リセット)"
    "(?:用)?(?:の)?(?:コード|番号|パスワード|パスコード|キー|PIN)|パスコード|暗証番号|ワンタイム",
    "(?:인증|확인|보안|로그인|일회용|액세스|접속|승인|본인확인)(?:용)? ?(?:번호|코드|비밀번호|암호|키)|일회용",
    # Arabic, Hebrew, Persian, Hindi, Thai
    "(?:رمز|كود) (?:التحقق|التأكيد|الأمان|الدخول|التفعيل|المرور|التوثيق)"
    "|(?:کد|رمز) (?:تایید|تأیید|امنیتی|ورود|فعال|یکبار)",
    "קוד (?:ה)?(?:אימות|אבטחה|כניסה|חד|גישה|אישור)|(?:सत्यापन|सुरक्षा|लॉगिन|पुष्टि) कोड"
    "|ओटीपी|รหัส ?(?:ยืนยัน|ความปลอดภัย|otp|ผ่านครั้งเดียว|เข้าสู่)",
)
"""Within 160 characters of these a number of the right form is a code."""

PIN = pattern(r"\bPINs?\b", any_case=False)
"""In capitals the word stands for nothing else."""

WEAK = pattern(
    r"\bcode(?: is| below)?\b|(?:verif(?:y|ication)|(?:sign|log)(?:ging|ing)?[ -]in|reset your password)\W{1,3}"
    r"(?:please )?(?:enter|use|type)\b",
    r"\b(?:confirm|verify|approve|complete) (?:\w+ ){0,3}(?:sign-?in|log-?in|identity|account|e-?mail|device"
    r"|phone number|it'?s you)\b|\(one-time\)",
    r"\b(?:ihr|dein|der|dem|den|diesen|folgenden|mit)(?:en|em)? (?:[\w-]+ )?code\b|\b(?:votre|ton|le|ce) code\b"
    r"|\b(?:tu|su|el|este) c[óo]digo\b",
    r"\b(?:seu|teu|o|este) c[óo]digo\b|\b(?:il|tuo|suo|questo) codice\b|\b(?:uw|je|jouw|deze|de|gebruik) code\b",
    r"\bk[óo]d(?:em|u|e|et)?\b|(?:^|[^\pL])код(?:ом|а)?(?:[^\pL]|$)|\bkodunuz\b|您的代码|コード|코드",
)
"""Of these a code stands close by, if they are of no other kind of code."""
UNNAMED = pattern(
    r"(?:^|[\n.:;,!?()\[\]<>|–—-]\s*)$|\b(?i:your|the|this|that|following|a|enter|use|with|type|as)\s"
    r"(?:(?:[A-Z][\w'’.]*|unique|personal|new|secret|temporary|private|single|launch|[1-9a-z]{1,5}-digit)\s){0,3}$",
    any_case=False,
)
"""What may stand before `code`: any other word would say what kind it is."""
TOPIC = pattern(r"\b(?:two|multi|2)[- ](?:factor|step)\b|\b(?:2fa|mfa)\b")
"""Of these one may talk without any code; it takes six figures, or a colon, to make one."""
OTHER_USE = pattern(r"^s?[ -](?:review|base|scan|audit|freeze|quality|of |style|owner|change|analysis|signing|snippet)")
"""Behind a word for a code: talk of programs."""
OTHER_CODE = pattern(
    r"\b(?:discount|promo\w*|coupon|voucher|gift|offer|referral|zip|postal|post|area|country|dial\w*|error|status|exit"
    r"|dress|source|order|booking|product|item|qr|bar|colou?r|tax|sort|swift|bic|bank|time|http|response|reason|invite"
    r"|morse|penal|civil|building|airport|flight|version|rabatt\w*|gutschein\w*|promotion\w*|aktions\w*|remise"
    r"|descuento|sconto|korting\w*|rabat\w*)[ -]?(?:code|c[óo]d|codice|kod)",
    r"\bcode (?:promo|postal|de r[ée]duction|review|base|block|snippet|of conduct|freeze)"
    r"|\bc[óo]digo (?:postal|promocional|de descuento|fuente|de barras)"
    r"|\bcodice (?:fiscale|sconto|postale|civile|a barre)"
    r"|\bk[óo]d\w* (?:poczt|rabat|kresk|promoc|[śs]len)|\bk[óo]dy? (?:pro slevu)|код\w* (?:город|стран|товара|ошибк)"
    r"|почтов|промокод|штрих|バーコード|エラーコード|クーポン|ソースコード|郵便|바코드|오류|쿠폰|우편",
    r"checkout|\d ?% (?:off|rabatt)|\bplz\b|\bat the till\b|\bcodebase\b|\brepository\b|\bcommit\b",
)
TRAVEL = pattern(
    r"\b(?:booking|reservation|flight|airline|hotel|itinerary|boarding|check-in|departure|arrival|guest)s?\b"
)
"""Beside these a confirmation code is the name of a booking."""
CONFIRMATION = pattern(
    r"confirmation code|c[óo]digo de confirma\w+|code de confirmation|codice di conferma|buchungscode"
)
