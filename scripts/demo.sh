#!/bin/sh
# Builds assay and runs the gate on the example policy. The exit code is the verdict's:
# 0 PASS, 1 REJECT, 2 wrong input, 3 BLOCKED, 4 a fault of assay or of this machine.
set -u
cd "$(dirname "$0")/.." || exit 4

sh scripts/install-deps.sh build || exit 4
log=$(mktemp) || exit 4
tests=
if [ ! -f build/CMakeCache.txt ]; then
  tests=-DASSAY_TESTS=OFF # they need packages that the demonstration does not
fi
echo "demo: building in build/ (a minute or two the first time)"
if ! { cmake -S . -B build -G Ninja $tests && cmake --build build --target assay_program; } >"$log" 2>&1; then
  tail -n 40 "$log"
  echo "demo: the build failed; $log holds all that it said" >&2
  exit 4
fi
rm -f "$log"

echo "$ build/assay verify examples/block_pick"
build/assay verify examples/block_pick
code=$?
echo
if [ -f examples/block_pick/report/verdict.json ]; then
  echo "The report lies in examples/block_pick/report: verdict.json and junit.xml."
fi
exit $code
