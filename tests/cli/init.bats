#!/usr/bin/env bats
# init: drafts that name their questions, and replace nothing.

load setup

@test "init drafts both files and lists the open questions" {
  "$MAKE_POLICY" arm pass
  exits 0 init arm/policy.onnx -o draft
  grep -q '^wrote draft/contract.yaml and draft/gate.yaml' out
  grep -q 'draft/contract.yaml:[0-9]*:[0-9]*  outputs\[y\].components\[0\].unit: the physical unit' out
  grep -q '^model: "../arm/policy.onnx"' draft/contract.yaml
  exits 0 init arm/policy.onnx -o draft2 --quiet
  [ ! -s out ]
}

@test "init tells a machine the same" {
  "$MAKE_POLICY" arm pass
  exits 0 init arm/policy.onnx -o draft --json
  grep -q '"contract": "draft/contract.yaml"' out
  grep -q '"path": "outputs\[y\].components\[0\].names"' out
}

@test "init names the policy by its file, or by its folder where the file's name says nothing" {
  "$MAKE_POLICY" arm pass
  exits 0 init arm/policy.onnx -o draft
  grep -q '^policy: draft$' draft/contract.yaml
  cp arm/policy.onnx reach.onnx
  exits 0 init reach.onnx -o draft2
  grep -q '^policy: reach$' draft2/contract.yaml
}

@test "init replaces nothing" {
  "$MAKE_POLICY" arm pass
  cp arm/contract.yaml before
  fails 2 USAGE "a draft replaces nothing" init arm/policy.onnx -o arm
  cmp before arm/contract.yaml
  rm arm/contract.yaml
  fails 2 USAGE "arm/gate.yaml" init arm/policy.onnx -o arm
  [ ! -e arm/contract.yaml ]
}

@test "the questions' places are those that verify names" {
  "$MAKE_POLICY" arm pass
  exits 0 init arm/policy.onnx -o draft
  place=$(grep -o 'draft/contract.yaml:[0-9]*:[0-9]*' out | head -1)
  fails 2 OPEN_QUESTION "$place" verify draft
}
