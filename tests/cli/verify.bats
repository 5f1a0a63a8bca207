#!/usr/bin/env bats
# The main job as a user sees it: exit codes, the report, and what is left when it is disturbed.

load setup

@test "PASS exits with 0 and leaves a report" {
  "$MAKE_POLICY" arm pass
  exits 0 verify arm
  grep -q 'PASS' out
  [ "$(ls arm/report)" = "junit.xml
verdict.json" ]
  grep -q '"verdict": "PASS"' arm/report/verdict.json
}

@test "REJECT exits with 1 and names case, component and numbers" {
  "$MAKE_POLICY" arm reject
  exits 1 verify arm
  grep -q 'REJECT' out
  grep -q 'DRIFT_MAX' out
  grep -q 'wrist' out
  grep -q '"case": "case_1"' arm/report/verdict.json
}

@test "BLOCKED exits with 3 and says why" {
  "$MAKE_POLICY" arm blocked
  exits 3 verify arm
  grep -q 'RUNTIME_MISSING' out
  grep -q '"verdict": "BLOCKED"' arm/report/verdict.json
}

@test "a golden answer that is not finite exits with 2" {
  "$MAKE_POLICY" arm nonfinite
  assay verify arm
  [ "$code" -eq 2 ]
  cat out err | grep -q 'INVALID_GOLDEN'
}

@test "a file that is not there is told with the line that names it" {
  "$MAKE_POLICY" arm pass
  mkdir kept
  cp arm/*.yaml kept
  sed -i 's/^model: .*/model: lost.onnx/' arm/contract.yaml
  fails 2 FILE_MISSING ":8: 'model' names arm/lost.onnx" verify arm
  grep -q 'arm/contract.yaml:[0-9]' err
  cp kept/contract.yaml arm
  sed -i 's/^contract: .*/contract: lost.yaml/' arm/gate.yaml
  fails 2 FILE_MISSING ":11: 'contract' names arm/lost.yaml" verify arm
  cp kept/gate.yaml arm
  sed -i 's/^corpus: .*/corpus: lost/' arm/gate.yaml
  fails 2 FILE_MISSING ":9: 'corpus' names arm/lost" verify arm
}

@test "a gate without a required rung exits with 2" {
  "$MAKE_POLICY" arm unrequired
  assay verify arm
  [ "$code" -eq 2 ]
}

@test "a fault of the contract is given with line and column" {
  "$MAKE_POLICY" arm pass
  sed -i 's/name: elbow, unit: rad/name: elbow, unit: furlong_per/; s/axes:/axis:/' arm/contract.yaml
  assay verify arm
  [ "$code" -eq 2 ]
  grep -qE '^assay: arm/contract.yaml:[0-9]+:[0-9]+: .*axis' err
  [ ! -e arm/report ]
}

@test "an open question is refused with its line" {
  "$MAKE_POLICY" arm pass
  sed -i 's/name: elbow, unit: rad/name: elbow, unit: TODO/' arm/contract.yaml
  fails 2 OPEN_QUESTION "contract.yaml:13:" verify arm
}

@test "a case that was changed after it was recorded is refused" {
  "$MAKE_POLICY" arm pass
  printf 'x' >>arm/golden/case_1.npz
  assay verify arm
  [ "$code" -eq 2 ]
  grep -q 'case_1' err
}

@test "the same inputs give the same report, but for its environment and the threads asked for" {
  "$MAKE_POLICY" arm reject
  exits 1 verify arm # the first run in a ledger has a note that no later one has
  exits 1 verify arm
  sed '/"environment"/,$d; /"threads"/d' arm/report/verdict.json >first
  exits 1 verify arm --threads 3
  sed '/"environment"/,$d; /"threads"/d' arm/report/verdict.json >second
  grep -q '"verdict"' second
  diff first second
}

@test "verify --json prints the report alone" {
  "$MAKE_POLICY" arm reject
  exits 1 verify --json arm
  command -v python3 >/dev/null || skip "there is no python3 to read JSON with"
  python3 -c 'import json; assert json.load(open("out"))["verdict"] == "REJECT"'
}

@test "a bare model gets drift and no verdict" {
  "$MAKE_POLICY" arm pass
  exits 3 verify arm/policy.onnx
  grep -qi 'no contract, no verdict' out
  [ ! -e report ]
}

@test "what init drafts is refused until its questions are answered" {
  "$MAKE_POLICY" arm pass
  exits 0 init arm/policy.onnx -o draft
  grep -q TODO draft/contract.yaml
  cp arm/policy.onnx draft/
  assay verify draft
  [ "$code" -eq 2 ]
  grep -q 'OPEN_QUESTION' err
}

@test "a report folder of somebody else's files is left alone" {
  "$MAKE_POLICY" arm pass
  mkdir home && echo mine >home/thesis.tex
  fails 4 FILE_UNWRITABLE "other files" verify arm --report home
  [ "$(cat home/thesis.tex)" = mine ]
}

@test "SIGKILL at any moment leaves the old report whole, or the new one" {
  "$MAKE_POLICY" arm pass
  exits 0 verify arm
  "$MAKE_POLICY" arm reject
  exits 1 verify --report other arm
  for delay in 0.001 0.003 0.005 0.008 0.012 0.02 0.03 0.05; do
    "$ASSAY" verify arm >/dev/null 2>&1 &
    local pid=$!
    sleep "$delay"
    kill -KILL "$pid" 2>/dev/null || true
    wait "$pid" 2>/dev/null || true
    tail -c 2 arm/report/verdict.json | grep -q '}'
    grep -q '</testsuites>' arm/report/junit.xml
    [ "$(ls arm/report)" = "junit.xml
verdict.json" ]
    # Both files speak of the same run.
    if grep -m 1 '"verdict"' arm/report/verdict.json | grep -q PASS; then
      [ "$(grep -c '<failure' arm/report/junit.xml)" -eq 0 ]
    else
      grep -q '<failure' arm/report/junit.xml
    fi
  done
}

@test "SIGINT in the middle leaves the old report as it was" {
  "$MAKE_POLICY" arm pass
  exits 0 verify arm
  local before
  before=$(report_of arm)
  "$MAKE_POLICY" arm slow
  # An asynchronous command of a script ignores SIGINT; env gives it back its meaning.
  env --default-signal=INT "$ASSAY" verify arm >/dev/null 2>&1 &
  local pid=$!
  sleep 0.2
  kill -INT "$pid" 2>/dev/null || skip "the run was over before it could be interrupted"
  local code=0
  wait "$pid" || code=$?
  [ "$code" -eq 130 ]
  [ "$(report_of arm)" = "$before" ]
  [ -z "$(find arm -name '.assay-part-*')" ]
}

teardown() {
  if [ -d disk ]; then umount disk 2>/dev/null || true; fi
}

@test "a full disk leaves the old report as it was and nothing beside it" {
  mkdir disk
  if ! mount -t tmpfs -o size=256k tmpfs disk 2>/dev/null; then
    skip "no file system can be mounted here"
  fi
  "$MAKE_POLICY" disk/arm pass
  exits 0 verify disk/arm
  local before
  before=$(report_of disk/arm)
  dd if=/dev/zero of=disk/fill bs=1k 2>/dev/null || true
  assay verify disk/arm
  local after
  after=$(report_of disk/arm)
  local left
  left=$(find disk -name '.assay-part-*')
  umount disk
  [ "$code" -eq 4 ]
  grep -q '\[FILE_UNWRITABLE\]' err
  [ "$after" = "$before" ]
  [ -z "$left" ]
}

@test "a limit on file sizes is met like a full disk" {
  "$MAKE_POLICY" arm pass
  exits 0 verify arm
  local before
  before=$(report_of arm)
  code=0
  (ulimit -f 1 && "$ASSAY" verify arm >/dev/null 2>err) || code=$?
  [ "$code" -eq 4 ]
  grep -q '\[FILE_UNWRITABLE\]' err
  [ "$(report_of arm)" = "$before" ]
  [ -z "$(find arm -name '.assay-part-*')" ]
}

@test "verify keeps a ledger, and tells for good what was loosened since a REJECT" {
  "$MAKE_POLICY" arm reject
  exits 1 verify arm
  sed -i 's/max: 0.002/max: 1/' arm/contract.yaml
  assay verify --quiet arm
  grep -q 'wrist 0.002 to 1 since the REJECT of 20' out
  grep -q 'wrist 0.002 to 1 since the REJECT of 20' arm/report/verdict.json
  grep -q 'wrist 0.002 to 1 since the REJECT of 20' arm/report/junit.xml
  sed -i 's/max: 1/max: 0.002/' arm/contract.yaml
  assay verify --quiet arm
  grep -q 'tightened again' out
}

@test "the report of a later run differs in the environment alone, once the ledger has begun" {
  "$MAKE_POLICY" arm pass
  exits 0 verify arm
  grep -q 'first run in a new ledger' out
  grep -q 'first run in a new ledger' arm/report/verdict.json
  exits 0 verify arm
  sed '/"environment"/,$d' arm/report/verdict.json >first.json
  exits 0 verify arm
  sed '/"environment"/,$d' arm/report/verdict.json | cmp first.json -
}

@test "--no-ledger adds nothing, and the report says so" {
  "$MAKE_POLICY" arm pass
  exits 0 verify arm --no-ledger
  [ ! -e arm/ledger ]
  grep -q 'LEDGER_ABSENT' out
  grep -q '"kept": false' arm/report/verdict.json
  fails 2 USAGE "belongs to a policy folder" verify arm/policy.onnx --no-ledger
}

@test "a folder that cannot be written still gets its verdict, and the report says that no ledger was kept" {
  [ "$(id -u)" -ne 0 ] || skip "root may write everywhere"
  "$MAKE_POLICY" arm pass
  chmod a-w arm
  exits 0 verify arm --report report
  chmod u+w arm
  grep -q 'LEDGER_ABSENT' out
}

@test "a ledger that was cut is BLOCKED" {
  "$MAKE_POLICY" arm pass
  exits 0 verify arm
  sed -i '$d' arm/ledger/runs.jsonl
  exits 3 verify arm
  grep -q 'LEDGER_BROKEN' out
}

@test "two runs at once both stand in the ledger" {
  "$MAKE_POLICY" arm pass
  for i in 1 2 3 4; do
    "$ASSAY" verify arm --report "r$i" >/dev/null &
  done
  wait
  exits 0 verify arm -v
  grep -q 'ledger: 5 runs, 0 of them REJECT, 0 not finished' out
}
