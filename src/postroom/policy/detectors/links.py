"""Links that open an account to whoever holds them: for resetting, confirming, signing in."""

from __future__ import annotations

from itertools import pairwise

from postroom.mail.url import find_urls
from postroom.policy.detectors.pattern import Span, pattern
from postroom.policy.detectors.secrets import entropy

_CONTEXT = pattern(
    r"\b(?:reset|recover|change|choose|set|create)\w* (?:\w+ ){0,3}pass(?:word|code|phrase)|pass(?:word"
    r"|code)[ -](?:reset|recovery)",
    r"\bmagic[ -]link|\b(?:sign|log)[ -]?in (?:link|with (?:this|one|the))|\bone[- ](?:time|click) (?:\w+ )?link"
    r"|forgot(?:ten)? (?:\w+ )?password",
    r"\b(?:confirm|verify|validate|activate)\w* (?:\w+ ){0,3}(?:e-?mail|account|address|identity|registration"
    r"|subscription|sign-?up)",
    r"\baccept (?:\w+ ){0,2}invitation|\binvit(?:ed|es) you to (?:join|collaborate)",
    r"passwort[\w ]{0,20} (?:zur[üu]ck|[äa]ndern|vergessen)|(?:e-?mail|konto|adresse|anmeldung"
    r"|registrierung)[\w -]{0,30} (?:best[äa]tig|aktivier)",
    r"(?:r[ée]initialis|modifi|chang)\w* (?:\w+ ){0,3}mot de passe|(?:confirm|v[ée]rifi"
    r"|activ)\w* (?:\w+ ){0,3}(?:compte|adresse|inscription)|lien magique",
    r"(?:restablec|recuper|cambi|redefin|alter)\w* (?:\w+ ){0,3}(?:contrase|senha|palavra-passe)"
    r"|(?:confirm|verific|ativ|activ)\w* (?:\w+ ){0,3}(?:cuenta|conta|correo|e-?mail|registro)|enlace m[áa]gico"
    r"|link m[áa]gico",
    r"(?:reimpost|ripristin|cambi)\w* (?:\w+ ){0,3}password|(?:conferm|verific|attiv)\w* (?:\w+ ){0,3}(?:account"
    r"|indirizzo|e-?mail)",
    r"wachtwoord[\w ]{0,20} (?:herstel|wijzig|opnieuw|reset|vergeten)|(?:bevestig"
    r"|activeer)\w* (?:\w+ ){0,3}(?:account|e-?mail)",
    r"(?:zresetuj|zmie[ńn]|odzyska)\w* (?:\w+ ){0,2}has[łl]|(?:potwierd[źz]|aktywuj)\w* (?:\w+ ){0,3}(?:konto"
    r"|adres|rejestr)",
    r"(?:сброс|восстанов|смен|измен)\pL* (?:\pL+ ){0,2}парол|(?:подтверд|активир)\pL* (?:\pL+ ){0,3}(?:аккаунт"
    r"|учетн|почт|адрес|регистр)",
    r"[şs]ifre\w* (?:s[ıi]f[ıi]rla|yenile)|重置(?:您的|你的)?密码|重設密碼|找回密码|验证(?:您的|你的)?(?:邮箱|电子邮件)"
    "|激活(?:您的)?(?:账户|帐户)"
    r"|パスワード(?:を|の)?(?:再設定|リセット|変更)|メールアドレス(?:を|の)?(?:確認|認証)"
    "|비밀번호(?:를)? ?(?:재설정|변경|초기화)|이메일 ?(?:을 )?(?:인증|확인)",
)
_PATH = pattern(r"(?:^|[^a-z])(?:re-?set|confirm(?:ation)?|verif(?:y|ication)|magic|token|otp|invit(?:e|ation)"
    r"|activat(?:e|ion)"
                r"|log-?in|sign-?in|password|auth|recover|unlock|einladung|best[ae]+tigen)(?:[^a-z]|$)"
                r"|(?:reset|verify|confirm|magic|login|invite|activate|token)")  # fmt: skip
_RUN = pattern(r"[A-Z0-9_=+~-]{16,}")
_LEAST_BITS, _LEAST_FIGURES, _LEAST_CHANGES = 3.0, 3, 4


def links(text: str, context: str = "") -> list[Span]:
    """Every address of the web in a text that speaks of resetting, confirming or signing in; else by its path."""
    told = asks_to_act(text) or asks_to_act(context)
    return [Span(start, end) for start, end, url in find_urls(text) if opens_account(url, told=told)]


def asks_to_act(text: str) -> bool:
    """Whether a text speaks of resetting, confirming, or signing in by a link."""
    return _CONTEXT.search(text) is not None


def opens_account(url: str, *, told: bool) -> bool:
    """Whether such a link opens an account; `told` if its message speaks of that."""
    if url[:7].lower() == "mailto:":
        return False
    if told:
        return True
    path = _behind_host(url)
    return _PATH.search(path) is not None or any(_is_key(run.group() or "") for run in _RUN.finditer(path))


def _behind_host(url: str) -> str:
    rest = url.partition("://")[2] or url
    starts = [at for at in (rest.find(mark) for mark in "/?#") if at >= 0]
    return rest[min(starts) :] if starts else ""


def _is_key(run: str) -> bool:
    """Whether a run of characters of an address is a key rather than words joined by hyphens."""
    figures = sum(one.isdigit() for one in run)
    changes = sum(one.isupper() != other.isupper() for one, other in pairwise(run))
    return entropy(run) >= _LEAST_BITS and (figures >= _LEAST_FIGURES or changes >= _LEAST_CHANGES)
