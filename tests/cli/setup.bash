# What the tests of the program share. ASSAY is the program, MAKE_POLICY makes small policy folders.

setup() {
  cd "$BATS_TEST_TMPDIR" || return 1
}

# Runs the program: its exit code is in $code, what it printed in the files out and err.
assay() {
  code=0
  "$ASSAY" "$@" >out 2>err </dev/null || code=$?
}

# The program exits with $1 and prints nothing but one sentence with the code [$2], which holds $3.
fails() {
  local exit_code=$1 name=$2 part=$3
  shift 3
  assay "$@"
  if [[ $code -ne $exit_code || -s out || $(wc -l <err) -ne 1 || $(<err) != "assay: "*" [$name]" || $(<err) != *"$part"* ]]; then
    echo "assay $*: expected exit $exit_code and one sentence with \"$part\" [$name], nothing on standard output"
    echo "found exit $code, standard output:"
    cat out
    echo "standard error:"
    cat err
    return 1
  fi
}

# The program exits with $1 and complains of nothing.
exits() {
  local exit_code=$1
  shift
  assay "$@"
  if [[ $code -ne $exit_code || -s err ]]; then
    echo "assay $*: expected exit $exit_code, found $code"
    cat out err
    return 1
  fi
}

# Every command that the program names.
commands() {
  "$ASSAY" --help | sed -n 's/^  \([a-z][a-z-]*\) .*/\1/p'
}

# A digest of the report of a policy folder.
report_of() {
  cat "$1/report/verdict.json" "$1/report/junit.xml" | sha256sum
}
