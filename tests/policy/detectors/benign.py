"""Ordinary messages with numbers of every kind in them, and none that a detector is to find."""

from __future__ import annotations

import random
import string
import uuid
from collections.abc import Callable

TEMPLATES = [
    "Order {order} shipped on {date}, total {amount}. Track it with {tracking}.",
    "Invoice {invoice}\n\nConsulting, {small} hours   {amount}\nTravel   {amount}\nTotal   {amount}\n\nDue {date}.",
    "Rechnung Nr. {invoice} vom {date}\nBetrag: {amount}\nKundennummer {order}\nBitte zahlen Sie bis {date}.",
    "Facture n° {invoice} du {date} : {amount} TTC. Référence client {order}.",
    "Factura {invoice}: importe {amount}, vence el {date}.",
    "Meeting ID: {meeting}\nWhen: {date}, {time}\nWhere: room {small}, floor 4",
    "Join by phone: {phone}, conference {meeting}",
    "Call me on {phone} before {time}. Ana",
    "Rufen Sie uns an: {phone} (Mo-Fr {time}-{time}).",
    "Our office moved to {small} Elm Street, Springfield, IL {zip}.",
    "ISBN {isbn}, second edition, {year}, {small} pages.",
    "Release {version} is out. It fixes #{small}, #{order} and drops Python 3.{small}.",
    "$ git log\ncommit {sha1}\nAuthor: Bo\nDate: {date} {time}\n\n    Fix the parser",
    "sha256:{sha256}  image-{version}.tar.gz",
    "Request {uuid} failed with status 500 at {date}T{time}Z",
    "def area(r):\n    return 3.14159265 * r ** 2  # see line {small}\n\nassert area(2) == 12.5663706",
    "const ports = [8080, 8443, 9090]; // {version}\nserver.listen(ports[0])",
    "In {year} we grew from {order} to {order} users, up {small} %.",
    "Flight LX{small} on {date}, gate B{small}, seat {small}A, boarding {time}. Booking reference {pnr}.",
    "Your hotel booking is confirmed. Confirmation code: {pnr}. Arrival {date}, departure {date}, {amount}.",
    "Tracking number {tracking}, expected {date} between {time} and {time}.",
    "Sendungsnummer {tracking}, Zustellung am {date}.",
    "Newsletter {small}/{year}\n\nTen ideas for spring\n\nFrom {amount}. Only until {date}. Unsubscribe in one click.",
    "Use promo code SAVE{small} for {small}% off. Offer ends {date}.",
    "Gutscheincode FRUEHLING{small}: {small} % Rabatt bis {date}.",
    "Please verify the figures of {year} and {year}: {amount} against {amount}.",
    "Verification of the {year} accounts is complete; see page {small} of the report ({order}).",
    "We updated our security policy on {date}. Section {small} explains two new rules. Questions: {phone}.",
    "Your password was changed on {date} at {time}. If this was not you, call {phone}.",
    "Team,\n\nthe security review covers {small} services. Ticket {order}, budget {amount}, deadline {date}.",
    "Serial number {serial}, model X{small}, bought {date}, price {amount}.",
    "Case {order}: customer {order} asked for a refund of {amount}.",
    "Zip code {zip}, area code 0{small}, country code +49.",
    "Error code {order} when opening page {small}. Version {version}, build {order}.",
    "Temperature {small}.5 °C, pressure 1013 hPa, wind {small} km/h, station {order}.",
    "IP 192.168.{small}.{small}, MAC 00:1a:2b:3c:4d:5e, uptime {order} s",
    "Receipt\nMilk 1.29\nBread 2.49\nTotal 3.78\nTill {small}, {date} {time}, no. {order}",
    "Score: {small}:{small}. Attendance {order}. Next match {date}.",
    "会议时间：{date} {time}，会议号 {meeting}，地点 {small} 楼。",
    "ご注文番号 {order}、合計 {amount}、お届け日 {date}。",
    "주문번호 {order}, 금액 {amount}, 배송일 {date}.",
    "Заказ {order} на сумму {amount} отправлен {date}.",
    "Zamówienie {order} z dnia {date}, kwota {amount}.",
    "O pedido {order} chega em {date}. Total {amount}.",
    "Dein Paket {tracking} kommt am {date} zwischen {time} und {time} Uhr.",
    "Payment of {amount} received on {date}. Reference {invoice}. Card ending in {last4}.",
    "Direct debit {amount} on {date}, mandate {invoice}, creditor {order}.",
    "Grades: {small}, {small}, {small}. Average {small}.4. Term {year}.",
    "| id | qty | price |\n| {order} | {small} | {amount} |\n| {order} | {small} | {amount} |",
    "Coordinates {small}.123456, 8.{order}; altitude {small} m",
    "The dress code is casual. Dinner at {time}, table {small}, {amount} each.",
    "We removed {order} lines of source code in {version}; commit {sha1}.",
    "Tax year {year}: gross {amount}, tax {amount}. File no. {invoice}.",
    "Dial {phone}, then extension {last4}. Fax {phone}.",
    "Course {small}{small}: lectures on {date} and {date}, {time}, hall {small}.",
    "Job {uuid} finished in {order} ms: {small} passed, {small} skipped.",
    "package-lock.json\n  integrity sha512-{b64}\n  resolved {version}",
    "etag: {sha1}\ncontent-length: {order}\nx-request-id: {uuid}",
    "Your monthly statement for {date} is ready. Account ending in {last4}. Log in to see it.",
    "To access the building after {time} ring {small}. Parking space {small}, code of conduct attached.",
]


def _date(chance: random.Random) -> str:
    day, month, year = chance.randint(1, 28), chance.randint(1, 12), chance.randint(2015, 2029)
    forms = (
        f"{year}-{month:02}-{day:02}",
        f"{day:02}.{month:02}.{year}",
        f"{day}/{month}/{year}",
        f"{day} March {year}",
    )
    return chance.choice(forms)


def _digits(chance: random.Random, least: int, most: int) -> str:
    return chance.choice("123456789") + "".join(
        chance.choice(string.digits) for _ in range(chance.randint(least, most) - 1)
    )


def _amount(chance: random.Random) -> str:
    value = chance.randint(100, 9_999_999) / 100
    forms = (
        f"{value:,.2f} EUR",
        f"${value:,.2f}",
        f"€ {value:,.2f}",
        f"{value:.2f} CHF",
        f"£{value:,.0f}",
        f"{value:.0f} USD",
    )
    return chance.choice(forms)


def _phone(chance: random.Random) -> str:
    a, b, c = _digits(chance, 3, 3), _digits(chance, 3, 3), _digits(chance, 4, 4)
    forms = (
        f"+1 {a}-{b}-{c}",
        f"({a}) {b}-{c}",
        f"+49 {a} {b}{c}",
        f"0{a} {b} {c}",
        f"+33 1 {a[:2]} {b[:2]} {c[:2]} {c[2:]}",
    )
    return chance.choice(forms)


def _tracking(chance: random.Random) -> str:
    forms = (
        f"1Z{_digits(chance, 16, 16)}",
        _digits(chance, 12, 12),
        f"94{_digits(chance, 20, 20)}",
        f"JD0{_digits(chance, 17, 17)}",
        f"RR{_digits(chance, 9, 9)}DE",
        _digits(chance, 14, 14),
    )
    return chance.choice(forms)


def _hex(count: int) -> Callable[[random.Random], str]:
    return lambda chance: "".join(chance.choice("0123456789abcdef") for _ in range(count))


_MADE: dict[str, Callable[[random.Random], str]] = {
    "order": lambda chance: _digits(chance, 4, 10),
    "small": lambda chance: str(chance.randint(2, 98)),
    "date": _date,
    "time": lambda chance: f"{chance.randint(0, 23):02}:{chance.randint(0, 59):02}",
    "amount": _amount,
    "tracking": _tracking,
    "invoice": lambda chance: f"{chance.choice(('INV', chance.randint(2019, 2026)))}-{_digits(chance, 3, 7)}",
    "meeting": lambda chance: f"{_digits(chance, 3, 3)} {_digits(chance, 4, 4)} {_digits(chance, 4, 4)}",
    "phone": _phone,
    "zip": lambda chance: _digits(chance, 5, 5),
    "isbn": lambda chance: f"978-3-16-{_digits(chance, 6, 6)}-{chance.randint(0, 9)}",
    "year": lambda chance: str(chance.randint(1950, 2029)),
    "version": lambda chance: f"v{chance.randint(0, 9)}.{chance.randint(0, 40)}.{chance.randint(0, 99)}",
    "sha1": _hex(40),
    "sha256": _hex(64),
    "uuid": lambda chance: str(uuid.UUID(int=chance.getrandbits(128), version=4)),
    "pnr": lambda chance: "".join(chance.choice(string.ascii_uppercase + string.digits) for _ in range(6)),
    "serial": lambda chance: "".join(chance.choice(string.ascii_uppercase + string.digits) for _ in range(12)),
    "last4": lambda chance: _digits(chance, 4, 4),
    "b64": lambda chance: "".join(chance.choice(string.ascii_letters + string.digits + "+/") for _ in range(86)) + "==",
}  # fmt: skip


class _Filled(dict[str, str]):
    def __init__(self, chance: random.Random) -> None:
        super().__init__()
        self._chance = chance

    def __missing__(self, name: str) -> str:
        return _MADE[name](self._chance)


def benign(count: int, half: int, seed: int = 7) -> list[str]:
    """Messages of one to three paragraphs, of every second template."""
    chance = random.Random(f"benign {half} {seed}")
    own = TEMPLATES[half::2]
    return [
        "\n\n".join(chance.choice(own).format_map(_Filled(chance)) for _ in range(chance.randint(1, 3)))
        for _ in range(count)
    ]
