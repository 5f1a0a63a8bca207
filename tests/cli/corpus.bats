#!/usr/bin/env bats
# assay corpus: making a corpus, adding and importing cases, and what show says of them.

load setup

# npy FILE DESCR SHAPE BYTES: an array, its values as printf escapes.
npy() {
  local header="{'descr': '$2', 'fortran_order': False, 'shape': ($3), }" size
  mkdir -p "$(dirname "$1")"
  while [ $(((10 + ${#header} + 1) % 64)) -ne 0 ]; do
    header="$header "
  done
  size=$(printf '%04x' $((${#header} + 1)))
  {
    printf '\x93NUMPY\x01\x00'
    printf "\\x${size:2:2}\\x${size:0:2}"
    printf '%s\n' "$header"
    printf "$4"
  } >"$1"
}

# 1.0 and 2.0 in float32
one='\x00\x00\x80\x3f'
two='\x00\x00\x00\x40'

# A golden corpus of two cases in ./golden.
golden() {
  npy x.npy '<f4' '1, 2' "$one$two"
  npy y.npy '<f4' '1,' "$one"
  npy z.npy '<f4' '1,' "$two"
  exits 0 corpus new golden --policy test --framework pytorch --framework-version 1.13
  exits 0 corpus add golden --id first --input x=x.npy --output y=y.npy --tag light=dark --age x=20
  exits 0 corpus add golden --id second --input x=x.npy --output y=z.npy --tag light=day
}

@test "new makes a corpus, once" {
  exits 0 corpus new golden
  grep -q 'made golden (golden)' out
  [ -f golden/corpus.yaml ]
  fails 2 USAGE "a corpus here already" corpus new golden
  fails 2 USAGE "--role is 'gold'" corpus new other --role gold
  [ ! -e other ]
}

@test "add makes a case of .npy files, and the same cases make the same bytes" {
  golden
  grep -q 'added 1 case: 2 in all, version sha256:' out
  grep -q 'tags: {light: dark}' golden/corpus.yaml
  before=$(cat golden/* | sha256sum)
  rm -r golden
  golden
  [ "$before" = "$(cat golden/* | sha256sum)" ]
}

@test "add takes .npz files as they are" {
  golden
  exits 0 corpus new second
  exits 0 corpus add second golden/first.npz golden/second.npz --json
  grep -q '"added": 2, "cases": 2' out
  cmp golden/first.npz second/first.npz
  fails 2 CORPUS_INVALID "'first' already" corpus add second golden/first.npz
}

@test "add takes times, monitors and the guard's answer" {
  golden
  npy s.npy '<f4' '2, 1' "$one$two"
  exits 0 corpus add golden --id timed --input x=x.npy --output y=y.npy --time x=1000 --now 1010.5 --result-age 12 \
    --monitor bumper=clear:5 --guard accept
  exits 0 corpus add golden --id each --sequence --input x=s.npy --output y=s.npy --time x=1,2 --now 3,4 \
    --monitor bumper=tripped:0.5,missing --guard MONITOR_TRIPPED,MONITOR_MISSING
  exits 0 corpus add golden --id one --sequence --input x=s.npy --output y=s.npy --guard 1=ACTION_LIMIT --no-monitors
  for line in 'times_ms: {x: 1000}' 'now_ms: 1010.5' 'result_age_ms: 12' 'monitors: {bumper: {answer: clear, age_ms: 5}}' \
    'guard: accept' 'times_ms: {x: [1, 2]}' 'now_ms: [3, 4]' 'guard: [MONITOR_TRIPPED, MONITOR_MISSING]' \
    'monitors: {bumper: [{answer: tripped, age_ms: 0.5}, missing]}' 'guard: {1: ACTION_LIMIT}' 'monitors: {}'; do
    grep -qF "    $line" golden/corpus.yaml || { echo "no $line"; cat golden/corpus.yaml; return 1; }
  done
  fails 2 USAGE "now_ms" corpus add golden --id t --input x=x.npy --output y=y.npy --time x=1000
  fails 2 USAGE "no number" corpus add golden --id t --input x=x.npy --output y=y.npy --now soon
  fails 2 USAGE "no sequence" corpus add golden --id t --input x=x.npy --output y=y.npy --now 1,2
  fails 2 USAGE "say it once" corpus add golden --id t --input x=x.npy --output y=y.npy --now 1 --time x=1 --age x=1
  fails 2 USAGE "clear:MS" corpus add golden --id t --input x=x.npy --output y=y.npy --monitor m=fine
  fails 2 USAGE "neither accept" corpus add golden --id t --input x=x.npy --output y=y.npy --guard ok
  fails 2 USAGE "a step is" corpus add golden --id t --sequence --input x=s.npy --output y=s.npy --guard x=accept
  fails 2 USAGE "two answers" corpus add golden --id t --sequence --input x=s.npy --output y=s.npy --guard 1=accept,1=accept
  fails 2 CORPUS_INVALID "2 steps" corpus add golden --id t --sequence --input x=s.npy --output y=s.npy --now 1,2,3
}

@test "what fails to be added leaves the corpus as it was" {
  golden
  before=$(cat golden/* | sha256sum)
  echo "no archive" >no.npz
  cp golden/first.npz third.npz
  fails 2 NPZ_INVALID "no.npz" corpus add golden third.npz no.npz
  fails 2 USAGE "--id" corpus add golden --input x=x.npy --output y=y.npy
  fails 2 CORPUS_INVALID "stores none" corpus add golden --id third --input x=x.npy
  fails 2 USAGE "INPUT_SHAPE" corpus add golden --id third --input x=x.npy --refuse DRIFT_MAX
  fails 2 FILE_MISSING "none.npy" corpus add golden --id third --input x=none.npy
  fails 2 USAGE "'taps/x'" corpus add golden --id third --array taps/x=x.npy
  fails 2 FILE_MISSING "no such folder" corpus add nowhere third.npz
  [ "$before" = "$(cat golden/* | sha256sum)" ]
  [ "$(ls golden | wc -l)" -eq 3 ]
}

@test "an invalid case needs no answer, and may be fed nothing" {
  golden
  exits 0 corpus add golden --id nothing --refuse INPUT_MISSING
  exits 0 corpus add golden --id shape --input x=y.npy --refuse INPUT_SHAPE
  exits 0 corpus show golden --json
  grep -q '"code": "INPUT_MISSING", "cases": 1' out
}

@test "bits of types that NumPy lacks are declared" {
  golden
  npy b.npy '<u2' '2,' '\x80\x3f\x00\x40'
  exits 0 corpus new bits --role calibration
  exits 0 corpus add bits --id b --input b=b.npy --dtype inputs/b=bfloat16
  grep -q 'dtypes: {inputs/b: bfloat16}' bits/corpus.yaml
  exits 0 corpus show bits --json
  grep -q '"max": 2' out
  fails 2 USAGE "no type 'bf16'" corpus add bits --id c --input b=b.npy --dtype inputs/b=bf16
}

@test "import takes folders of .npy and of .npz" {
  golden
  npy set/inputs/obs%2Fq.npy '<f4' '1,' "$one"
  npy set/outputs/y.npy '<f4' '1,' "$two"
  mkdir many
  cp golden/first.npz golden/second.npz many/
  exits 0 corpus new taken
  exits 0 corpus import taken set many --tag source=lab
  grep -q 'added 3 cases' out
  grep -q 'id: set' taken/corpus.yaml
  fails 2 USAGE "for HDF5 files" corpus import taken many --frames 0:1
  fails 2 USAGE "for ONNX test data" corpus import taken many --model m.onnx
  fails 2 FILE_MISSING "nowhere" corpus import taken nowhere
  fails 2 USAGE "--frames is '5'" corpus import taken ep.h5 --map a=inputs/a --frames 5
  fails 2 USAGE "--episodes is '3-1'" corpus import taken ep.h5 --map a=inputs/a --episodes 3-1
}

@test "show tells what there is, and what is missing" {
  golden
  exits 0 corpus show golden
  grep -q 'cases    2: 2 answered, 0 refused; 2 samples' out
  grep -q 'light *dark 1, day 1' out
  grep -q '! x: is the same in every sample' out
  grep -q '! never exercised: INPUT_MISSING' out
  exits 0 corpus show golden --json
  grep -q '"schema": "assay.coverage.1"' out
}

@test "show finds the contract of the policy folder" {
  golden
  cat >contract.yaml <<'END'
assay: 1
policy: test
model: policy.onnx
inputs:
  - {name: x, dtype: float32, shape: [1, 2], legal: [0, 4]}
outputs:
  - name: y
    dtype: float32
    shape: [1]
    axes: [component]
    components: [{name: grip, unit: score, decision: {threshold: 1.5, at_or_above: close, below: open}}]
END
  exits 0 corpus show golden
  grep -q 'of legal \[0, 4\]: 25 %' out
  grep -q 'close 1, open 1 (threshold 1.5, nearest by 0.5)' out
  exits 0 corpus show golden --no-contract
  if grep -q 'legal' out; then return 1; fi
  echo 'assay: 1' >contract.yaml
  assay corpus show golden
  [ "$code" -eq 2 ]
  grep -q 'contract.yaml' err
}

@test "a changed case is refused by name" {
  golden
  printf 'x' >>golden/first.npz
  fails 2 CORPUS_DIGEST "case 'first'" corpus show golden
}

@test "a sealed corpus can be made and added to, and nothing looks at it" {
  golden
  exits 0 corpus new sealed --role sealed
  exits 0 corpus add sealed golden/first.npz
  fails 2 CORPUS_SEALED "final evaluation" corpus show sealed
}

@test "names do not become paths" {
  golden
  exits 0 corpus add golden --id '../escape' --input x=x.npy --output y=y.npy
  [ -f golden/..%2Fescape.npz ]
  [ ! -e escape.npz ]
  sed -i 's|file: first.npz|file: ../first.npz|' golden/corpus.yaml
  cp golden/first.npz first.npz
  fails 2 CORPUS_INVALID "../first.npz" corpus show golden
}

@test "corpus without a subcommand, or with one that is not there" {
  assay corpus
  [ "$code" -eq 2 ]
  grep -q '^usage: assay corpus' err
  fails 2 USAGE "no subcommand 'sho'" corpus sho
  fails 2 USAGE "takes the folder" corpus show
  fails 2 USAGE "takes the folder" corpus add
  fails 2 USAGE "takes one folder" corpus new
  fails 2 USAGE "what is to be imported" corpus import golden
}
