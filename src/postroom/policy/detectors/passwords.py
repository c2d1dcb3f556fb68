"""Passwords in the clear: what stands behind the word and a sign or a verb."""

from __future__ import annotations

from collections.abc import Iterator

from postroom.policy.detectors.pattern import Match, Span, pattern

_WORD = (
    r"(?:password|passwd|passphrase|pass ?code|pwd|passwort|kennwort|mot de passe|contrase[ñn]a|clave|senha"
    r"|palavra-passe"
    r"|parola d['’]ordine|parola chiave|wachtwoord|has[łl]o|пароль|парол[аьіє]+|[şs]ifre(?:niz)?|parola(?:n[ıi]z)?"
    r"|密码|密碼|口令|パスワード|비밀번호|암호|l[öo]senord(?:et)?|adgangskoden?|passord(?:et)?|salasana(?:si)?|heslo|jelsz[óo]"
    r"|κωδικός(?: πρόσβασης)?|كلمة المرور|كلمة السر|סיסמה|mật khẩu|kata sandi|รหัสผ่าน|पासवर्ड)"
)
_VALUE = r"(?:[\"'`“”„«‘]([^\"'`“”«»’\n]{3,80})[\"'`“”»’]|([^\s\"'`“”„«»<>]{4,128}))"
_SIGNED = pattern(rf"{_WORD}(?: ?\([^()\n]{{1,30}}\))?(?: (?:is|ist|est|es|lautet|for \S{{1,40}}|für \S{{1,40}}))? ?"
                  rf"(?::|=|：|＝|->|→|\|)[ \t]*(?:\n[ \t>]*){{0,2}}{_VALUE}")  # fmt: skip
_TOLD = pattern(
    rf"{_WORD}(?: (?:now|currently|again|for \S{{1,40}}))? ?"
    rf"(?:(?:is now|set to|changed to|is|was|ist|lautet|est|es|é|è|to|wynosi|er|är|on|-)(?: ?: ?| )"
    rf"|(?:为|為|是|は|은|는) ?:? ?){_VALUE}"
)
_BELOW = pattern(rf"{_WORD}[ \t]*\n[ \t>]*{_VALUE}[ \t]*(?:\n|$)")
_SENTENCE = (
    "please required reset expired changed incorrect invalid here none click see never must null true "
    "false enter forgot forgotten sent attached below above unknown your choose bitte siehe hier this "
    "that http https optional empty hidden same not the "
)
_ASKED = frozenset(_SENTENCE.split())
"""Words of a sentence about passwords, which are none themselves."""
_EDGE = ".,;:)]}。，、"
_LINE_END = pattern(r"^[.,;!?)\]]{0,2}[ \t]*(?:\n|$)")


def passwords(text: str, context: str = "") -> list[Span]:
    """The values that are said to be a password; of a mere word only behind a colon, at the end of its line."""
    signed, others = _SIGNED.finditer(text), (_TOLD.finditer(text), _BELOW.finditer(text))
    found = [
        *_values(text, signed, signed=True),
        *(span for one in others for span in _values(text, one, signed=False)),
    ]
    return sorted(set(found))


def _values(text: str, matches: Iterator[Match], *, signed: bool) -> Iterator[Span]:
    for match in matches:
        group = 1 if match.group(1) is not None else 2
        start, end = match.span(group)
        while group == 2 and end > start and text[end - 1] in _EDGE:
            end -= 1
        value = text[start:end]
        if value.lower() in _ASKED or value.startswith(("[redacted", "‹", "http")) or end - start < 3:
            continue
        is_alone = signed and (group == 1 or _LINE_END.search(text[end : end + 100]) is not None)
        if is_alone or _is_no_word(value):
            yield Span(start, end)


def _is_no_word(value: str) -> bool:
    """A figure, a sign, or a capital inside: hardly a word of a sentence."""
    inner = value[1:-1]
    has_sign = any(not one.isalnum() and one not in "-'’/." for one in inner)
    has_capital = any(one.isupper() for one in inner) and any(one.islower() for one in value)
    return any(one.isdigit() for one in value) or has_sign or has_capital
