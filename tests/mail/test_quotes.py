"""New words stay, history goes; and where it is not clear which is which, everything stays."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from postroom.mail.quotes import without_history

OUTLOOK = "From: Bo <bo@example.org>\nSent: Monday, 2 March 2026 09:00\nTo: Ana\nSubject: Plans\n\nOld words."


@pytest.mark.parametrize(
    ("text", "new"),
    [
        ("Yes.\n\nOn Mon, 2 Mar 2026 at 10:00, Bo\n<bo@example.org> wrote:\n\n> hi\n> > older\n", "Yes."),
        ("Ja.\n\nAm 02.03.2026 um 10:00 schrieb Bo Quill:\n> hallo", "Ja."),
        ("Oui.\n\nLe lun. 2 mars 2026 à 10:00, Bo <bo@example.org> a écrit :\n> salut", "Oui."),
        ("好。\n\n2026年3月2日 10:00，Bo <bo@example.org> 写道：\n> 你好", "好。"),
        (f"Thanks.\n\n________________________________\n{OUTLOOK}", "Thanks."),
        (f"Thanks.\n\n{OUTLOOK}", "Thanks."),
        ("Danke.\n\nVon: Bo\nGesendet: Montag\nAn: Ana\nBetreff: Plan\n\nAlt.", "Danke."),
        ("Done.\n\n-----Original Message-----\nwhatever", "Done."),
        ("> one?\nYes.\n> two?\nNo.", "> one?\nYes.\n> two?\nNo."),
        ("> 1\n> 2\n> 3\n> 4\n> 5?\nYes.\n> tail\n", "> […]\n> 2\n> 3\n> 4\n> 5?\nYes."),
        ("> On Monday Ana wrote:\n> see the numbers\nAgreed.", "> On Monday Ana wrote:\n> see the numbers\nAgreed."),
        ("Not quoted: On Monday, 2 March, Bo wrote:\nplain text below", None),
        ("> everything\n> is quoted", None),
        ("From: here to there\nTo: nowhere\nis a poem", None),
        ("No quotes at all.", None),
        (
            "See below.\n\n---------- Forwarded message ---------\nFrom: Bo\nDate: Monday\nSubject: x\nTo: y\n\nNews.",
            None,
        ),
    ],
)
def test_history_goes_and_new_words_stay(text: str, new: str | None) -> None:
    assert without_history(text, "Re: Plans") == (text if new is None else new)


@pytest.mark.parametrize(
    "attribution",
    [
        "On Mon, Mar 2, 2026 at 10:00 AM Bo Quill\n<bo@example.org>\nwrote:",
        "On Mon, Mar 2, 2026 at 10:00 AM A Very Long Name Of A Person\nBo Quill <bo@example.org> wrote:",
        "Bo Quill wrote on 02.03.2026 10:00:",
        "Bo Quill <bo@example.org> wrote:",
        "Bo Quill wrote:",
        "Quoting Bo Quill <bo@example.org>:",
        "In article <x@example.org>, Bo Quill <bo@example.org> wrote:",
        "* Bo Quill <bo@example.org> [2026-03-02 10:00]:",
        "Bo Quill schrieb am 02.03.2026 um 10:00:",
        "El lun, 2 mar 2026 a las 10:00, Bo Quill (<bo@example.org>) escribió:",
        "W dniu 02.03.2026 o 10:00, Bo Quill pisze:",
        "пн, 2 мар. 2026 г. в 10:00, Bo Quill <bo@example.org>:",
        "02.03.2026 10:00, Bo Quill пишет:",
        "2026年3月2日(月) 10:00 Bo Quill <bo@example.org>:",
        "Bo Quill <bo@example.org> 於 2026年3月2日 週一 上午10:00寫道：",
        "Στις Δευ 2 Μαρ 2026 στις 10:00 π.μ., ο/η Bo Quill <bo@example.org> έγραψε:",
        "בתאריך יום ב׳, 2 במרץ 2026 ב-10:00 מאת Bo Quill <bo@example.org>:",
        "Vào 2 thg 3, 2026 vào lúc 10:00 Bo Quill <bo@example.org> đã viết:",
    ],
)
def test_an_attribution_goes_with_its_quotation_in_whatever_language(attribution: str) -> None:
    assert without_history(f"Yes, fine.\n\n{attribution}\n\n> old one\n> old two", "Re: Plans") == "Yes, fine."


@pytest.mark.parametrize(
    "block",
    [
        "Od: Bo\nWysłane: poniedziałek\nDo: Ana\nTemat: x",
        "De: Bo\nEnviado el: lunes\nPara: Ana\nAsunto: x",
        "De: Bo\nEnviada em: segunda\nPara: Ana\nAssunto: x",
        "Od: Bo\nOdesláno: pondělí\nKomu: Ana\nPředmět: x",
        "Lähettäjä: Bo\nLähetetty: maanantai\nVastaanottaja: Ana\nAihe: x",
        "Feladó: Bo\nElküldve: hétfő\nCímzett: Ana\nTárgy: x",
        "Gönderen: Bo\nGönderildi: 2 Mart\nKime: Ana\nKonu: x",
        "寄件者: Bo\n寄件日期: 2026年3月2日\n收件者: Ana\n主旨: x",
        "发件人：Bo\n日期：2026年3月2日\n收件人：Ana\n主题：x",
        "보낸 사람: Bo\n보낸 날짜: 2026\n받는 사람: Ana\n제목: x",
        "מאת: Bo\nנשלח: יום שני\nאל: Ana\nנושא: x",
        "---\n\nFrom: Bo\nSent: Monday\nTo: a <a@x.example>;\n b <b@x.example>\nCc: d;\n e;\n f;\n g;\n h\nSubject: x",
        "-----Message d’origine-----\nDe : Bo",
        "------------------ 原始邮件 ------------------\n发件人: Bo",
        "-----Původní zpráva-----\nOd: Bo",
        "On Monday, March 2, 2026 at 10:00:00 AM GMT+1, Bo Quill <bo@example.org> wrote:",
    ],
)
def test_unmarked_history_goes_in_whatever_language(block: str) -> None:
    assert without_history(f"Yes, fine.\n\n{block}\n\nHello Ana,\n\nold words.", "[EXT] AW: Plan") == "Yes, fine."


@pytest.mark.parametrize(
    ("text", "subject"),
    [
        (f"The header of the mail is:\n\n{OUTLOOK}\n\nWhy?", "Re: Plans"),
        (f"I got this mail\n\n{OUTLOOK}\n\nIs it spam?", "A question"),
        ("New flight:\nFrom: Vienna\nTo: Oslo\nDate: 3 May\nSubject: none\n\nOK?", "Re: Flight"),
        ("Run this:\n\n> ls\n> cd foo", "Re: How to"),
        ("Try:\n> const x = 1\nundefined\n> x\n1\nWorks for me", "REPL"),
        ("The contract says:\n\n> The tenant pays.\n\nThat is clear.", "Re: Contract"),
        ("In 2024 the minister wrote:\n\n> Taxes will fall.\n\nThis did not happen.", "Re: Taxes"),
        ("Name: A\nFrom: Berlin\nDate: 3 May\nTo: Paris\nSubject: Trip\nComments: window seat", "New form submission"),
        ("Details:\nFrom: 10:00\nTo: 11:00\nDate: Monday\nSubject: Budget\n\nPlease confirm.", "Meeting"),
        ("Undelivered.\n\n--- Original message ---\nFrom: you\nTo: x\nSubject: y", "Undelivered Mail"),
        ("It said:\nFrom: a@x.example\nDate: 1 May 2026\nTo: b@x.example\nSubject: y", "Report"),
        (f"My answers are inline below.\n\n{OUTLOOK}\n[Ana] yes", "Re: Plans"),
        ("FYI\n\nBegin forwarded message:\n\n> From: Bo <bo@example.org>\n> Subject: Offer\n>\n> Text.", "Offer"),
        ("Please act.\n\nOn Mon, 2 Mar 2026 at 10:00, Bo <b@x.example> wrote:\n> the matter", "Fwd: Plans"),
        (
            "看\n\n---------- 转发的邮件 ---------\n发件人： Bo <bo@example.org>\nDate: 2 May\nSubject: x\nTo: Ana",
            "转发：x",
        ),
    ],
)
def test_what_only_looks_like_history_stays(text: str, subject: str) -> None:
    assert without_history(text, subject) == text


QUOTED = "\n".join(f"> old {number}" for number in range(9))


@pytest.mark.parametrize(
    ("text", "new"),
    [
        (f"Yes.\n\nOn Mon, 2 Mar 2026, Bo wrote:\n{QUOTED}\n\n-- \nAna", "Yes.\n\n-- \nAna"),
        (
            f"Yes.\n\nBo wrote:\n{QUOTED}\n__________\nA list\nlist@example.org",
            "Yes.\n\n__________\nA list\nlist@example.org",
        ),
        (
            f"Yes.\n\nSent from my phone\n\n> On 2 Mar 2026, at 10:00, Bo <b@x.example> wrote:\n>\n{QUOTED}",
            "Yes.\n\nSent from my phone",
        ),
        ("Bo wrote:\n> q1?\n\nA1.\n\n> q2?\n\nA2.\n\n> tail", "> q1?\n\nA1.\n\n> q2?\n\nA2."),
        ("Bo wrote:\n > q1?\n\nA1.", " > q1?\n\nA1."),
    ],
)
def test_an_answer_keeps_what_it_answers_and_a_signature_does_not(text: str, new: str) -> None:
    assert without_history(text, "Re: Plans") == new


def test_a_message_that_answers_another_is_a_reply_whatever_its_subject() -> None:
    assert without_history("Yes.\n\n> Will you come?", "New subject") == "Yes.\n\n> Will you come?"
    assert without_history("Yes.\n\n> Will you come?", "New subject", in_reply=True) == "Yes."


@pytest.mark.parametrize("subject", ["Fwd: Plans", "FW: Plans", "WG: Pläne", "TR : plans"])
def test_what_is_forwarded_is_no_history(subject: str) -> None:
    assert without_history(f"FYI\n\n{OUTLOOK}", subject) == f"FYI\n\n{OUTLOOK}"


def test_a_forward_without_words_of_its_own_stays() -> None:
    assert without_history(OUTLOOK, "Plans") == OUTLOOK


LINES = st.lists(
    st.sampled_from(
        [
            *("", "own words", "> quoted", "> > older", "On Mon, 2 Mar 2026, Bo wrote:", "From: Bo", "Sent: x"),
            *("To: y", "Subject: z", "________", "-----Original Message-----", ">", "12:30", "wrote: 5"),
        ]
    ),
    max_size=25,
).map("\n".join)


@given(LINES)
def test_own_words_before_any_history_are_never_lost(text: str) -> None:
    own = text.partition("\n")[0]
    shown = without_history(text)
    assert shown == text or own != "own words" or shown.startswith(own)
    assert bool(shown.strip()) == bool(text.strip())


OWN = ("We meet on 3 May 2026.", "Own words", "See <https://example.org/1>.", "12:30 is fine.", "Yes!")
MARKED = st.lists(
    st.one_of(
        st.sampled_from([*OWN, ""]),
        st.sampled_from(
            ["On Mon, 2 Mar 2026, Bo\n<bo@example.org> wrote:\n> old", "Bo <bo@example.org> wrote:\n> old"]
        ),
        st.sampled_from(["> old", "> > older\n>\n> old", ">"]),
    ),
    max_size=20,
)


@given(MARKED, st.sampled_from(["Re: Plans", "Plans", "Fwd: Plans"]))
def test_where_quotes_are_marked_no_word_of_one_s_own_is_lost(pieces: list[str], subject: str) -> None:
    shown = without_history("\n".join(pieces), subject).split("\n")
    assert [line for line in shown if line in OWN] == [piece for piece in pieces if piece in OWN]


def test_a_megabyte_of_quotes_takes_linear_time() -> None:
    for piece in (
        "> a\n",
        "a\n> b\n",
        "\n\n>\n",
        "wrote:\n",
        "From: \n",
        "From: a@b\n",
        "1 2026\n",
        "wrote wrote ",
        "On 1 wrote:\n> x\n",
    ):
        started = time.process_time()
        without_history(piece * (1_000_000 // len(piece)))
        assert time.process_time() - started < 5, piece
