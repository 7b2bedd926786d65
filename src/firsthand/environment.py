"""The environment a command gets: the caller's as it is, or made quiet and prompt-free for an agent."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

AGENT, INHERIT = "agent", "inherit"

AGENT_SETS = {
    "NO_COLOR": "1",
    "TERM": "dumb",
    "PAGER": "cat",
    "GIT_PAGER": "cat",
    "GH_PAGER": "cat",
    "MANPAGER": "cat",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_EDITOR": "false",
    "GIT_SEQUENCE_EDITOR": "false",
    "GCM_INTERACTIVE": "never",
    "DEBIAN_FRONTEND": "noninteractive",
    "PIP_PROGRESS_BAR": "off",
    "PYTHONUNBUFFERED": "1",
}
"""Set in ``agent``, over the caller's values. Editors fail: a faked editor would be a faked success."""

AGENT_REMOVES = ("FORCE_COLOR", "CLICOLOR_FORCE")
"""Removed in ``agent``: they put colour codes into pipes."""

NAMED = frozenset((
    "BASH_ENV", "CARGO_BUILD_TARGET", "CC", "CFLAGS", "CGO_ENABLED", "CI", "CLASSPATH", "CPPFLAGS",
    "CXX", "CXXFLAGS", "DJANGO_SETTINGS_MODULE", "ENV", "GEM_PATH", "GOFLAGS", "GOOS", "GOARCH",
    "GRADLE_OPTS", "JAVA_TOOL_OPTIONS", "JEST_JUNIT_OUTPUT_FILE", "LDFLAGS", "LD_AUDIT",
    "LD_LIBRARY_PATH", "LD_PRELOAD", "MAKEFLAGS", "MAVEN_OPTS", "MFLAGS", "NODE_ENV", "NODE_OPTIONS",
    "NODE_PATH", "NOSE_ARGS", "PERL5LIB", "PERL5OPT", "PROMPT_COMMAND", "PYTEST_ADDOPTS",
    "PYTEST_PLUGINS", "PYTHONBREAKPOINT", "PYTHONHOME", "PYTHONOPTIMIZE", "PYTHONPATH",
    "PYTHONSAFEPATH", "PYTHONSTARTUP", "PYTHONWARNINGS", "RAILS_ENV", "RUBYLIB", "RUBYOPT",
    "RUSTC_WRAPPER", "RUSTFLAGS", "RUST_TEST_THREADS", "SHELLOPTS", "BASHOPTS", "TOX_OVERRIDE",
    "UNITTEST_ARGS", "VIRTUAL_ENV",
))  # fmt: skip
"""Variables that can change what a run means; the record names those that are set, never their values."""


def build(
    kind: str, added: Mapping[str, str], base: Mapping[bytes, bytes] | None = None
) -> dict[bytes, bytes]:
    """Return the ``agent`` or ``inherit`` environment, made from ``base`` (the caller's), plus ``added``."""
    env = dict(os.environb if base is None else base)
    if kind == AGENT:
        for name in AGENT_REMOVES:
            env.pop(name.encode(), None)
        env.update({name.encode(): value.encode() for name, value in AGENT_SETS.items()})
    env.update({os.fsencode(name): os.fsencode(value) for name, value in added.items()})
    return env


def names(env: Mapping[bytes, bytes]) -> list[str]:
    """Return the sorted names of the set variables that can change what a run means."""
    return sorted(name for name in NAMED if name.encode() in env)
