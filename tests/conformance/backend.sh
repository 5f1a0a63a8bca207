#!/bin/sh
# ONNX's backend tests: backend.sh RUNNER EXPECTED FOLDER_OR_ARCHIVE WORK_FOLDER SOURCE_FOLDER. An archive is unpacked into
# the work folder first; a relative path is one of the shared test data. Fails unless every test named in EXPECTED passes; exits with 77, saying why, when the tests are not there.
# To take in newly passing tests: RUNNER FOLDER --write EXPECTED.
set -u
runner=$1 expected=$2 data=$3 work=$4 source=$5
case $data in
/*) ;;
*) data=${ASSAY_SHARED:-$source/../shared}/$data ;;
esac
if [ ! -r "$data" ]; then
  echo "skipped: there is no $data"
  exit 77
fi
if [ -f "$data" ]; then
  if [ ! -f "$work/unpacked" ]; then
    rm -rf "$work" && mkdir -p "$work" && tar -xf "$data" -C "$work" && : >"$work/unpacked" || exit 1
  fi
  data=$work
fi
exec "$runner" "$data" --expected "$expected" --quiet
