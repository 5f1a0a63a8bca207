#!/bin/sh
# Exports the ACT policy (266 MB) with PyTorch and runs it by act_runner: act.sh RUNNER WORK_FOLDER SOURCE_FOLDER [all].
# With `all`, so are the other exports: on one case in fp32 each they must load, run and agree.
# For the frozen batch norm, act_reference.py says why fp64 has a reference of its own. Exits with 77, saying why, where the exporter or PyTorch is not to be had.
set -u
runner=$1 work=$2 source=$3
act=${ASSAY_SHARED:-$source/../shared}/act
if [ ! -r "$act/export_act.py" ]; then
  echo "skipped: there is no $act/export_act.py"
  exit 77
fi
python=
for candidate in /usr/bin/python3 python3; do
  if "$candidate" -c 'import torch, numpy' 2>/dev/null; then
    python=$candidate
    break
  fi
done
if [ -z "$python" ]; then
  echo "skipped: PyTorch is not installed (python3-torch)"
  exit 77
fi

here=$(dirname "$0")
failed=0
# variant FOLDER CASES PRECISIONS OPTIONS...: exports, runs, removes.
variant() {
  name=$1 cases=$2 precisions=$3
  shift 3
  folder=$work/$name
  rm -rf "$folder"
  mkdir -p "$folder"
  echo "== $name"
  if ! "$python" "$act/export_act.py" "$folder" --cases "$cases" "$@" >"$work/$name.log" 2>&1; then
    tail -n 5 "$work/$name.log"
    echo "the export of $name failed"
    failed=1
  else
    case $name in
    frozen*) "$python" "$here/act_reference.py" "$act" "$folder/cases" || failed=1 ;;
    esac
    for precision in $precisions; do
      "$runner" "$folder"/act_opset*.onnx "$folder/cases" "$precision" || failed=1
    done
  fi
  rm -rf "$folder"
}

variant frozen17 4 'fp32 fp64' --opset 17 --attention manual
[ "${4:-}" = all ] || exit $failed
variant frozen13 1 fp32 --opset 13 --attention manual
variant mha17 1 fp32 --opset 17 --attention mha
variant computed17 1 fp32 --opset 17 --attention manual --position computed
variant folded17 1 'fp32 fp64' --opset 17 --attention manual --batchnorm folded
exit $failed
