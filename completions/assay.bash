# Completion of assay's commands, options and files for bash. It asks the program itself, so that
# it knows every command and option that is there.
_assay() {
  local current=${COMP_WORDS[COMP_CWORD]} program=${COMP_WORDS[0]} words
  COMPREPLY=()
  if ((COMP_CWORD == 1)); then
    words=$("$program" --help 2>/dev/null | sed -n 's/^  \([a-z][a-z-]*\) .*/\1/p')
    mapfile -t COMPREPLY < <(compgen -W "$words --help --version" -- "$current")
    return
  fi
  if [[ $current == -* ]]; then
    words=$("$program" "${COMP_WORDS[1]}" --help 2>/dev/null | grep -oE -- '(^|[ /])--?[a-z][a-z-]*' | tr -d ' /')
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
    return
  fi
  mapfile -t COMPREPLY < <(compgen -f -- "$current")
}
complete -o filenames -F _assay assay
