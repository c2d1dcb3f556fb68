"""For the words by which mailers of many languages mark what they quote and what they forward."""

from __future__ import annotations

import re

WROTE = re.compile(
    r"(?:\b(?:wrote|writes|quoting|schrieb|schreibt|a écrit|écrit|escribió|escribe|ha scritto|scrive|escreveu|schreef"
    r"|skrev|kirjoitti|napisał|napisała|pisze|napsal|napsala|píše|írta|a scris|yazdı|έγραψε|đã viết|написал|написала"
    r"|пишет|пише|писал|писав|كتب|כתב)(?!\w).{0,120}|写道|寫道|のメッセージ|のメール|が書きました|님이 작성)"
    r"\s*[:：]\s*$",
    re.IGNORECASE,
)
"""Ends a line that says who wrote what follows."""

_ORIGINAL = (
    "original message|ursprüngliche nachricht|original-?nachricht|message d['’]origine|mensaje original"
    "|messaggio originale|mensagem original|oorspronkelijk bericht|oprindelig meddelelse|opprinnelig melding"
    "|ursprungligt meddelande|alkuperäinen viesti|oryginalna wiadomość|původní (?:zpráva|e-mail)|pôvodná správa"
    "|eredeti üzenet|mesaj original|orijinal (?:mesaj|ileti)|özgün ileti|αρχικό μήνυμα|исходное сообщение"
    "|оригинальное сообщение|оригінальне повідомлення|הודעה מקורית|رسالة أصلية|الرسالة الأصلية|原始邮件|原始郵件"
    "|邮件原件|元のメッセージ|원본 (?:메일|메시지)"
)
SEPARATOR = re.compile(rf"^\s*-{{2,}}\s*(?:{_ORIGINAL})\s*-{{2,}}\s*$", re.IGNORECASE)

_FORWARDED_MESSAGE = (
    "forwarded message|weitergeleitete nachricht|message (?:transféré|réexpédié)|mensaje reenviado"
    "|messaggio inoltrato|mensagem (?:encaminhada|reencaminhada)|doorgestuurd bericht|videresendt (?:besked|melding)"
    "|videresend (?:besked|melding)|vidarebefordrat meddelande|välitetty viesti|przekazana wiadomość"
    "|wiadomość przekazana dalej|přeposlaná zpráva|továbbított üzenet|iletilen (?:mesaj|ileti)|mesaj redirecționat"
    "|προωθημένο μήνυμα|пересылаемое сообщение|пересланное сообщение|转发的?邮件|轉寄的?郵件|転送メッセージ"
    "|전달된 (?:메일|메시지)"
)
_BEGIN_FORWARDED = (
    "begin forwarded message|anfang der weitergeleiteten nachricht|début du message (?:réexpédié|transféré)"
    "|inicio del mensaje reenviado|inizio messaggio inoltrato|início da mensagem (?:encaminhada|reencaminhada)"
    "|begin doorgestuurd bericht|vidarebefordrat brev|start på videresendt besked|начало переадресованного сообщения"
    "|下面是被转发的邮件|転送されたメッセージ"
)
FORWARDED = re.compile(
    rf"^\s*(?:-{{3,}}\s*(?:{_FORWARDED_MESSAGE})\s*-{{3,}}|(?:{_BEGIN_FORWARDED})\s*[:：])\s*$", re.IGNORECASE
)
"""The line above what is forwarded."""

FORWARD_SUBJECT = re.compile(
    r"^\s*(?:\[[^\]]{1,60}\]\s*){0,3}(?:fwd?|wg|tr|rv|enc|i|vs|vl|vb|pd|fs|doorst|i̇lt|ilt|πρθ|пер|转发|轉寄)\s*[:：]",
    re.IGNORECASE,
)
REPLY_SUBJECT = re.compile(
    r"^\s*(?:\[[^\]]{1,60}\]\s*){0,3}(?:re|aw|antw|sv|odp|ynt|vá|ref|rif|res|απ|回复|回覆|答复|返信)\s*(?:\[\d{1,4}\])?\s*[:：]",
    re.IGNORECASE,
)

_FIELDS = {
    "from": (
        "from|von|de|da|van|od|fra|från|lähettäjä|feladó|de la|gönderen|kimden|από|от|від|מאת|من|发件人|寄件者|差出人"
        "|보낸 ?사람"
    ),
    "sent": (
        "sent|date|gesendet(?: am)?|datum|envoyé(?: le)?|enviado(?: el| em)?|enviada em|fecha|data|inviato|verzonden"
        "|wysłan[oe]|poslano|odesláno|odoslané|dátum|sendt|dato|skickat|lähetetty|päivämäärä|elküldve|trimis|gönderildi|tarih"
        "|στάλθηκε|ημερομηνία|отправлено|дата|надіслано|נשלח|תאריך|تم الإرسال|تاريخ الإرسال|التاريخ|发送时间|日期"
        "|寄件日期|送信日時|日付|보낸 ?날짜|날짜"
    ),
    "to": (
        "to|an|à|pour|para|a|aan|do|za|komu|til|till|vastaanottaja|címzett|către|kime|προς|кому|אל|إلى|收件人|收件者|宛先"
        "|받는 ?사람"
    ),
    "subject": (
        "subject|betreff|objet|sujet|asunto|oggetto|assunto|onderwerp|temat|předmět|predmet|zadeva|emne|ämne|aihe|tárgy"
        "|subiect|konu|θέμα|тема|נושא|الموضوع|主题|主旨|件名|제목"
    ),
}
HEADER_LINE = {
    name: re.compile(rf"^\s*\*{{0,2}}(?:{words})\s?\*{{0,2}}(?:：|:(?=[\s*]|$))", re.IGNORECASE)
    for name, words in _FIELDS.items()
}
"""Lines of the block that Outlook and others write above what they quote."""

POINTS_BELOW = re.compile(
    r"\b(?:in-?line|in (?:red|blue|green|rot|blau|grün|rouge|bleu|vert|rojo|azul|verde|rosso|blu)"
    r"|(?:see|answers?|answered|comments?|commented|replies|replied|responses?|notes|noted|marked)\b[^.!?\n]{0,40}\bbelow"
    r"|(?:siehe|antworten?|kommentare?|anmerkungen)\b[^.!?\n]{0,40}\bunten|s\. ?u\.|ci-dessous|(?:más )?abajo"
    r"|qui sotto|hieronder|nedenfor|nedan|poniżej|níže|ниже|нижче)(?!\w)",
    re.IGNORECASE,
)
"""New words that send their reader to what stands below, where answers may stand between the lines."""
