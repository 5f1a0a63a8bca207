# Makes a manual page out of what `assay [COMMAND] --help` prints.
#   assay check --help | awk -v command=check -v version=0.1.0 -f man-page.awk >assay-check.1

function escape(text) {
  gsub(/\\/, "\\e", text)
  gsub(/-/, "\\-", text)
  sub(/^[.']/, "\\\\\\&&", text)
  return text
}

function section(name) {
  if (current != name) {
    printf ".SH %s\n", name
    current = name
  }
}

# "  -o, --output DIR            where to write": what stands left, and what it means.
function entry(line) {
  sub(/^ +/, "", line)
  at = match(line, /  +/)
  left = at ? substr(line, 1, at - 1) : line
  right = at ? substr(line, at + RLENGTH) : ""
  printf ".TP\n\\fB%s\\fR\n%s\n", escape(left), escape(right)
}

BEGIN {
  title = command == "" ? "ASSAY" : "ASSAY-" toupper(command)
  gsub(/-/, "\\-", title)
  printf ".TH %s 1 \"\" \"assay %s\" \"assay\"\n", title, version
}

NR == 1 {
  first = $0
}

/^usage: / {
  usage = substr($0, 8)
  if (command == "") {
    sub(/^assay: /, "", first)
    printf ".SH NAME\nassay \\- %s\n", escape(first)
  }
  next
}

# The first paragraph after the usage says in its first sentence what the command is for.
usage != "" && named == "" && $0 != "" && !/^[a-z]+:$/ {
  if (command != "") {
    sentence = $0
    sub(/[.;:].*/, "", sentence)
    printf ".SH NAME\nassay\\-%s \\- %s\n", escape(command), escape(tolower(substr(sentence, 1, 1)) substr(sentence, 2))
  }
}
usage != "" && named == "" && $0 != "" {
  named = 1
  section("SYNOPSIS")
  printf "\\fB%s\\fR\n", escape(usage)
}

/^options:$/ { section("OPTIONS"); next }
/^commands:$/ { section("COMMANDS"); next }
/^  / && (current == "OPTIONS" || current == "COMMANDS") { entry($0); next }
$0 == "" { if (current != "" && current != "SYNOPSIS") print ".PP"; next }
NR > 1 && usage != "" {
  section("DESCRIPTION")
  print escape($0)
}

END {
  section("EXIT STATUS")
  print ".TP\n0\nnothing is wrong, or the verdict is PASS"
  print ".TP\n1\na required rung is REJECTed"
  print ".TP\n2\nwhat was handed in is wrong: the command line, a model, a contract, a corpus"
  print ".TP\n3\nBLOCKED: what was asked for could not be measured"
  print ".TP\n4\na fault of assay or of the machine"
  section("SEE ALSO")
  if (command == "") {
    print "The manual pages \\fBassay\\-COMMAND\\fR(1), and the documentation that came with assay."
  } else {
    print "\\fBassay\\fR(1), \\fBassay\\-explain\\-code\\fR(1)"
  }
}
