"""``firsthand run``: its options, its usage errors, its exit status and what it prints."""

from __future__ import annotations

import json
import re
from importlib import resources
from pathlib import Path

import jsonschema
import pytest
from tests.support import CommandLine, store_records

ID = r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"


def masked(text: str) -> str:
    """Return a view with its ids and times replaced, so that the whole of it can be compared."""
    return re.sub(r"in \d+\.\d\d s", "in T s", re.sub(ID, "ID", text))


def test_the_view_of_a_failure(cli: CommandLine) -> None:
    """The verdict first, then the streams, then what next."""
    line = "echo out; echo 'E  assert 1 == 2' >&2; exit 1"
    result = cli("run", "--note", "passes", "--expect", "12 passed", "--", "bash", "-c", line)
    expected = """\
exit 1 in T s, expected "12 passed": not met
--- stderr
E  assert 1 == 2
--- stdout
out
---
may not continue: exit 1: read stderr and stdout of the record, mend the cause, then retry
retry: firsthand run --parent ID -- COMMAND
"""
    assert (1, expected, "") == (result.status, masked(result.stdout), result.stderr)


def test_the_view_of_a_success(cli: CommandLine) -> None:
    """Short where there is nothing to say."""
    result = cli("run", "--expect-exit", "0", "--", "true")
    expected = "exit 0 in T s, expected exit 0: met\nno output\n---\nmay continue: exit 0\nrecord: ID\n"
    assert (0, expected, "") == (result.status, masked(result.stdout), result.stderr)


def test_the_view_of_a_null(cli: CommandLine) -> None:
    """The word, the sentence, and that null is never success."""
    result = cli("run", "--", "fh-no-such-program")
    expected = """\
exit null (not_found) in T s
No program fh-no-such-program on PATH: install it, or give its path.
no output
---
may not continue: null is never success
retry: firsthand run --parent ID -- COMMAND
"""
    assert (127, expected) == (result.status, masked(result.stdout))


def test_the_view_of_a_cut_redacted_run_with_a_stray(cli: CommandLine) -> None:
    """What was stopped comes first, what was cut and hidden comes last."""
    line = f"seq 1 100; echo pass''word=hunter2{'x' * 3}; sleep 60.25 & exit 137"
    result = cli("run", "--", "bash", "-c", line)
    text = masked(result.stdout)
    first = text.split("\n")[:5]
    assert first[0] == "exit 137 in T s"
    assert (
        first[1] == "137 is 128 + 9: something killed a process in it, often the kernel when memory ran out"
    )
    assert re.fullmatch(r"stopped: sleep 60\.25 \(pid \d+\) \(no longer running\)", first[2])
    assert first[3] == "--- stdout, 41 lines cut"
    assert "\n...truncated 41 lines...\n" in text
    assert "\ncut: more is kept: firsthand show ID --stream stdout [--lines A:B] [--grep WORD]\n" in text
    assert "\nredacted: password 1\n" in text
    assert "hunter2" not in text


@pytest.mark.parametrize(
    ("arguments", "error", "hint"),
    [
        ([], "no command to run", "firsthand run -- COMMAND [ARG ...]"),
        (["--"], "no command to run", "firsthand run -- COMMAND [ARG ...]"),
        (["--notes", "x", "true"], "run has no option --notes", "did you mean --note?"),
        (["-x", "true"], "run has no option -x", "options come before the command"),
        (["--note"], "--note needs a value", "firsthand run --note VALUE -- COMMAND"),
        (["--json=1", "true"], "run has no option --json=1", "did you mean --json?"),
        (["--timeout", "soon", "true"], "--timeout soon is not a number of seconds", "give 30, 0.5"),
        (["--timeout", "-1", "true"], "--timeout -1 is not a number of seconds", "0 for none"),
        (["--timeout", "nan", "true"], "--timeout nan is not a number of seconds", "0 for none"),
        (["--expect-exit", "zero", "true"], "--expect-exit zero is no list of codes", "give 0, or 0,1"),
        (["--expect-exit", "256", "true"], "exit_code is not a list of codes", "give a text"),
        (["--env", "mine", "true"], "environment cannot be 'mine'", "agent, inherit"),
        (["--strays", "love", "true"], "strays cannot be 'love'", "auto, stop, keep"),
        (["--parent", "x" * 36, "true"], "is no command_id", "firsthand last shows them"),
        (["--parent", "01a22bc1", "true"], "no record 01a22bc1", "firsthand last shows them"),
        (["--expect", "", "true"], "contains is not a text", "give a text"),
    ],
)
def test_usage_errors(cli: CommandLine, arguments: list[str], error: str, hint: str) -> None:
    """Status 125, one error line, one hint line, no traceback, nothing run, no record; the same as JSON."""
    result = cli("run", *arguments)
    lines = result.stderr.splitlines()
    assert (result.status, result.stdout, len(lines)) == (125, "", 2)
    assert lines[0].startswith("firsthand: error: ")
    assert error in lines[0]
    assert lines[1].startswith("hint: ")
    assert hint in lines[1]
    as_json = cli("run", "--json", *arguments)
    answer = json.loads(as_json.stdout)
    assert (as_json.status, answer["schema"], as_json.stderr) == (125, "firsthand.error/1", "")
    assert error in answer["message"]
    assert store_records(cli.store) == []


def test_everything_after_the_first_word_is_the_commands(cli: CommandLine) -> None:
    """With and without ``--``; exactly one ``--`` is ours."""
    assert cli("run", "--json", "echo", "--json", "-n").record["command"] == ["echo", "--json", "-n"]
    assert cli("run", "--json", "--", "echo", "--", "x").record["command"] == ["echo", "--", "x"]


def test_a_bad_configuration_stops_before_the_start(cli: CommandLine) -> None:
    """Status 125 and the name of the file; the command did not run."""
    (cli.tmp / "firsthand.toml").write_text("[run]\ntimeout = 'long'\n")
    result = cli("run", "--", "touch", "ran")
    assert result.status == 125
    assert "firsthand.toml: run.timeout is not a number of seconds" in result.stderr
    assert not (cli.tmp / "ran").exists()


def test_the_configuration_holds_and_arguments_override_it(cli: CommandLine) -> None:
    """A limit from the file, one for a command's beginning, and the argument above both."""
    limits = "[run]\ntimeout = 0.2\n[[timeouts]]\ncommand = ['sleep', '1.5']\nseconds = 60\n"
    (cli.tmp / "firsthand.toml").write_text(limits)
    assert cli("run", "--json", "--", "sleep", "30").record["error"] == "timeout"
    assert cli("run", "--json", "--", "sleep", "1.5").record["exit_code"] == 0
    assert cli("run", "--json", "--timeout", "60", "--", "sleep", "1").record["exit_code"] == 0


def test_options_reach_the_record(cli: CommandLine, tmp_path: Path) -> None:
    """Note, session, parent, folder, environment and prediction."""
    first = cli("run", "--json", "--", "false").record
    there = tmp_path / "there"
    there.mkdir()
    options = [
        "--note",
        " two\nlines ",
        "--session",
        "s1",
        f"--parent={first['command_id']}",
        "--cwd",
        str(there),
    ]
    record = cli("run", "--json", *options, "--env", "inherit", "--expect-exit", "1,0", "--", "pwd").record
    assert record["agent_note"] == "two lines"
    assert ("s1", first["command_id"], str(there), "inherit") == tuple(
        record[key] for key in ("session_id", "parent_command_id", "cwd", "environment")
    )
    assert ({"exit_code": [0, 1]}, True, str(there)) == (
        record["expect"],
        record["expectation_met"],
        record["stdout_tail"],
    )


def test_a_shortened_parent_is_completed(cli: CommandLine) -> None:
    """A unique beginning of an id is enough."""
    first = cli("run", "--json", "--", "false").record["command_id"]
    assert first == cli("run", "--json", "--parent", first[:13], "--", "true").record["parent_command_id"]


def test_a_prediction_that_may_stand_in_what_was_cut_is_null(cli: CommandLine) -> None:
    """Neither met nor unmet: nobody can tell."""
    line = "for i in {1..200}; do echo line$i; done"
    hidden = cli("run", "--json", "--expect", "line100\n", "--", "bash", "-c", line).record
    shown = cli("run", "--json", "--expect", "line200", "--", "bash", "-c", line).record
    wrong = cli("run", "--json", "--expect", "nothing", "--", "echo", "something").record
    assert [each["expectation_met"] for each in (hidden, shown, wrong)] == [None, True, False]


@pytest.mark.parametrize(
    ("argv", "masked_by"),
    [
        (["bash", "-c", "true"], "unknown"),
        (["/bin/sh", "-ec", "true"], "unknown"),
        (["bash", "-o", "pipefail", "-c", "true"], "unknown"),
        (["env", "A=1", "bash", "-c", "true"], "unknown"),
        (["bash", "--norc", "-c", "true"], "unknown"),
        (["bash", "--version"], None),
        (["echo", "-c"], None),
        (["true"], None),
    ],
)
def test_a_shell_text_is_marked(cli: CommandLine, argv: list[str], masked_by: str | None) -> None:
    """What it hides is not known, and the record says so."""
    assert masked_by == cli("run", "--json", "--", *argv).record["exit_masked_by"]


def test_names_of_variables_that_matter_are_recorded_and_never_values(cli: CommandLine) -> None:
    """From the fixed list only, sorted."""
    env = {"PYTEST_ADDOPTS": "-x value-of-it", "NODE_OPTIONS": "value-of-it", "OTHER": "value-of-it"}
    record = cli("run", "--json", "--", "true", env=env).record
    assert {"NODE_OPTIONS", "PYTEST_ADDOPTS"} <= set(record["env_names"])
    assert sorted(record["env_names"]) == record["env_names"]
    assert "value-of-it" not in json.dumps(record)


def test_agent_environment_is_exact(cli: CommandLine) -> None:
    """It overrides what the caller has, removes what forces colour, and leaves the rest alone."""
    env = {"PAGER": "less", "FORCE_COLOR": "1", "CLICOLOR_FORCE": "1", "KEPT": "yes"}
    agent = dict(
        line.split("=", 1)
        for line in cli("run", "--json", "--", "env", env=env).record["stdout_tail"].split("\n")
    )
    plain = cli("run", "--json", "--env", "inherit", "--", "env", env=env).record["stdout_tail"].split("\n")
    assert {"PAGER=less", "FORCE_COLOR=1", "KEPT=yes"} <= set(plain)
    assert tuple(agent[name] for name in ("PAGER", "NO_COLOR", "TERM", "GIT_EDITOR", "KEPT")) == (
        "cat",
        "1",
        "dumb",
        "false",
        "yes",
    )
    assert not {"FORCE_COLOR", "CLICOLOR_FORCE", "CI"} & set(agent)


def test_help_and_version(cli: CommandLine) -> None:
    """Status 0 on stdout; without a verb the usage comes with status 2."""
    assert "usage: firsthand run" in cli("run", "--help").stdout
    assert re.fullmatch(r"firsthand \S+\n", cli("--version").stdout)
    assert ((result := cli()).status, result.stdout[:21]) == (2, "usage: firsthand VERB")
    for verb in ("last", "show", "check", "verify", "demo"):
        assert f"usage: firsthand {verb}" in cli(verb, "--help").stdout
        assert f"  {verb}" in cli("--help").stdout


def test_a_misspelt_verb(cli: CommandLine) -> None:
    """Two lines, status 2."""
    result = cli("lsat")
    assert (
        result.status,
        result.stderr,
    ) == (2, "firsthand: error: no verb 'lsat'\nhint: did you mean last?\n")
    assert "hint: to run a command: firsthand run -- pytest ...\n" in cli("pytest").stderr


def test_every_kind_of_record_fits_the_schema(cli: CommandLine) -> None:
    """The package's JSON Schema holds for success, failure, nulls, cut streams, strays, predictions."""
    schema = json.loads(resources.files("firsthand").joinpath("record.schema.json").read_text())
    validator = jsonschema.Draft202012Validator(schema)
    for arguments in (
        ["--", "true"],
        ["--expect", "x", "--expect-exit", "0,1", "--note", "n", "--session", "s", "--", "false"],
        ["--timeout", "0.1", "--", "sleep", "60"],
        ["--", "fh-no-such-program"],
        ["--", "bash", "-c", "kill -9 $$"],
        ["--", "bash", "-c", "seq 1 100000; sleep 60.1 &"],
        ["--cwd", "/no/such/folder", "--", "true"],
    ):
        validator.validate(cli("run", "--json", *arguments).record)
    unstored = cli("run", "--json", "--", "true", env={"FIRSTHAND_DIR": "/proc/firsthand"}).record
    assert unstored["log_error"]
    validator.validate(unstored)


def test_a_stream_within_its_limits_but_over_the_cap_of_its_field_is_cut_honestly(cli: CommandLine) -> None:
    """Quotes take two bytes in JSON: what does not fit is counted, kept aside, and fulfils no prediction."""
    (cli.tmp / "firsthand.toml").write_text("[capture]\nstream_bytes = 9999999\ntail_lines = 100000\n")
    program = "for i in range(3000): print(f'line {i} ' + chr(34) * 20)"
    options = ["--json", "--expect", "line 1500 "]
    record = cli("run", *options, "--", "python3", "-c", program).record
    shown = [line for line in record["stdout_tail"].split("\n") if line.startswith("line ")]
    assert record["truncations"]["stdout"] == 3000 - len(shown) > 0
    assert (record["expectation_met"], bool(record["kept_output"])) == (None, True)
    assert "line 2999" in record["stdout_tail"]
    paged = cli("show", "--stream", "stdout", "--lines", "1501:1501").stdout
    assert "   1501  line 1500 " in paged


def test_a_missing_folder_belongs_to_the_callers_project(cli: CommandLine) -> None:
    """Its record is where the caller looks for it."""
    env = {"FIRSTHAND_DIR": None}
    (cli.tmp / "firsthand.toml").write_text("")
    assert (
        cli("run", "--json", "--cwd", "/no/such/folder", "--", "true", env=env).record["error"] == "bad_cwd"
    )
    assert cli("last", "--json", "--null", env=env).objects[0]["error"] == "bad_cwd"


def test_a_project_is_named_from_where_the_caller_stands(cli: CommandLine) -> None:
    """Its store and its settings are used, wherever the command runs."""
    project = cli.tmp / "project"
    (cli.tmp / "elsewhere").mkdir()
    project.mkdir()
    (project / "firsthand.toml").write_text("[run]\ntimeout = 0.2\n")
    options = ("--json", "--project", "project", "--cwd", "elsewhere")
    record = cli("run", *options, "--", "sleep", "30", env={"FIRSTHAND_DIR": None}).record
    assert (record["error"], record["cwd"]) == ("timeout", str(cli.tmp / "elsewhere"))
    assert len(store_records(project / ".firsthand")) == 1


@pytest.mark.parametrize("chosen", ["/", "home", "open"])
def test_no_store_where_none_belongs(cli: CommandLine, chosen: str) -> None:
    """``/``, the home folder and folders that all may write to hold no store, chosen or not."""
    opened = cli.tmp / "open"
    opened.mkdir()
    opened.chmod(0o777)
    folder = {"/": "/", "home": str(cli.home), "open": str(opened)}[chosen]
    result = cli("run", "--json", "--", "true", env={"FIRSTHAND_DIR": folder})
    assert result.record["log_error"] is None
    assert "holds no store; its records are in " in result.stderr
    assert not [name for name in ("lock", "head", "running") if (Path(folder) / name).exists()]


def test_errors_are_redacted(cli: CommandLine) -> None:
    """They quote what was written."""
    secret = "hunter" + "2" * 10
    for arguments in (["--timeout", "password=" + secret], ["--env", "password=" + secret]):
        result = cli("run", *arguments, "--", "true")
        assert result.status == 125
        assert secret not in result.stdout + result.stderr


def test_the_reason_for_no_record_is_redacted(cli: CommandLine) -> None:
    """It names the store's folder."""
    secret = "hunter" + "2" * 10
    result = cli("run", "--json", "--", "true", env={"FIRSTHAND_DIR": "/proc/password=" + secret})
    assert result.record["log_error"]
    assert secret not in result.stdout + result.stderr
