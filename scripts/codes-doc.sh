#!/bin/sh
# Prints docs/codes.md, made from include/assay/codes.inc, the one table of codes.
#   sh scripts/codes-doc.sh >docs/codes.md
set -eu
awk -f - "$(dirname "$0")/../include/assay/codes.inc" <<'AWK'
function words(kind) {
  if (kind == "INPUT") return "wrong input (exit 2)"
  if (kind == "REJECT") return "REJECT (exit 1)"
  if (kind == "BLOCKED") return "BLOCKED (exit 3)"
  if (kind == "NOTE") return "a note (decides nothing)"
  return "internal (exit 4)"
}

BEGIN {
  print "# Codes"
  print ""
  print "Every error, finding and reason of a verdict has a code, which keeps its name and its meaning. This list is made"
  print "from `include/assay/codes.inc` by `scripts/codes-doc.sh`; `assay explain-code CODE` prints one entry."
}

/^\/\* --- / {
  title = $0
  gsub(/^\/\* -+ | -*-* *\*\/$/, "", title)
  print ""
  print "## " toupper(substr(title, 1, 1)) substr(title, 2)
  next
}

/^ASSAY_CODE\(/ { row = ""; open = 1 }
open {
  line = $0
  sub(/^ +/, "", line)
  row = row (row == "" ? "" : " ") line
  if (line ~ /"\)$/) {
    open = 0
    gsub(/" "/, "", row) # strings that stand side by side are one
    n = split(row, field, /", "|, "|"\)$/)
    head = field[1]
    sub(/^ASSAY_CODE\( */, "", head)
    split(head, part, /, /)
    for (i = 2; i <= 3; i++) gsub(/\\"/, "\"", field[i])
    print ""
    print "### `" part[1] "`"
    print ""
    print words(part[2]) ". " field[2]
    print ""
    print "What to do: " field[3]
  }
}
AWK
