"""Lines of simple commands fall into members; everything else is left alone."""

from __future__ import annotations

import pytest

from firsthand.shell.members import last_pipeline, pipelines

SIMPLE = {
    "true": [["true"]],
    " make  2>&1 |tee log ": [["make  2>&1", "tee log"]],
    "a && b || c ; d": [["a"], ["b"], ["c"], ["d"]],
    "a | b |& c": [["a", "b", "c"]],
    "a;": [["a"]],
    "a && b | c; d | e": [["a"], ["b", "c"], ["d", "e"]],
    'echo \'a | b\\\' "c && \\" d" | e': [['echo \'a | b\\\' "c && \\" d"', "e"]],
    "x=1 y+=2 make # | not this": [["x=1 y+=2 make"]],
    "echo a#b | grep '#'": [["echo a#b", "grep '#'"]],
    "ls &>/dev/null | cat >&2 <&0": [["ls &>/dev/null", "cat >&2 <&0"]],
    "echo x >| file": [["echo x >| file"]],
    'echo $HOME | grep "$USER"': [["echo $HOME", 'grep "$USER"']],
}

OTHER = (
    "", "   ", "|", "a |", "a && ", "&& a", "a ;; b", "a & b", "sleep 1 &", "a\nb", "(a)", "{ a; }", "! a",
    "if a; then b; fi", "for i in 1; do a; done", "while a; do b; done", "f() { a; }", "[[ a ]]", "((1))",
    "time a", "a $(b)", "a `b`", "a ${b:?}", 'a "$(b)"', 'a "`b`"', "a <<E", "a <<<b", "a <(b)", "exec a",
    "trap b EXIT; a", "a && exec b", "a 'b", 'a "b', "a $'b'", "coproc a", "case a in b) c;; esac",
    "a \\| b", "true \\>& false", "\\\nif a", "a >", "a > | b", "a >& | b", "a > > b", "exit 1",
    "true | exit 2; a", "shopt -s lastpipe; a", "set -x; a", "IFS=; a | b", "eval a", "echo $BASH_COMMAND",
    "--version", "-x a", "a" * 5000,
)  # fmt: skip


@pytest.mark.parametrize("line", SIMPLE)
def test_a_line_of_simple_commands(line: str) -> None:
    """Operators split outside quotes, redirections do not."""
    assert pipelines(line) == SIMPLE[line]


@pytest.mark.parametrize("line", OTHER)
def test_everything_else_is_left_alone(line: str) -> None:
    """Not to know is right where a guess would be a lie."""
    assert pipelines(line) is None


@pytest.mark.parametrize(
    ("line", "statuses", "last", "code", "expected"),
    [
        ("a | b", [1, 0], "b", 1, [("a", 1), ("b", 0)]),
        ("a | b", [1, 0], "b", 0, None),  # the statuses are not those of the exit code
        ("a && b", [0], "b", 0, [("b", 0)]),
        ("a && b", [4], "a", 4, [("a", 4)]),
        ("a | b; c | b", [0, 0], "b", 0, None),  # one of two
        ("a | b; a | b", [0, 0], "b", 0, [("a", 0), ("b", 0)]),
        ("a; exit 3", [0], "exit 3", 3, None),
        ("echo a >&2; cat <x", [1], "cat < x", 1, [("cat <x", 1)]),
        ("cd /; echo a >&2", [0], "echo a 1>&2", 0, [("echo a >&2", 0)]),
        ("(a)", [0], "a", 0, None),
        ("a | b 0<&0; c | b <&0", [1, 0], "b 0<&0", 1, None),  # bash spells the second like the first
        ("a | b &> f; c | b >& f", [0, 0], "b &> f", 0, None),
        ("a", [0, 0], "a", 0, None),
        ("a", [], "a", 0, None),
        ("a", [0], "a", None, None),
    ],
)
def test_the_last_pipeline(
    line: str, statuses: list[int], last: str, code: int | None, expected: list[tuple[str, int]] | None
) -> None:
    """Only where statuses, last command, line and exit code fit each other."""
    found = last_pipeline(line, statuses, last, code)
    shown = None if found is None else [(member["command"], member["exit_code"]) for member in found]
    assert shown == expected
