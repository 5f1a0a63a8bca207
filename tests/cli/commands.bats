#!/usr/bin/env bats
# Every command: its help, its complaints about the command line, what it prints.

load setup

@test "help of the program and of every command goes to standard output" {
  exits 0 --help
  grep -q '^usage: assay COMMAND' out
  local n=0
  for command in $(commands); do
    exits 0 "$command" --help
    grep -q "^usage: assay $command" out
    grep -q -- '--json' out
    n=$((n + 1))
  done
  [ "$n" -ge 8 ]
}

@test "without a command the help goes to standard error, and the exit code is 2" {
  assay
  [ "$code" -eq 2 ]
  [ ! -s out ]
  grep -q '^usage: assay COMMAND' err
}

@test "a command that is not there is named" {
  fails 2 USAGE "no command 'verfy'" verfy
}

@test "every command refuses an option that is not there" {
  for command in $(commands); do
    fails 2 USAGE "'--bogus'" "$command" --bogus
  done
}

@test "every command refuses threads that are no number" {
  for command in $(commands); do
    fails 2 USAGE "--threads" "$command" --threads many x
    fails 2 USAGE "--threads" "$command" --threads 0 x
  done
}

@test "commands that need a file say so" {
  for command in verify check inspect run init compare; do
    fails 2 USAGE "" "$command"
  done
}

@test "a model that is not there is named" {
  for command in check inspect init; do
    fails 2 FILE_MISSING "none.onnx" "$command" none.onnx
  done
}

@test "a model that is none is refused" {
  echo "this is no model" >no.onnx
  for command in check inspect init verify; do
    assay "$command" no.onnx
    [ "$code" -eq 2 ]
    [ "$(wc -l <err)" -eq 1 ]
    grep -q 'no.onnx' err
  done
}

@test "a FIFO for a model is refused without waiting" {
  mkfifo fifo.onnx
  for command in check inspect init verify; do
    fails 2 FILE_UNREADABLE "plain file" "$command" fifo.onnx
  done
}

@test "a FIFO for a contract or a corpus is refused without waiting" {
  "$MAKE_POLICY" arm pass
  rm arm/contract.yaml && mkfifo arm/contract.yaml
  fails 2 FILE_UNREADABLE "plain file" verify arm
  "$MAKE_POLICY" arm2 pass
  rm arm2/golden/case_1.npz && mkfifo arm2/golden/case_1.npz
  assay verify arm2
  [ "$code" -eq 2 ]
}

@test "explain-code says what a code means, and helps with a misspelt one" {
  exits 0 explain-code DRIFT_MAX
  grep -q 'What to do' out
  fails 2 USAGE "DRIFT_MAX" explain-code DRIFT_MAXX
}

@test "every code of the list is explained" {
  for name in $(sed -n 's/^### `\(.*\)`$/\1/p' "$SOURCE_DIR/docs/codes.md"); do
    exits 0 explain-code "$name"
  done
}

@test "run tells a misspelt input from a missing one" {
  "$MAKE_POLICY" arm pass
  fails 2 INPUT_MISSING "missing: 'x'" run arm/policy.onnx -o out_dir
  printf '\223NUMPY\001\000\166\000%-117s\n' "{'descr': '<f4', 'fortran_order': False, 'shape': (0,), }" >x.npy
  fails 2 INPUT_EXTRA "'X' is given" run arm/policy.onnx --input X=x.npy -o out_dir
}

@test "version says what this build can do, as JSON too" {
  exits 0 version
  grep -q '^assay [0-9]' out
  exits 0 version --json
  if command -v python3 >/dev/null; then
    python3 -c 'import json, sys; assert json.load(open("out"))["version"]'
  fi
}

@test "a full standard output is an error" {
  [ -c /dev/full ] || skip "there is no /dev/full"
  for words in "--help" "version" "explain-code DRIFT_MAX"; do
    local code=0
    # shellcheck disable=SC2086
    "$ASSAY" $words >/dev/full 2>err || code=$?
    [ "$code" -eq 4 ]
    grep -q '\[FILE_UNWRITABLE\]' err
  done
}

@test "escape sequences and line ends of names reach the terminal as letters" {
  fails 2 USAGE '\x1b[31m\nred' $'\e[31m\nred'
  for command in $(commands); do
    fails 2 USAGE '--\x1b[2J' "$command" $'--\e[2J'
  done
  # U+202E in bytes: bash spells \u in the C locale out as letters.
  fails 2 FILE_MISSING '\x1b[31m\n\u202e' check $'\e[31m\n\xe2\x80\xae'
  "$MAKE_POLICY" arm pass
  sed -i 's/engine: assay/engine: "a\\e[31m\\nb\\u009b"/' arm/gate.yaml
  fails 2 GATE_INVALID 'a\x1b[31m\nb\u009b' verify arm
}

@test "output that cannot be written is said once, with exit code 4" {
  "$MAKE_POLICY" arm pass
  for arguments in "verify arm" "verify --json arm" "check arm/policy.onnx" "inspect --json arm/policy.onnx" version; do
    code=0
    # shellcheck disable=SC2086
    "$ASSAY" $arguments >/dev/full 2>err || code=$?
    [ "$code" -eq 4 ]
    [ "$(wc -l <err)" -eq 1 ]
    grep -q 'standard output: .*\[FILE_UNWRITABLE\]$' err
  done
}

@test "a standard stream that is closed becomes no other file" {
  "$MAKE_POLICY" arm pass
  code=0
  "$ASSAY" verify arm >&- 2>err || code=$?
  [ "$code" -eq 4 ]
  "$ASSAY" verify arm <&- 2>&- >out
  "$MAKE_POLICY" arm nonfinite
  code=0
  "$ASSAY" verify arm <&- >&- 2>&- || code=$?
  [ "$code" -eq 4 ]
  ! grep -rq FILE_UNWRITABLE arm
}

@test "an empty report folder is refused before anything runs" {
  "$MAKE_POLICY" arm pass
  fails 2 USAGE "--report is empty" verify arm --report ""
}
