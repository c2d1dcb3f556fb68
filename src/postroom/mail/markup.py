"""For text that plays at being more than text: tags, role tokens and pictures made into plain words."""

from __future__ import annotations

import re

_NAMES = (
    "untrusted|system|assistant|user|tool|function|instruction|prompt|message|email|document|context|invoke"
    "|im_start|im_end|of_turn"
)
_MAIL_ADDRESS = r"(?:mailto:)?[\w.+\-]{1,64}@[\w.\-]{1,255}[>＞]"
_TAG = re.compile(
    rf"[<＜](?!{_MAIL_ADDRESS})(\s{{0,3}}/?\s{{0,3}}[\w:.\-]{{0,60}}?(?:{_NAMES})[\w:.\-]{{0,60}}[^<>＜＞\n]{{0,300}})([>＞]?)",
    re.IGNORECASE,
)
_TOKEN = re.compile(r"<[|｜]([^<>|｜\n]{0,100})[|｜]>")
_HALF_TOKEN = re.compile(r"<[|｜]|[|｜]>")
_ROLE = re.compile(r"\[(\s{0,3}/?\s{0,3}(?:INST|SYS|SYSTEM|ASSISTANT|USER|TOOL)[^\]\n]{0,20})\]", re.IGNORECASE)
_DOUBLE = re.compile(r"<<(\s{0,3}/?\s{0,3}[A-Za-z_]{1,20}\s{0,3})>>")
_IMAGE = re.compile(r"(?<!!)!++\[")
_TELLING = re.compile(r"[<＜!\[|｜]")


def neutralised(text: str) -> str:
    """Text whose tags of agents' prompts, chat template tokens and Markdown images have lost their brackets.

    Words are never removed: what a person can see stays to be read. Doing it twice changes nothing.
    """
    if not _TELLING.search(text):
        return text
    text = _TOKEN.sub(r"‹|\1|›", text)
    text = _HALF_TOKEN.sub(lambda match: "‹|" if match[0][0] == "<" else "|›", text)
    text = _DOUBLE.sub(r"‹‹\1››", text)
    text = _TAG.sub(lambda match: f"‹{match[1]}{'›' if match[2] else ''}", text)
    text = _ROLE.sub(r"‹\1›", text)
    return _IMAGE.sub("[", text)
