"""The closed list of signals, with what each means."""

from __future__ import annotations

from postroom.mail.signals import SIGNALS
from scripts.docs.markdown import code, table

MEANING = {
    "hidden_text": "The page holds text that a human would not see; it is in `html` alone.",
    "invisible_characters": "Characters without a look were taken out of the text, the subject or a name.",
    "bidi_controls": "Characters that turn the direction of writing were taken out.",
    "control_characters": "Control characters or terminal sequences were taken out.",
    "alternatives_differ": "The plain text and the page say different things.",
    "link_mismatch": "A link's text names another place than the one it leads to.",
    "suspicious_link": "A link leads to an IP address, hides its host behind a name, or runs something.",
    "homograph_link": "A link's host looks like another, or mixes alphabets.",
    "tracking_pixel": "A remote picture too small to be seen.",
    "remote_content": "The page would load something from elsewhere.",
    "display_name_address": "The sender's name holds an address that is not the sender's.",
    "internal_name_external_address": "Somebody outside bears a name, or shows an address, of the inside.",
    "confusable_sender": "The sender's domain looks like one of the inside, or mixes alphabets.",
    "multiple_from": "There is more than one sender.",
    "reply_to_differs": "Answers would go to another domain than the sender's.",
    "duplicate_header": "A field that may stand once stands twice.",
    "dmarc_fail": "A trusted server found that the sender's domain does not vouch for the message.",
    "auth_unknown": "Servers are trusted, and none of them says anything.",
    "mime_ambiguous": "The message's structure can be read in two ways.",
    "too_complex": "Part of the message, or of its page, is more than what is looked at.",
    "truncated": "The rest of the text is not available here.",
    "auto_submitted": "A program sent it.",
    "bulk": "It was sent to many.",
    "signed": "It bears a signature, which was not verified.",
    "encrypted": "Its words are encrypted.",
    "first_time_sender": "Not told yet.",
    "withheld": "Not told yet.",
}


def section() -> str:
    """A table of all signals in their order."""
    rows = [[code(name), MEANING[name]] for name in SIGNALS]
    return "## Signals\n\n`signals` holds words of this list, in its order.\n\n" + table(["signal", "meaning"], rows)
