#!/bin/sh
# Builds assay and runs its whole test suite. What was skipped is named; the last line is
# "N passed, N failed, N skipped". Exits with 0 only when nothing failed.
#   sh scripts/check.sh [options for cmake]
# BUILD names the build folder (build), CHECK_LEVEL the packages to install (test).
set -u
cd "$(dirname "$0")/.." || exit 1
build=${BUILD:-build}
jobs=$(nproc 2>/dev/null || echo 2)

fail() {
  echo "check: $1" >&2
  echo "0 passed, 1 failed, 0 skipped"
  exit 1
}

sh scripts/install-deps.sh "${CHECK_LEVEL:-test}" || fail "the packages that are needed could not be installed"
cmake -S . -B "$build" -G Ninja -DASSAY_TESTS=ON "$@" || fail "the build could not be configured"
cmake --build "$build" || fail "the build failed"
ASSAY_EXTRAS=${ASSAY_EXTRAS:-$PWD/$build/extras}
export ASSAY_EXTRAS
sh scripts/python-extras.sh "$ASSAY_EXTRAS"

ctest --test-dir "$build" -j "$jobs" --no-tests=error --timeout 600 -VV >"$build/tests.log" 2>&1 </dev/null
code=$?
awk -v summary="$build/tests.count" -f scripts/count-tests.awk "$build/tests.log" || fail "the tests' log cannot be read"
if [ "$code" -ne 0 ] && ! grep -q ' 0 failed' "$build/tests.count"; then
  echo "check: $build/tests.log holds all that the tests said"
fi
cat "$build/tests.count"
if [ "$code" -eq 0 ] && grep -q ' 0 failed' "$build/tests.count"; then
  exit 0
fi
exit 1
