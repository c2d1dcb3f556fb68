"""Messages of our own writing with one thing in them that a detector is to find, and many with nothing of the kind."""

from __future__ import annotations

import random
import string
from collections.abc import Callable
from typing import NamedTuple

HEX = "0123456789abcdef"
ALNUM = string.ascii_letters + string.digits


class Sample(NamedTuple):
    """A message, and what is to be found in it."""

    text: str
    hidden: str
    """Empty for a message with nothing to find."""


# -- one-time codes

OTP = [
    "Your verification code is {}. It expires in 10 minutes.",
    "{} is your Nimbus security code. Never share it.",
    "Use {} to sign in. If you did not ask for this login code, ignore this mail.",
    "Hi Mara,\n\nhere is the one-time passcode you asked for:\n\n{}\n\nThe Lantern team",
    "To finish signing in, enter the 2FA code below.\n\n    {}\n\nThis code will expire in 15 minutes.",
    "Your OTP for the transaction at Corner Shop is {}. Do not disclose it to anybody.",
    "Enter this code on the sign-in page: {}",
    "Code: {}",
    "We noticed a sign-in from a new device. Confirm with the access code {} within 5 minutes.",
    "{} is the PIN for your parcel locker.",
    "Your temporary login pin: {}\nValid until midnight.",
    "Please type {} into the app to verify your phone number. This authentication code works once.",
    "Someone (hopefully you) requested a password reset code. It is {}.",
    "Your account recovery code: {}",
    "Here's your code: {}. We will never call you to ask for it.",
    "Ihr Bestätigungscode lautet {}. Er ist 10 Minuten gültig.",
    "Dein Sicherheitscode: {}\n\nViele Grüße",
    "Guten Tag,\n\nIhre TAN für die Überweisung ist {}.",
    "{} ist Ihr Einmalpasswort für die Anmeldung.",
    "Geben Sie den Verifizierungscode {} im Browser ein.",
    "Votre code de vérification est {}. Il expire dans 10 minutes.",
    "Voici votre code à usage unique : {}",
    "{} est votre code de sécurité Belair.",
    "Code de connexion : {}. Ne le communiquez à personne.",
    "Tu código de verificación es {}. No lo compartas.",
    "Introduce el código de seguridad {} para continuar.",
    "Su clave temporal es {} y vence en 5 minutos.",
    "Il tuo codice di verifica è {}.",
    "Codice di sicurezza: {}\nValido per 10 minuti.",
    "O seu código de verificação é {}.",
    "Seu código de acesso: {}. Não compartilhe.",
    "Use o código de segurança {} para entrar.",
    "Je verificatiecode is {}. Deel deze met niemand.",
    "Uw eenmalige code: {}",
    "Twój kod weryfikacyjny to {}.",
    "Kod jednorazowy: {}\nNie udostępniaj go nikomu.",
    "Ваш код подтверждения: {}. Никому его не сообщайте.",
    "{} — код для входа в аккаунт.",
    "Одноразовый пароль: {}",
    "Doğrulama kodunuz: {}",
    "Güvenlik kodu {} ile giriş yapabilirsiniz.",
    "您的验证码是{}，5分钟内有效。",
    "【云栈】验证码：{}，请勿泄露。",
    "您的驗證碼為 {}。",
    "動態密碼 {} 將於三分鐘後失效",
    "認証コード: {}\n有効期限は10分です。",
    "{} がログイン用の確認コードです。",
    "ワンタイムパスワードは「{}」です。",
    "인증번호는 [{}] 입니다. 타인에게 알려주지 마세요.",
    "로그인 인증 코드: {}",
    "Din verifieringskod är {}.",
    "Din bekræftelseskode er {}.",
    "Engangskoden din er {}.",
    "Vahvistuskoodi: {}",
    "Váš ověřovací kód je {}.",
    "Az ön ellenőrző kódja: {}",
    "Codul de verificare este {}.",
    "Ο κωδικός επαλήθευσης είναι {}.",
    "رمز التحقق الخاص بك هو {}",
    "קוד האימות שלך הוא {}",
    "आपका सत्यापन कोड {} है।",
    "Kode verifikasi Anda adalah {}.",
    "Mã xác minh của bạn là {}.",
    "Ваш код підтвердження: {}",
]


def _digits(chance: random.Random, count: int, first: str = "3456789") -> str:
    return chance.choice(first) + "".join(chance.choice(string.digits) for _ in range(count - 1))


def a_code(chance: random.Random) -> str:
    """A code in one of the forms in which services write them."""
    upper = "ABCDEFGHJKLMNPQRSTUVWXYZ"
    forms: list[Callable[[], str]] = [
        lambda: _digits(chance, 6),
        lambda: _digits(chance, 6),
        lambda: _digits(chance, 6),
        lambda: _digits(chance, chance.choice((4, 5, 7, 8))),
        lambda: f"{_digits(chance, 3)} {_digits(chance, 3)}",
        lambda: f"{_digits(chance, 3)}-{_digits(chance, 3)}",
        lambda: f"{_digits(chance, 4)} {_digits(chance, 4)}",
        lambda: " ".join(_digits(chance, 6)),
        lambda: f"G-{_digits(chance, 6)}",
        lambda: f"{_run(chance, upper, 2)}{_digits(chance, 1)}{_run(chance, upper, 1)}{_digits(chance, 1)}",
        lambda: f"{_run(chance, upper, 2)}{_digits(chance, 1)}7-{_digits(chance, 2)}{_run(chance, upper, 2)}",
    ]
    return chance.choice(forms)()


# -- secrets, keys

SECRET = [
    "Deploy with {} please.",
    "export API_TOKEN={}",
    "The new credential is `{}`, the old one stops on Friday.",
    "config.yaml:\n  auth:\n    token: {}\n  retries: 3",
    "Hi,\n\nplease rotate {} - it was in the log.\n\nBo",
    '{{"key": "{}", "region": "eu-west-1"}}',
    "Hier ist der Schlüssel für die Schnittstelle: {}",
    "Voici la clé : {}\nMerci de ne pas la partager.",
    "curl -H 'Authorization: Bearer {}' https://api.example.org/v1/me",
    "CI failed: leaked {} in commit 4f2a.",
    "> SECRET_KEY={}\n\nDoes this one still work?",
    "Новый токен: {}",
    "新しいキー: {}",
    "Set it in the dashboard ({}), then restart.",
]


def _run(chance: random.Random, letters: str, count: int) -> str:
    return "".join(chance.choice(letters) for _ in range(count))


def a_secret(chance: random.Random) -> str:
    upper = string.ascii_uppercase + string.digits
    forms: list[Callable[[], str]] = [
        lambda: f"AKIA{_run(chance, upper, 16)}",
        lambda: f"AIza{_run(chance, ALNUM + '-_', 35)}",
        lambda: f"ghp_{_run(chance, ALNUM, 36)}",
        lambda: f"github_pat_{_run(chance, ALNUM, 22)}_{_run(chance, ALNUM, 59)}",
        lambda: f"glpat-{_run(chance, ALNUM + '-_', 20)}",
        lambda: f"xoxb-{_digits(chance, 12)}-{_digits(chance, 12)}-{_run(chance, ALNUM, 24)}",
        lambda: f"sk_live_{_run(chance, ALNUM, 24)}",
        lambda: f"whsec_{_run(chance, ALNUM, 32)}",
        lambda: f"npm_{_run(chance, ALNUM, 36)}",
        lambda: f"pypi-{_run(chance, ALNUM + '-_', 60)}",
        lambda: f"SG.{_run(chance, ALNUM + '-_', 22)}.{_run(chance, ALNUM + '-_', 43)}",
        lambda: f"hf_{_run(chance, ALNUM, 34)}",
        lambda: f"sk-proj-{_run(chance, ALNUM, 48)}",
        lambda: f"psr_a_{_run(chance, ALNUM, 10)}_{_run(chance, ALNUM, 49)}",
        lambda: f"shpat_{_run(chance, HEX, 32)}",
        lambda: f"dop_v1_{_run(chance, HEX, 64)}",
    ]
    return chance.choice(forms)()


KEY = [
    "{}",
    "Here is the server key:\n\n{}\n\nKeep it safe.",
    "> {}\n",
    "ssh-add this:\n{}",
    "Der Schlüssel:\n{}\nGruß, Jo",
    "cat id_rsa\n{}\n$ exit",
    "{}\n-- \nSent from a phone",
    "Voici la clé privée.\n\n{}",
]


def a_private_key(chance: random.Random) -> str:
    kind = chance.choice(("", "RSA ", "EC ", "OPENSSH ", "ENCRYPTED ", "DSA "))
    lines = "\n".join(_run(chance, ALNUM + "+/", 64) for _ in range(chance.randint(2, 12)))
    end = "" if chance.random() < 0.2 else f"\n-----END {kind}PRIVATE KEY-----"
    return f"-----BEGIN {kind}PRIVATE KEY-----\n{lines}{end}"


# -- cards, accounts

CARD = [
    "Card {} exp 12/29",
    "Please charge {} for the room.",
    "My new card number is {}, valid thru 04/28.",
    "{}",
    "Kreditkarte: {}\nPrüfziffer folgt telefonisch.",
    "Numéro de carte {} (Visa)",
    "La tarjeta es {}.",
    "Carta di credito {}, intestata a Rossi",
    "Order 48213: paid with {}.",
    "Номер карты {}",
    "卡号：{}",
    "Number|{}|Name|J. Doe",
    "> can you use {} instead?",
    "Kaartnummer {} - tot juni",
]


def _luhn(body: str) -> str:
    total = 0
    for place, digit in enumerate(reversed(body)):
        value = int(digit) * (1 if place % 2 else 2)
        total += value - 9 if value > 9 else value
    return body + str(-total % 10)


def a_card(chance: random.Random) -> str:
    start, length = chance.choice(
        (("4", 16), ("4", 16), ("51", 16), ("55", 16), ("2221", 16), ("37", 15), ("34", 15), ("6011", 16), ("3528", 16),
         ("36", 14), ("62", 16), ("62", 19), ("4", 13), ("5018", 16))
    )  # fmt: skip
    number = _luhn(start + "".join(chance.choice(string.digits) for _ in range(length - len(start) - 1)))
    if length == 15 and chance.random() < 0.6:
        return f"{number[:4]} {number[4:10]} {number[10:]}"
    between = chance.choice(("", " ", "-", " "))
    return between.join(number[at : at + 4] for at in range(0, length, 4))


IBAN = [
    "Pay to {} by Friday",
    "IBAN {} / BIC WESTGB2L",
    "Please transfer 1,200.00 EUR to {}.",
    "{}",
    "IBAN: {}\nBIC: COBADEFFXXX\nReference: 2026-113",
    "Bitte überweisen Sie auf {}.",
    "Merci de virer la somme sur le compte {}",
    "Nuestra cuenta: {}, titular Obras SL",
    "Bonifico su {} entro il 30/06/2026",
    "Proszę o przelew na {}",
    "Счёт {}",
    "Betaal op {} t.n.v. De Linde",
]
_FORMS = {
    "DE": "18n", "FR": "10n11c2n", "GB": "4a14n", "NL": "4a10n", "ES": "20n", "IT": "1a10n12c",
    "BE": "12n", "AT": "16n",
    "CH": "5n12c", "PL": "24n", "NO": "11n", "SE": "20n", "DK": "14n", "FI": "14n", "PT": "21n", "IE": "4a14n",
    "TR": "6n16c", "CZ": "20n", "HU": "24n", "RO": "4a16c", "SA": "2n18c", "MT": "4a5n18c",
    "BR": "23n1a1c", "UA": "6n19c",
}  # fmt: skip
"""How an account number is made in each country: counts of figures, letters, and either (the registry of SWIFT)."""


def an_iban(chance: random.Random) -> str:
    country = chance.choice(sorted(_FORMS))
    body, count = "", ""
    for one in _FORMS[country]:
        if one.isdigit():
            count += one
            continue
        letters = {"n": string.digits, "a": string.ascii_uppercase, "c": string.digits + string.ascii_uppercase}[one]
        body, count = body + _run(chance, letters, int(count)), ""
    check = 98 - int("".join(str(int(one, 36)) for one in f"{body}{country}00")) % 97
    written = f"{country}{check:02}{body}"
    between = chance.choice(("", " ", " ", "-"))
    return between.join(written[at : at + 4] for at in range(0, len(written), 4))


KINDS: dict[str, tuple[list[str], Callable[[random.Random], str]]] = {
    "otp": (OTP, a_code),
    "secret": (SECRET, a_secret),
    "private_key": (KEY, a_private_key),
    "card": (CARD, a_card),
    "iban": (IBAN, an_iban),
}
_AROUND = [
    "",
    "Hello,\n\n",
    "Dear customer,\n\nthank you for your patience.\n\n",
    "Hallo zusammen,\n\n",
    "Bonjour,\n\n",
]
_BEHIND = [
    "",
    "\n\nKind regards,\nThe team\n© 2026 Nimbus Ltd, 14 Harbour Road, Cork",
    "\n\nBest, Ana\n+353 21 555 0199",
    "\n\nThis mail was sent on 14.03.2026 at 10:42.",
]


def positives(kind: str, count: int, half: int, seed: int = 7) -> list[Sample]:
    """Messages with one thing to find, of every second template."""
    chance = random.Random(f"{kind} {half} {seed}")
    templates, make = KINDS[kind]
    own = templates[half::2]
    samples = []
    for at in range(count):
        hidden = make(chance)
        template = own[at % len(own)]
        # A key without its last line takes all that follows.
        around = ("", "") if kind == "private_key" else (chance.choice(_AROUND), chance.choice(_BEHIND))
        samples.append(Sample(around[0] + template.format(hidden) + around[1], hidden))
    return samples
