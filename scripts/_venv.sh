# Sourced by the scripts beside it, with a level: makes .venv fit and sets $root and $venv.
#
#   runtime   the package alone, linked into an empty environment: neither pip nor a network is needed
#   dev       the development tools too, as constraints.txt pins them
#
# $PYTHON names the interpreter to use; else the first Python 3.11 or newer that is found.
# shellcheck shell=bash

root="$(CDPATH='' cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd -P)"
venv="$root/.venv"

dev_tools=(
  build coverage editables hatchling hypothesis import-linter jsonschema mypy
  pytest pytest-timeout pytest-xdist ruff types-jsonschema
)

_fail() {
  printf 'firsthand: error: %s\nhint: %s\n' "$1" "$2" >&2
  exit 1
}

[ ! -L "$venv" ] || _fail "$venv is a link: what it leads to may be the environment of another checkout" "remove it: rm .venv"

# The version of interpreter $1; fails where it does not start or is too old.
_version_of() {
  "$1" -I -S -c 'import sys; sys.version_info >= (3, 11) or sys.exit(1); print("%d.%d.%d" % sys.version_info[:3])' \
    2>/dev/null
}

_find_python() {
  local candidate
  if [ -n "${PYTHON-}" ]; then
    _version_of "$PYTHON" >/dev/null ||
      _fail "PYTHON=$PYTHON is no Python 3.11 or newer" "set PYTHON to the path of one, or unset it"
    printf '%s\n' "$PYTHON"
    return
  fi
  for candidate in python3 python3.13 python3.12 python3.11; do
    if _version_of "$candidate" >/dev/null; then
      printf '%s\n' "$candidate"
      return
    fi
  done
  _fail "no Python 3.11 or newer was found" \
    "install one (Debian 12 or newer: apt-get install python3 python3-venv), or set PYTHON to its path"
}

# Interpreter $1 must import $2 from module $3; Debian ships some modules in a package of their own.
_need() {
  local version
  version="$(_version_of "$1")"
  "$1" -c "from $3 import $2" 2>/dev/null ||
    _fail "$1 has no module $3" \
      "Debian, Ubuntu: apt-get install python${version%.*}-venv (python3-venv for the system's own python3), then try again"
}

# What the environment was made for: elsewhere, or with another Python, it is made anew.
_place() {
  printf '%s\n%s\n' "$root" "$1"
}

# A checksum of everything that the environment is made from.
_fingerprint() {
  { _place "$1"; cat -- "$root"/{pyproject.toml,constraints.txt,scripts/_venv.sh} "$root"/scripts/bin/*; } | cksum
}

# The version in .venv; fails where there is none, or not the one that $PYTHON asks for.
_venv_version() {
  local version
  version="$(_version_of "$venv/bin/python")" || return 1
  if [ -n "${PYTHON-}" ] && [ "$version" != "$(_version_of "$PYTHON")" ]; then
    return 1
  fi
  printf '%s\n' "$version"
}

_ready() {
  local version
  version="$(_venv_version)" &&
    [ "$(cat -- "$venv/.made-$1" 2>/dev/null)" = "$(_fingerprint "$version")" ]
}

# The first line of our scripts. The kernel splits it at blanks and cuts it: such a path goes through sh, as pip does it.
_interpreter_line() {
  case "$venv" in
    *[[:blank:]]*) ;;
    *) [ "${#venv}" -gt 100 ] || { printf '#!%s/bin/python\n' "$venv"; return; } ;;
  esac
  printf "#!/bin/sh\n'''exec' \"%s/bin/python\" \"\$0\" \"\$@\"\n' '''\n" "$venv"
}

# Puts the package in by hand: the files that `pip install -e .` writes (same names), without the metadata.
_link_package() {
  local packages script target
  packages="$("$venv/bin/python" -I -c 'import sysconfig; print(sysconfig.get_path("purelib"))')"
  printf '%s' "$root/src" >"$packages/_editable_impl_firsthand.pth"
  for script in "$root"/scripts/bin/*; do
    target="$venv/bin/${script##*/}"
    { _interpreter_line; tail -n +2 -- "$script"; } >"$target.new"
    chmod 755 -- "$target.new"
    mv -f -- "$target.new" "$target"
  done
}

_pip() {
  PIP_DISABLE_PIP_VERSION_CHECK=1 "$venv/bin/python" -m pip install -qq -c "$root/constraints.txt" "$@" >&2 ||
    _fail "pip could not install what is needed" "see its message above; ./scripts/demo needs no pip"
}

_install_tools() {
  "$venv/bin/python" -m ensurepip --default-pip >/dev/null
  _pip "${dev_tools[@]}"
  _pip --no-build-isolation --no-deps -e "$root"
}

# Whether .venv has to be made from nothing; one that somebody else made here is taken as it is.
_unfit() {
  local version
  version="$(_venv_version)" || return 0
  [ -e "$venv/.place" ] && [ "$(cat -- "$venv/.place")" != "$(_place "$version")" ]
}

_make() {
  local level="$1" python version
  python="$(_find_python)"
  _need "$python" EnvBuilder venv
  [ "$level" = runtime ] || _need "$python" version ensurepip
  printf 'firsthand: setting up .venv (%s)\n' "$level" >&2
  rm -f -- "$venv"/.made-*
  if _unfit; then
    "$python" -m venv --clear --without-pip "$venv"
  fi
  version="$(_venv_version)"
  _place "$version" >"$venv/.place"
  [ "$level" = runtime ] || _install_tools
  _link_package
  _fingerprint "$version" >"$venv/.made-runtime"
  [ "$level" = runtime ] || cp -- "$venv/.made-runtime" "$venv/.made-$level"
}

# One at a time; who waited finds the work done. This file itself is the lock.
_make_alone() (
  if command -v flock >/dev/null && ! flock -n 9; then
    printf 'firsthand: waiting for another script that sets up .venv\n' >&2
    flock 9
  fi
  if ! _ready "$1"; then
    _make "$1"
  fi
) 9<"$root/scripts/_venv.sh"

if ! _ready "$1"; then
  _make_alone "$1"
fi
