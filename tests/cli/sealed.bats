#!/usr/bin/env bats
# The sealed set: assay final looks at it once and on record; nothing else reads it.

load setup

# A policy in ./arm whose corpus is split: two cases golden, the third sealed.
split() {
  "$MAKE_POLICY" arm pass
  cp -r arm/golden arm/sealed
  awk '/^  - / {n++} n < 3' arm/golden/corpus.yaml >g && mv g arm/golden/corpus.yaml
  awk '/^  - / {n++} n == 0 || n == 3' arm/sealed/corpus.yaml | sed 's/^role: .*/role: sealed/' >s && mv s arm/sealed/corpus.yaml
  rm arm/golden/case_2.npz arm/sealed/case_[01].npz
  echo 'sealed: sealed' >>arm/gate.yaml
}

@test "final gives its verdict, and every later report tells of the look" {
  split
  exits 0 final arm
  grep -q 'sealed set: 1 look, the first on 20..-..-..: this one' out
  [ -e arm/final/verdict.json ] && [ -e arm/final/junit.xml ]
  exits 0 verify --quiet arm
  grep -q 'sealed set: 1 look, the first on 20..-..-..: PASS' out
  grep -q 'looks at the sealed set: 1' arm/report/junit.xml
}

@test "a second look needs --again and a reason" {
  split
  exits 0 final arm
  fails 2 SEALED_LOOKED "looked at 1 time" final arm
  fails 2 USAGE "go together" final arm --again
  fails 2 USAGE "go together" final arm --reason 'why not'
  exits 0 final arm --again --reason 'the report was lost'
  grep -q 'SEALED_AGAIN' out
  exits 0 verify arm
  grep -q 'sealed set: 2 looks' out
  grep -q 'the report was lost' arm/report/verdict.json
}

@test "final leaves nothing behind when it is refused" {
  split
  sed -i '/^sealed:/d' arm/gate.yaml
  fails 2 GATE_INVALID "names no sealed set" final arm
  [ ! -e arm/ledger ] && [ ! -e arm/final ]
}

@test "seal writes digests alone, and overlap is then refused without the sealed data" {
  split
  cp arm/sealed/case_2.npz there.npz
  exits 0 corpus seal arm/sealed
  grep -q 'sealed 1 case' out
  ! grep -q 'case_2' arm/sealed.json
  rm -r arm/sealed
  exits 0 verify arm
  fails 2 SEALED_OVERLAP "case 'there' overlaps" corpus add arm/golden there.npz
  [ ! -e arm/golden/there.npz ]
  exits 0 corpus new arm/calibration --role calibration
  fails 2 SEALED_OVERLAP "case 'there' overlaps" corpus import arm/calibration there.npz
}

@test "sealing twice gives the same register" {
  split
  exits 0 corpus seal arm/sealed
  cp arm/sealed.json first
  exits 0 corpus seal arm/sealed
  cmp first arm/sealed.json
  fails 2 CORPUS_ROLE "has the role golden" corpus seal arm/golden
}

@test "no other command reads a sealed corpus" {
  split
  fails 2 CORPUS_SEALED "is sealed" corpus show arm/sealed
  fails 2 CORPUS_SEALED "belongs to a sealed corpus" corpus add arm/golden arm/sealed/case_2.npz
  fails 2 CORPUS_SEALED "belongs to a sealed corpus" corpus import arm/golden arm/sealed/case_2.npz
  fails 2 CORPUS_SEALED "belongs to a sealed corpus" corpus import arm/golden arm/sealed
  fails 2 CORPUS_SEALED "belongs to a sealed corpus" corpus add arm/golden --id x --input x=arm/sealed/case_2.npz
  fails 2 CORPUS_SEALED "belongs to a sealed corpus" run arm/policy.onnx --input x=arm/sealed/case_2.npz -o out_folder
  fails 2 CORPUS_SEALED "belongs to a sealed corpus" compare arm/sealed arm/sealed
  sed -i 's/^corpus: golden/corpus: sealed/' arm/gate.yaml
  fails 2 CORPUS_SEALED "is sealed" verify arm
}
