"""firsthand: every command an agent runs comes back as one small, honest, redacted record.

>>> import firsthand
>>> record = firsthand.run(["true"])
>>> record.exit_code, record.error
(0, None)
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from firsthand._version import __version__
    from firsthand.errors import (
        ConfigError,
        FirsthandError,
        MissingExtraError,
        RecordFormatError,
        StoreError,
        UsageError,
    )
    from firsthand.gate.one import agent_may_continue
    from firsthand.library import (
        arun,
        failures,
        last_failure,
        load,
        retry_chain,
        run,
        run_with_feedback,
    )
    from firsthand.record import Record
    from firsthand.redact import redact_text

__all__ = [
    "ConfigError",
    "FirsthandError",
    "MissingExtraError",
    "Record",
    "RecordFormatError",
    "StoreError",
    "UsageError",
    "__version__",
    "agent_may_continue",
    "arun",
    "failures",
    "last_failure",
    "load",
    "redact_text",
    "retry_chain",
    "run",
    "run_with_feedback",
]

_HOMES = {
    "ConfigError": "errors",
    "FirsthandError": "errors",
    "MissingExtraError": "errors",
    "Record": "record",
    "RecordFormatError": "errors",
    "StoreError": "errors",
    "UsageError": "errors",
    "__version__": "_version",
    "agent_may_continue": "gate.one",
    "arun": "library",
    "failures": "library",
    "last_failure": "library",
    "load": "library",
    "redact_text": "redact",
    "retry_chain": "library",
    "run": "library",
    "run_with_feedback": "library",
}
"""Where each public name lives; imported when it is first asked for, so that importing us costs nothing."""


if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        if name not in _HOMES:
            raise AttributeError(f"module 'firsthand' has no attribute {name!r}")
        from importlib import import_module

        value = getattr(import_module(f"firsthand.{_HOMES[name]}"), name)
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return __all__
