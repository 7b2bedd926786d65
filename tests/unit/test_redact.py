"""The redaction point: the minimal rules, their markers and their counts."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firsthand.redact import Redactor, display, one_line, redact_text

PASSWORD, BEARER, API, AWS, SLACK = (
    "pass" + "word=",
    "Bea" + "rer ",
    "api_" + "key=",
    "AK" + "IA",
    "xo" + "xb-",
)
KEY = "A1" * 8


@pytest.mark.parametrize(
    ("text", "shown", "rule"),
    [
        (
            f"Authorization: {BEARER}{KEY}xyz end",
            "Authorization: " + BEARER + "[REDACTED:bearer#1] end",
            "bearer",
        ),
        (f"{PASSWORD}hunter2", PASSWORD + "[REDACTED:password#1]", "password"),
        (f"{PASSWORD.upper()}hunter2", PASSWORD.upper() + "[REDACTED:password#1]", "password"),
        (f"{PASSWORD}'two words' end", PASSWORD + "'[REDACTED:password#1]' end", "password"),
        (f"{PASSWORD}two words host=db", PASSWORD + "[REDACTED:password#1]", "password"),
        (f"?{PASSWORD}x&y=1\nnext", "?" + PASSWORD + "[REDACTED:password#1]\nnext", "password"),
        (f'"--{PASSWORD}\\"x y\\" z"', f'"--{PASSWORD}\\"[REDACTED:password#1]\\" z"', "password"),
        (f"{BEARER}<{KEY}> end", BEARER + "<[REDACTED:bearer#1]> end", "bearer"),
        (f"{BEARER}ab1", BEARER + "[REDACTED:bearer#1]", "bearer"),
        (f"{API}{KEY}", API + "[REDACTED:api-key#1]", "api-key"),
        (f"api-{API[4:]}{KEY}", "api-" + API[4:] + "[REDACTED:api-key#1]", "api-key"),
        (f"id {AWS}{KEY} end", "id [REDACTED:aws-access-key#1] end", "aws-access-key"),
        (f"{SLACK}1-2-abc end", "[REDACTED:slack-token#1] end", "slack-token"),
    ],
)
def test_a_rule_hides_its_secret_and_nothing_else(text: str, shown: str, rule: str) -> None:
    """The rest of the line stays readable."""
    assert (shown, {rule: 1}) == redact_text(text)


@pytest.mark.parametrize(
    "text",
    [
        "no bearer token is available",
        "the password is required",
        f"KeyError: '{API[:-1]}'",
        "Taxox-b 3",
        "AKIA",
    ],
)
def test_diagnosis_is_left_alone(text: str) -> None:
    """A line about secrets is none."""
    assert (text, {}) == redact_text(text)


def test_numbers_follow_the_first_appearance_of_a_value() -> None:
    """The same secret has the same number in every field of a record, under every rule."""
    redactor = Redactor()
    first = redactor.text(f"{PASSWORD}'one' {API}two")
    second = redactor.text(f"{API}one\n{PASSWORD}three")
    assert first == PASSWORD + "'[REDACTED:password#1]' " + API + "[REDACTED:api-key#2]"
    assert second == API + "[REDACTED:api-key#1]\n" + PASSWORD + "[REDACTED:password#3]"
    assert redactor.counts == {"password": 2, "api-key": 2}


@given(st.text(st.sampled_from("pasword=&'\" \nxABIKA0-")))
def test_redacting_twice_changes_nothing(text: str) -> None:
    """What is hidden stays hidden, and a marker is no secret."""
    once, _ = redact_text(text)
    assert once == redact_text(once)[0]


@pytest.mark.parametrize("piece", [PASSWORD, PASSWORD + "x ", BEARER, API + "'", SLACK, AWS, "a=" + PASSWORD])
def test_no_line_takes_long(piece: str) -> None:
    """A line of two hundred thousand characters made for a rule ends within seconds, not hours."""
    began = time.perf_counter()
    redact_text(piece * (200_000 // len(piece)))
    assert time.perf_counter() - began < 20


@given(st.binary())
def test_any_bytes_can_be_displayed(raw: bytes) -> None:
    """As UTF-8 without a control character but tab and line feed, without a lone surrogate."""
    shown = display(raw)
    shown.encode("utf-8")
    assert not [c for c in shown if (c < " " and c not in "\t\n") or "\x7f" <= c <= "\x9f"]


@given(st.text())
def test_a_note_is_one_line(text: str) -> None:
    """Whatever it is made of."""
    shown = one_line(text)
    assert not [c for c in shown if c < " " or "\x7f" <= c <= "\x9f"]
    assert shown == shown.strip()


@pytest.mark.parametrize(
    "text",
    [
        '=\\"{}\\"', '="{}', "='{}", "=don't{}", '=ab"{}', "=ab&{}", '="ab\\"{}"', "='ab'{}", "=''{}",
        '=""{}', "=$'{}'",
        "=my pa {}:x", "=x {}=9", "= {}", "=[REDACTED:{}", '="[REDACTED:x]{}"',
    ],
)  # fmt: skip
def test_no_form_of_a_value_leaks(text: str) -> None:
    """What cannot be delimited takes the rest of its line."""
    secret = "S3" + "CRET99"
    shown, counts = redact_text("pass" + "word" + text.format(secret) + "\nnext line")
    assert secret not in shown
    assert shown.endswith("\nnext line")
    assert counts == {"password": 1}


@pytest.mark.parametrize("length", [1, 4095, 262_145, 1_000_000])
def test_no_length_of_a_value_leaks(length: int) -> None:
    """No bound of a pattern lets a long one through."""
    for start in (PASSWORD, BEARER, API):
        assert redact_text(start + "a1" * length)[0].startswith(start + "[REDACTED:")


def test_invisible_characters_break_nothing_up() -> None:
    """Arguments and notes lose them before they are looked at."""
    assert Redactor().raw("pass" + "word\u200b=x") == PASSWORD + "[REDACTED:password#1]"


def test_markers_are_numbered_as_they_stand() -> None:
    """Not in the order of the rules."""
    shown, _ = redact_text(f"{PASSWORD}x\n{BEARER}{KEY}")
    assert shown == f"{PASSWORD}[REDACTED:password#1]\n{BEARER}[REDACTED:bearer#2]"


def test_text_read_in_any_locale_is_the_same() -> None:
    """Bytes that Python could not decode are decoded here; what carries no byte is shown."""
    raw = "é \U0001f600".encode()
    assert display(raw) == display("é \U0001f600") == display(raw.decode("ascii", "surrogateescape"))
    assert display("x\udcff\ud800") == r"x\xff\ud800"
