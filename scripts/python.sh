#!/bin/sh
# The Python package: builds the wheel, installs it into the virtual environment $1, and runs its
# tests beside the program $2. Packages of Python come from the index that pip uses.
set -eu
cd "$(dirname "$0")/.."
mkdir -p "$1"
environment=$(realpath "$1")
NICTEAM=$(realpath "$2")
export NICTEAM

python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))' || {
    echo "python: the package needs Python 3.11 or later" >&2
    exit 3
}
[ -x "$environment/bin/pip" ] || python3 -m venv "$environment"
PATH=$environment/bin:$PATH
export PATH
# maturin takes it for the program; it may be a folder of somebody's own.
unset CARGO
pip install --quiet 'maturin>=1.9,<2'
rm -rf "$environment/wheels"
start=$(date +%s)
maturin build --release --locked --quiet --manifest-path python/Cargo.toml --out "$environment/wheels"
echo "built in $(($(date +%s) - start)) s"
wheel=$(echo "$environment"/wheels/*.whl)
pip install --quiet "$wheel[test]"
# One of the same version is not replaced by the line above.
pip install --quiet --force-reinstall --no-deps "$wheel"
cd python
pytest tests
# The examples in the documentation, of what was installed.
pytest --pyargs nicteam
mypy
echo "python: $wheel"
