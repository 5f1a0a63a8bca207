#!/bin/sh
# Installs the Debian or Ubuntu packages that are missing; needs no root when all are there.
# The one list of them: a line is the package, then the first of the levels that needs it.
#   sh scripts/install-deps.sh [build | test | ci]     (test when none is given)
set -eu

packages='
cmake                 build   configures the build (3.22 or newer)
ninja-build           build   runs the build
gcc                   build   the compiler (11 or newer)
libc6-dev             build   the C library
pkg-config            build   finds the libraries below
protobuf-c-compiler   build   makes the reader of the ONNX schema
libprotobuf-c-dev     build   reads ONNX
libyaml-dev           build   reads YAML
libjansson-dev        build   writes and reads JSON
libzip-dev            build   reads .npz archives
libsodium-dev         build   hashes, and later signs
libarchive-dev        build   opens kinfer archives
libhdf5-dev           build   reads HDF5 episodes
libcmocka-dev         test    unit tests
bats                  test    tests of the program
python3               test    tests of the capture package
python3-numpy         test    tests of the capture package
python3-onnx          test    the models, for the independent answers of imported policies
python3-yaml          test    their configuration files
python3-pip           test    installs the capture package, as its users do
python3-setuptools    test    builds it
python3-venv          test    the wheels that read datasets
python3-jsonschema    test    holds verdict.json against its schema
xz-utils              test    unpacks the tests of ONNX itself, where they are at hand
libonnx-testdata      ci      the tests of an older ONNX
python3-torch         ci      the source framework: capture, and the export of ACT
clang                 ci      the second compiler, and fuzzing
libclang-rt-dev       ci      its sanitizers and libFuzzer
clang-format          ci      the form of the source
'

case "${1:-test}" in
build) levels='build' ;;
test) levels='build test' ;;
ci) levels='build test ci' ;;
*)
  echo "usage: sh scripts/install-deps.sh [build | test | ci]" >&2
  exit 2
  ;;
esac

wanted=$(printf '%s\n' "$packages" | while read -r name level _; do
  for l in $levels; do
    if [ "$l" = "$level" ]; then printf '%s ' "$name"; fi
  done
done)
if ! command -v dpkg-query >/dev/null 2>&1; then
  echo "install-deps: this is neither Debian nor Ubuntu, so nothing was installed. What is needed: $wanted" >&2
  exit 1
fi

missing=
for name in $wanted; do
  case "$(dpkg-query -W -f='${Status}' "$name" 2>/dev/null || true)" in
  'install ok installed') ;;
  *) missing="$missing $name" ;;
  esac
done
if [ -z "$missing" ]; then
  exit 0
fi

as_root=
if [ "$(id -u)" -ne 0 ]; then
  if ! command -v sudo >/dev/null 2>&1; then
    echo "install-deps: these packages are missing:$missing" >&2
    echo "install-deps: you are not root and there is no sudo; as root, run: apt-get install$missing" >&2
    exit 1
  fi
  as_root='sudo'
fi
echo "install-deps: installing$missing"
# An outdated list of packages is no reason to stop: the installation will say what it lacks.
$as_root apt-get update -q || echo "install-deps: the list of packages could not be renewed; trying with the one at hand" >&2
# shellcheck disable=SC2086
$as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends $missing </dev/null
