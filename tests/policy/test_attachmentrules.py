"""Files: how much of each may be had, by what it is and is called; and that no restriction opens one."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from postroom.base.levels import Files
from postroom.policy.attachmentrules import PartFacts
from tests.policy.declaring import granted

PDF = PartFacts("report.pdf", "application/pdf", 1_000, scannable=True)
OPEN = "{attachments: {mode: download, archives: inspect}}"


def level(facts: PartFacts, *policies: str) -> Files:
    return granted(*policies).attachments.level(facts)


@pytest.mark.parametrize(
    ("facts", "expected"),
    [
        (PDF, Files.DOWNLOAD),
        (replace(PDF, name="a.pdf.exe"), Files.METADATA),
        (replace(PDF, name="a.EXE.pdf"), Files.METADATA),
        (replace(PDF, name=None), Files.DOWNLOAD),
        (replace(PDF, size=None), Files.METADATA),
        (replace(PDF, size=10 << 20), Files.DOWNLOAD),
        (replace(PDF, size=(10 << 20) + 1), Files.METADATA),
        (replace(PDF, ordinal=19), Files.DOWNLOAD),
        (replace(PDF, ordinal=20), Files.NONE),
        (replace(PDF, type=None), Files.METADATA),
        (replace(PDF, encrypted=True), Files.METADATA),
        (replace(PDF, encrypted=None), Files.METADATA),
        (replace(PDF, macros=None), Files.METADATA),
        (replace(PDF, scannable=False), Files.METADATA),
        (replace(PDF, name="a.zip", is_archive=True), Files.METADATA),
        (replace(PDF, name="a.zip", is_archive=True, members=(PDF,)), Files.DOWNLOAD),
        (replace(PDF, name="a.zip", is_archive=True, members=(replace(PDF, scannable=False),)), Files.METADATA),
        (replace(PDF, name="a.zip", is_archive=True, members=(replace(PDF, is_archive=True),)), Files.METADATA),
        (replace(PDF, name="a.zip", is_archive=True, members=(PDF, replace(PDF, name="x.exe"))), Files.METADATA),
    ],
)
def test_what_is_unknown_or_refused_is_metadata_alone(facts: PartFacts, expected: Files) -> None:
    assert level(facts, OPEN) is expected


@pytest.mark.parametrize(
    ("rules", "facts", "expected"),
    [
        ("mode: none", PDF, Files.NONE),
        ("mode: text", PDF, Files.TEXT),
        ("mode: metadata", PDF, Files.METADATA),
        ("mode: download, types: {allow: ['image/*']}", PDF, Files.METADATA),
        ("mode: download, types: {allow: ['application/*']}", PDF, Files.DOWNLOAD),
        ("mode: download, types: {allow: ['application/*'], deny: ['*/pdf']}", PDF, Files.METADATA),
        ("mode: download, types: {allow: ['application/*']}", replace(PDF, type=None), Files.METADATA),
        ("mode: download, types: {allow: [application/octet-stream]}", replace(PDF, type=None), Files.DOWNLOAD),
        ("mode: download, extensions: {allow: [pdf]}", PDF, Files.DOWNLOAD),
        ("mode: download, extensions: {allow: [pdf]}", replace(PDF, name="a.b.pdf"), Files.METADATA),
        ("mode: download, extensions: {allow: [pdf]}", replace(PDF, name="pdf"), Files.METADATA),
        ("mode: download, archives: list", replace(PDF, is_archive=True), Files.TEXT),
        ("mode: download, encrypted: allow, macros: allow", replace(PDF, encrypted=True, macros=None), Files.DOWNLOAD),
        ("mode: download, unscanned: allow", replace(PDF, scannable=False), Files.DOWNLOAD),
    ],
)
def test_what_each_key_does(rules: str, facts: PartFacts, expected: Files) -> None:
    assert level(facts, f"{{attachments: {{{rules}}}}}") is expected


def test_where_nothing_is_redacted_a_file_need_not_be_looked_into() -> None:
    names = ("otp", "reset_link", "secret", "private_key", "jwt", "password", "card")
    flags = ", ".join(f"{name}: flag" for name in names)
    policy = f"{{attachments: {{mode: download}}, content: {{detectors: {{{flags}}}}}}}"
    assert level(replace(PDF, scannable=False), policy) is Files.DOWNLOAD


def test_a_restriction_says_nothing_of_what_it_leaves_out() -> None:
    assert level(PDF, OPEN, "{attachments: {max_bytes: 1k}}") is Files.DOWNLOAD
    assert level(replace(PDF, size=1_025), OPEN, "{attachments: {max_bytes: 1k}}") is Files.METADATA
    assert (
        level(replace(PDF, name="a.html"), "{attachments: {mode: download, extensions: {deny: []}}}") is Files.DOWNLOAD
    )


facts = st.builds(
    PartFacts,
    st.sampled_from([None, "a.pdf", "a.zip", "a.pdf.exe"]),
    st.sampled_from([None, "application/pdf", "image/png"]),
    st.sampled_from([None, 10, 10_000]),
    st.sampled_from([0, 3]),
    st.booleans(),
    st.sampled_from([None, (PDF,)]),
    st.sampled_from([True, False, None]),
    st.sampled_from([True, False, None]),
    st.booleans(),
)
keys = st.lists(
    st.sampled_from(
        [
            "mode: download",
            "mode: text",
            "types: {allow: ['image/*']}",
            "types: {deny: ['image/*']}",
            "extensions: {deny: [pdf]}",
            "extensions: {allow: [pdf]}",
            "max_bytes: 1k",
            "max_count: 2",
            "archives: list",
            "archives: inspect",
            "encrypted: allow",
            "macros: deny",
            "unscanned: allow",
        ]
    ),
    unique_by=lambda key: key.partition(":")[0],
)


@given(keys, st.lists(keys, min_size=1, max_size=2), facts)
def test_no_restriction_opens_a_file(grant: list[str], restrictions: list[list[str]], file: PartFacts) -> None:
    texts = [f"{{attachments: {{{', '.join(one)}}}}}" for one in (grant, *restrictions)]
    assert level(file, *texts) <= level(file, *texts[:-1])
