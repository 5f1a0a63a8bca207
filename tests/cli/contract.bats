#!/usr/bin/env bats
# assay contract: what a contract says, and what changed in meaning between two.

load setup

# A small policy folder in ./p.
policy() {
  "$MAKE_POLICY" p pass >/dev/null
}

@test "a contract means the same as itself, whatever its comments and the order of its keys" {
  policy
  { echo '# a comment'; grep -v '^policy:' p/contract.yaml; grep '^policy:' p/contract.yaml; } >b.yaml
  exits 0 contract diff p b.yaml
  grep -q 'mean the same' out
  exits 0 contract diff --quiet p/contract.yaml b.yaml
  [ ! -s out ]
}

@test "a looser tolerance is told as that, with exit code 1" {
  policy
  sed 's/max: [0-9.e-]*/max: 1000/' p/contract.yaml >b.yaml
  exits 1 contract diff p b.yaml
  grep -q ' -> 1000.*(looser)' out
  exits 1 contract diff b.yaml p
  grep -q '1000.* -> .*(tighter)' out
  exits 1 contract diff --json p b.yaml
  grep -q '"same": false' out
  grep -q '"mark": "looser"' out
}

@test "a contract that cannot be read is a fault of the input, not a difference" {
  policy
  fails 2 FILE_MISSING 'nowhere.yaml' contract diff p nowhere.yaml
  echo 'assay: 1' >b.yaml
  fails 2 CONTRACT_INVALID 'policy' contract diff p b.yaml
  fails 2 CONTRACT_INVALID 'policy' contract check b.yaml
}

@test "check shows what a contract says" {
  policy
  exits 0 contract check p
  grep -q 'tolerance max' out
  exits 0 contract check --quiet p/contract.yaml
  [ "$(wc -l <out)" -eq 1 ]
  exits 0 contract check --json p
  grep -q '"what": "tolerance max"' out
}

@test "the wrong number of contracts is told" {
  fails 2 USAGE 'two contracts' contract diff p
  fails 2 USAGE 'one contract' contract check
  fails 2 USAGE 'no subcommand' contract compare
}
