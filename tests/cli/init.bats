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

@test "init drafts from a deployment file, and names the line of each value" {
  "$MAKE_POLICY" arm pass
  cat >joints.yaml <<'END'
joint_names: [hip, knee]
END
  exits 0 init arm/policy.onnx --from joints.yaml -o draft
  grep -q 'joints: {value: \[hip, knee\], source: joints.yaml:1}' draft/contract.yaml
  exits 0 init arm/policy.onnx -f joints.yaml --format joints -o draft2
}

@test "init refuses files of no format, of a format that is none, and that contradict each other" {
  "$MAKE_POLICY" arm pass
  echo 'a: 1' >other.yaml
  echo 'joint_names: [hip, knee]' >joints.yaml
  echo 'joint_names: [knee, hip]' >turned.yaml
  fails 2 IMPORT_FORMAT "other.yaml: the content is of no format" init arm/policy.onnx --from other.yaml -o draft
  fails 2 IMPORT_FORMAT "'joint' is no format" init arm/policy.onnx --from joints.yaml --format joint -o draft
  fails 2 FILE_MISSING "absent.yaml" init arm/policy.onnx --from absent.yaml -o draft
  fails 2 IMPORT_CONFLICT "turned.yaml:1: number 1 of the joints is 'knee' here" \
    init arm/policy.onnx --from joints.yaml --from turned.yaml -o draft
  [ ! -e draft ]
}

@test "init tells why a question is open" {
  "$MAKE_POLICY" arm pass
  cat >deploy.yaml <<'END'
joint_ids_map: [0, 1, 2]
observations: {base_ang_vel: {params: {}, scale: [1, 1, 1]}}
actions: {JointPositionAction: {scale: [1, 1, 1], offset: [0, 0, 0], clip: null, joint_ids: null}}
END
  exits 0 init arm/policy.onnx --from deploy.yaml -o draft --json
  grep -q '"reason": "the 3 names in the order' out
  grep -q '"path": "groups.joints"' out
}
