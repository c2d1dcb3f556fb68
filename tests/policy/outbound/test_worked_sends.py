"""The decisions on sending that the policy's design works through, one by one: the verdict, and what becomes of it."""

from __future__ import annotations

from datetime import timedelta

from postroom.base.levels import Outcome
from postroom.mail.outgoing.identity import Identities
from postroom.policy.outbound.judgement import Judgement
from postroom.policy.outbound.judging import judge
from postroom.policy.outbound.plan import Operation
from postroom.policy.outbound.replies import reply_under
from tests.policy.outbound.sending import BOB, CAROL, NOON, answer, judged, known, plan, record, rules

SUPPORT = """from: ["ana@corp.example"],
  recipients: {allow: [internal, "list:partners"], deny: ["*@competitor.example", "all@corp.example"], max: 5,
               bcc: deny, internal_only: false},
  reply_only: correspondent, reply_all: deny, reply_to: same_domain, forward: sanitized, require_draft: false,
  after_untrusted_read: {window: 24h, action: hold, except_to: [thread, internal]},
  hold_when: [{external: true, attachments: true}, {new_recipient: true}, {detector: [iban, card]},
              {rolling: {recipients: 20, per: 1d}}],
  content: {max_chars: 20000, html: deny,
            detectors: {secret: deny, private_key: deny, jwt: deny, otp: deny, card: hold, iban: flag},
            patterns: [{name: codeword, re2: 'project\\s+x\\b', action: deny}],
            links: {allow_domains: ["corp.example"], others: hold}, quote_max_lines: 50},
  attachments: {mode: deny, types: {allow: ["application/pdf"]}, max_bytes: 5m, max_count: 3},
  rate: {messages: {per_minute: 2, per_hour: 20, per_day: 100}, recipients: {per_day: 150},
         same_recipient: {per_hour: 4, per_day: 12}, bytes: {per_day: 50m}},
  quiet_hours: {timezone: "Europe/Berlin", windows: ["22:00-07:00", "Sat 00:00-24:00"], action: hold},
  loop: {max_turns: 6, window: 24h, no_reply_to: [auto, list, noreply]}"""
HELD, SENT = rules(f"mode: hold, {SUPPORT}"), rules(f"mode: send, {SUPPORT}")
"""The policy of the example as it stands there, and with mode send."""
HIS_MAIL = answer("From: Bob <bob@partner.example>\nTo: ana@corp.example\nMessage-ID: <his@partner.example>", BOB)
WRITTEN_TO = {"written_to": frozenset({BOB, CAROL})}
READ = {**WRITTEN_TO, "untrusted_read": NOON - timedelta(minutes=5)}


def rules_of(judgement: Judgement) -> list[str]:
    return [one.rule for one in judgement.reasons]


def test_11_somebody_who_never_wrote_is_refused_by_name_and_so_is_one_who_wrote_only_in_hidden_mail() -> None:
    never = judged(plan(BOB), SENT, correspondents={BOB: False}, **WRITTEN_TO)
    hidden = judged(plan(BOB), SENT, correspondents={}, **WRITTEN_TO)
    assert never == hidden
    assert never.outcome is Outcome.DENY
    assert [(one.rule, one.addresses) for one in never.reasons] == [("outbound.reply_only", (BOB,))]
    assert BOB in never.reasons[0].sentence


def test_12_an_answer_in_his_thread_is_held_by_the_mode_alone() -> None:
    found = judged(plan(BOB, operation=Operation.REPLY, answered=HIS_MAIL), HELD, **READ)
    assert found.outcome is Outcome.HOLD
    assert rules_of(found) == ["outbound.mode"]


def test_13_a_colleague_is_written_to_after_reading_mail_from_outside() -> None:
    assert judged(plan(CAROL), SENT, **READ).outcome is Outcome.SEND


def test_14_a_partner_outside_the_thread_is_not() -> None:
    found = judged(plan(BOB), SENT, **READ)
    assert found.outcome is Outcome.HOLD
    assert rules_of(found) == ["outbound.after_untrusted_read"]


def test_15_six_recipients_of_whom_one_is_not_allowed_refuse_the_whole_message() -> None:
    colleagues = [f"c{at}@corp.example" for at in range(5)]
    found = judged(plan(*colleagues, "x@elsewhere.example"), SENT, **WRITTEN_TO)
    assert found.outcome is Outcome.DENY
    assert rules_of(found)[:2] == ["outbound.recipients.max", "outbound.recipients.allow"]
    assert found.reasons[1].addresses == ("x@elsewhere.example",)


def test_16_a_live_code_is_denied() -> None:
    found = judged(plan(CAROL, text="Your code is 123456."), SENT, **WRITTEN_TO)
    assert found.outcome is Outcome.DENY
    assert rules_of(found) == ["outbound.content.detectors.otp"]
    assert "123456" not in found.reasons[0].sentence


def test_17_at_night_it_waits() -> None:
    at_night = NOON.replace(hour=22)  # 23:00 in Berlin
    found = judged(plan(CAROL), SENT, now=at_night, **WRITTEN_TO)
    assert found.outcome is Outcome.HOLD
    assert rules_of(found) == ["outbound.quiet_hours"]


def test_18_the_twenty_first_recipient_of_a_day_waits() -> None:
    sent = [record(timedelta(hours=at / 2), f"c{at}@corp.example") for at in range(1, 21)]
    assert judged(plan(CAROL), SENT, sent=tuple(sent[:19]), **WRITTEN_TO).outcome is Outcome.SEND
    found = judged(plan(CAROL), SENT, sent=tuple(sent), **WRITTEN_TO)
    assert found.outcome is Outcome.HOLD
    assert rules_of(found) == ["outbound.hold_when[3]"]


def test_20_an_answer_goes_to_the_sender_where_reply_to_leads_to_another_organisation() -> None:
    head = answer("From: bob@partner.example\nTo: ana@corp.example\nReply-To: x@other.example").head
    found = reply_under(head, Identities.read([], "ana@corp.example"), SENT, everyone=False)
    assert [one.address for one in found.reply.to] == [BOB]
    assert found.reply_to_differs
    wanted = plan(BOB, operation=Operation.REPLY, answered=HIS_MAIL, derived=found.derived)
    assert judge(wanted, known(**WRITTEN_TO), SENT).outcome is Outcome.SEND
