"""The environment a command gets: the caller's as it is, or made quiet and prompt-free for an agent."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

AGENT, INHERIT = "agent", "inherit"

AGENT_SETS = {
    b"NO_COLOR": b"1",
    b"TERM": b"dumb",
    b"PAGER": b"cat",
    b"GIT_PAGER": b"cat",
    b"GH_PAGER": b"cat",
    b"MANPAGER": b"cat",
    b"GIT_TERMINAL_PROMPT": b"0",
    b"GIT_EDITOR": b"false",
    b"GIT_SEQUENCE_EDITOR": b"false",
    b"GCM_INTERACTIVE": b"never",
    b"DEBIAN_FRONTEND": b"noninteractive",
    b"PIP_PROGRESS_BAR": b"off",
    b"PYTHONUNBUFFERED": b"1",
}
"""Set in ``agent``, over the caller's values. Editors fail: a faked editor would be a faked success."""

AGENT_REMOVES = (b"FORCE_COLOR", b"CLICOLOR_FORCE")
"""Removed in ``agent``: they put colour codes into pipes."""

NAMED = frozenset((
    b"BASH_ENV", b"CARGO_BUILD_TARGET", b"CC", b"CFLAGS", b"CGO_ENABLED", b"CI", b"CLASSPATH", b"CPPFLAGS",
    b"CXX", b"CXXFLAGS", b"DJANGO_SETTINGS_MODULE", b"ENV", b"GEM_PATH", b"GOFLAGS", b"GOOS", b"GOARCH",
    b"GRADLE_OPTS", b"JAVA_TOOL_OPTIONS", b"JEST_JUNIT_OUTPUT_FILE", b"LDFLAGS", b"LD_AUDIT",
    b"LD_LIBRARY_PATH", b"LD_PRELOAD", b"MAKEFLAGS", b"MAVEN_OPTS", b"MFLAGS", b"NODE_ENV", b"NODE_OPTIONS",
    b"NODE_PATH", b"NOSE_ARGS", b"PERL5LIB", b"PERL5OPT", b"PROMPT_COMMAND", b"PYTEST_ADDOPTS",
    b"PYTEST_PLUGINS", b"PYTHONBREAKPOINT", b"PYTHONHOME", b"PYTHONOPTIMIZE", b"PYTHONPATH",
    b"PYTHONSAFEPATH", b"PYTHONSTARTUP", b"PYTHONWARNINGS", b"RAILS_ENV", b"RUBYLIB", b"RUBYOPT",
    b"RUSTC_WRAPPER", b"RUSTFLAGS", b"RUST_TEST_THREADS", b"SHELLOPTS", b"BASHOPTS", b"TOX_OVERRIDE",
    b"UNITTEST_ARGS", b"VIRTUAL_ENV",
))  # fmt: skip
"""Variables that can change what a run means; the record names those that are set, never their values."""


def build(kind: str, added: Mapping[str, str]) -> dict[bytes, bytes]:
    """Return the ``agent`` or ``inherit`` environment, made from that of this process, plus ``added``."""
    env = dict(getattr(os.environb, "_data", os.environb))  # the mapping copies each variable twice
    if kind == AGENT:
        for name in AGENT_REMOVES:
            env.pop(name, None)
        env.update(AGENT_SETS)
    env.update({os.fsencode(name): os.fsencode(value) for name, value in added.items()})
    return env


def names(env: Mapping[bytes, bytes]) -> list[str]:
    """Return the sorted names of the set variables that can change what a run means."""
    return [name.decode() for name in sorted(NAMED.intersection(env))]
