#!/bin/sh
# Installs the pinned wheels of python-extras.txt into a virtual environment of its own, FOLDER. Does nothing when they
# are there; says so and succeeds when PyPI cannot be reached, since the tests that need them then skip by name.
#   sh scripts/python-extras.sh FOLDER
set -u
cd "$(dirname "$0")/.." || exit 1
folder=${1:?usage: sh scripts/python-extras.sh FOLDER}
list=scripts/python-extras.txt

if cmp -s "$list" "$folder/installed.txt"; then
  exit 0
fi
rm -rf "$folder"
if ! python3 -m venv "$folder" >/dev/null 2>&1; then
  echo "python-extras: this Python makes no virtual environments (Debian: python3-venv); runtimes and datasets are not tested"
  rm -rf "$folder"
  exit 0
fi
if ! "$folder/bin/pip" install --quiet --disable-pip-version-check --only-binary :all: --no-deps -r "$list" \
  >"$folder/pip.log" 2>&1; then
  echo "python-extras: PyPI did not give the wheels of $list; runtimes and datasets are not tested: $(tail -n 1 "$folder/pip.log")"
  rm -rf "$folder"
  exit 0
fi
"$folder/bin/pip" install --quiet --disable-pip-version-check --only-binary :all: --no-deps --target "$folder/oldest" \
  onnxruntime==1.19.2 >>"$folder/pip.log" 2>&1 || echo "python-extras: onnxruntime 1.19.2 was not to be had, and is not tested"
cp "$list" "$folder/installed.txt"
