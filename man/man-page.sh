#!/bin/sh
# Writes one manual page: man-page.sh PAGE AWK VERSION COMMAND PROGRAM...
# COMMAND is empty for the page of the program itself.
set -eu
page=$1 awk=$2 version=$3 command=$4
shift 4
mkdir -p "$(dirname "$page")"
help=$("$@" ${command:+"$command"} --help)
printf '%s\n' "$help" | "$awk" -v command="$command" -v version="$version" -f "$(dirname "$0")/man-page.awk" >"$page.part"
mv "$page.part" "$page"
