"""What a certificate says of itself, whoever wrote it."""

import ssl
import tempfile
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from postroom.base.certificate import read_certificate
from tests.servers.certificates import make_certificate


def test_a_certificate_tells_its_names_and_its_fingerprint(tmp_path: Path) -> None:
    file, _, pin = make_certificate(tmp_path, ("mail.example.org", "192.0.2.7"))
    read = read_certificate(ssl.PEM_cert_to_DER_cert(file.read_text()))
    assert read is not None
    assert (read.sha256, read.names) == (pin, ("mail.example.org", "192.0.2.7"))
    assert (read.ends - read.begins).days == 11


@given(st.binary(max_size=200))
def test_octets_that_are_no_certificate_are_none(octets: bytes) -> None:
    assert read_certificate(octets) is None


@given(st.data())
def test_a_damaged_certificate_is_read_or_none(data: st.DataObject) -> None:
    octets = bytearray(SOUND)
    for _ in range(data.draw(st.integers(1, 4))):
        octets[data.draw(st.integers(0, len(octets) - 1))] = data.draw(st.integers(0, 255))
    read = read_certificate(bytes(octets))
    assert read is None or all(name.isprintable() for name in read.names)


def test_a_negative_serial_number_is_read_without_a_word() -> None:
    version = bytes.fromhex("a003020102")
    octets = bytearray(SOUND)
    octets[octets.index(version) + len(version) + 2] = 0x80
    assert read_certificate(bytes(octets)) is not None


def _sound() -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        return ssl.PEM_cert_to_DER_cert(make_certificate(Path(folder))[0].read_text())


SOUND = _sound()
