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
  # Commands with subcommands list them in their help, indented by two.
  local subcommands=""
  case ${COMP_WORDS[1]} in
    corpus | contract)
      subcommands=$("$program" "${COMP_WORDS[1]}" --help 2>/dev/null | sed -n 's/^  \([a-z][a-z-]*\) .*/\1/p')
      ;;
  esac
  if ((COMP_CWORD == 2)) && [[ -n $subcommands && $current != -* ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$subcommands" -- "$current")
    return
  fi
  if [[ $current == -* ]]; then
    local called=("${COMP_WORDS[1]}")
    [[ -n $subcommands ]] && called+=("${COMP_WORDS[2]}")
    words=$("$program" "${called[@]}" --help 2>/dev/null | grep -oE -- '(^|[ /])--?[a-z][a-z-]*' | tr -d ' /')
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
    return
  fi
  mapfile -t COMPREPLY < <(compgen -f -- "$current")
}
complete -o filenames -F _assay assay
