# Reads what `ctest -VV` printed. Names every test that failed or was skipped, and writes
# "N passed, N failed, N skipped" to the file `summary`. Each case of a cmocka or bats program
# counts; a program without cases, or one that ended without naming what failed, counts as one.

function note(kind, what, why) {
  sub(/^skipped: */, "", why)
  line = kind ": " what (why != "" ? " (" why ")" : "")
  if (!(line in noted)) {
    noted[line] = 1
    lines[++n_lines] = line
  }
}

# "12: text" is line `text` of test 12.
match($0, /^[0-9]+: /) {
  id = substr($0, 1, RLENGTH - 2)
  text = substr($0, RLENGTH + 1)
  log_of[id] = log_of[id] text "\n"
  if (text ~ /^\[ RUN/) {
    last[id] = ""
  }
  if (text ~ /^\[=+\] Running/) {
    in_cases[id] = 1
  } else if (text ~ /^\[=+\].* run\./) {
    in_cases[id] = 0
  } else if (in_cases[id] && text ~ /^\[ +OK \]/) {
    passed++
    cases[id]++
  } else if (in_cases[id] && text ~ /^\[  FAILED  \]/) {
    failed++
    cases[id]++
    failures[id] = failures[id] "\n" substr(text, 14)
  } else if (in_cases[id] && text ~ /^\[  SKIPPED \]/) {
    skipped++
    cases[id]++
    skips[id] = skips[id] "\n" substr(text, 14) "\t" last[id]
  } else if (text ~ /^ok [0-9]+ .*# skip/) {
    skipped++
    cases[id]++
    name = text
    why = text
    sub(/^ok [0-9]+ /, "", name)
    sub(/ *# skip.*/, "", name)
    sub(/.*# skip *\(?/, "", why)
    sub(/\)$/, "", why)
    skips[id] = skips[id] "\n" name "\t" why
  } else if (text ~ /^ok [0-9]+ /) {
    passed++
    cases[id]++
  } else if (text ~ /^not ok [0-9]+ /) {
    failed++
    cases[id]++
    name = text
    sub(/^not ok [0-9]+ /, "", name)
    failures[id] = failures[id] "\n" name
  }
  if (text !~ /^\[/ && text != "") {
    last[id] = text
  }
  next
}

# " 3/17 Test  #14: kernels/test_fma .......   Passed    0.04 sec"
/^ *[0-9]+\/[0-9]+ Test +#[0-9]+: / {
  id = $0
  sub(/^[^#]*#/, "", id)
  name = id
  sub(/:.*/, "", id)
  sub(/^[0-9]+: /, "", name)
  result = name
  sub(/ .*/, "", name)
  sub(/^[^ ]+ /, "", result)
  n = split(failures[id], list, "\n")
  for (i = 2; i <= n; i++) {
    note("failed", name ": " list[i], "")
  }
  n = split(skips[id], list, "\n")
  for (i = 2; i <= n; i++) {
    split(list[i], pair, "\t")
    note("skipped", name ": " pair[1], pair[2])
  }
  if (result ~ /Passed/) {
    if (!cases[id]) {
      passed++
    }
  } else if (result ~ /Skipped/) {
    if (!cases[id]) {
      skipped++
      note("skipped", name, last[id])
    }
  } else {
    if (failures[id] == "") {
      failed++
      note("failed", name, "it ended without naming a case")
    }
    print "---- " name " ----"
    printf "%s", log_of[id]
  }
  seen++
}

END {
  if (seen == 0) {
    failed++
    note("failed", "ctest", "it ran no test")
  }
  for (i = 1; i <= n_lines; i++) { # what failed stands last, where it is seen
    if (lines[i] ~ /^skipped/) print lines[i]
  }
  for (i = 1; i <= n_lines; i++) {
    if (lines[i] ~ /^failed/) print lines[i]
  }
  printf "%d passed, %d failed, %d skipped\n", passed, failed, skipped > summary
}
