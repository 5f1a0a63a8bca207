#!/bin/sh
# Runs every libFuzzer target for some seconds (20), from the committed seeds. What it finds lies in
# build-fuzz/found. Needs clang.
#   sh scripts/fuzz.sh [SECONDS [TARGET...]]
set -u
cd "$(dirname "$0")/.." || exit 1
seconds=${1:-20}
[ $# -gt 0 ] && shift

mkdir -p build-fuzz
if ! { cmake -S . -B build-fuzz -G Ninja -DCMAKE_C_COMPILER=clang -DASSAY_FUZZ=ON -DASSAY_SANITIZE=address,undefined &&
  cmake --build build-fuzz --target fuzzers; } >build-fuzz/build.log 2>&1; then
  tail -n 40 build-fuzz/build.log
  echo "fuzz: the build failed"
  exit 1
fi
if [ $# -eq 0 ]; then
  for target in build-fuzz/tests/fuzz/fuzz_*; do set -- "$@" "$(basename "$target")"; done
fi

# One target; prints a line, and the log when it failed.
fuzz_one() {
  reader=${1#fuzz_}
  mkdir -p "build-fuzz/corpus/$reader" build-fuzz/found
  if ASAN_OPTIONS=allocator_may_return_null=1:detect_leaks=1 timeout $((seconds + 60)) \
    "build-fuzz/tests/fuzz/$1" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -max_len=65536 \
    -artifact_prefix="build-fuzz/found/$reader-" -print_final_stats=1 \
    "build-fuzz/corpus/$reader" "tests/fuzz/seeds/$reader" >"build-fuzz/found/$reader.log" 2>&1; then
    runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "build-fuzz/found/$reader.log")
    echo "$1: $runs runs in $seconds s, nothing found"
  else
    tail -n 60 "build-fuzz/found/$reader.log"
    echo "$1: FOUND SOMETHING, see build-fuzz/found"
    return 1
  fi
}

failed=0
while [ $# -gt 0 ]; do
  # Two at a time: each is one process, and the machines that run this have two processors.
  fuzz_one "$1" &
  first=$!
  second=
  if [ $# -gt 1 ]; then
    fuzz_one "$2" &
    second=$!
    shift
  fi
  shift
  wait "$first" || failed=1
  if [ -n "$second" ]; then wait "$second" || failed=1; fi
done
exit $failed
