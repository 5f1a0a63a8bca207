#!/bin/sh
# Installs assay into an empty folder, moves that folder, and builds a program against it: through
# pkg-config and through CMake, with the shared and with the static library.
#   install_test.sh SOURCE_DIR BUILD_DIR COMPILER LIBDIR SANITIZERS
set -eu
source=$1 build=$2 compiler=$3 libdir=$4 sanitizers=$5
if [ -n "$sanitizers" ]; then
  echo "the installed library is not tested in a build with sanitizers"
  exit 77
fi
work=$build/scratch/install
rm -rf "$work"
mkdir -p "$work"
cmake --install "$build" --prefix "$work/first" >"$work/log"
mv "$work/first" "$work/usr" # nothing may remember where it was installed
prefix=$work/usr
lib=$prefix/$libdir

expect() {
  found=$1
  shift
  if [ "$found" != "$*" ]; then
    echo "expected: $*"
    echo "found:    $found"
    exit 1
  fi
}

for file in bin/assay include/assay/assay.h "$libdir/libassay.a" "$libdir/libassay.so" "$libdir/pkgconfig/assay.pc" \
  "$libdir/cmake/assay/assayConfig.cmake" share/man/man1/assay.1 share/man/man1/assay-version.1 \
  share/bash-completion/completions/assay; do
  if [ ! -f "$prefix/$file" ]; then
    echo "not installed: $file"
    exit 1
  fi
done

version=$("$prefix/bin/assay" --version | sed -n '1s/^assay //p')
export PKG_CONFIG_PATH="$lib/pkgconfig"
expect "$(pkg-config --modversion assay)" "$version"
says="assay $version: FILE_MISSING"

# shellcheck disable=SC2046
"$compiler" -Wall -Wextra -Werror "$source/tests/install/ten_lines.c" -o "$work/shared" $(pkg-config --cflags --libs assay)
expect "$(LD_LIBRARY_PATH=$lib "$work/shared" "$work/none.onnx")" "$says"

mkdir "$work/static-only" # the linker takes the shared library where both lie in one folder
ln -s "$lib/libassay.a" "$work/static-only/"
# shellcheck disable=SC2046
"$compiler" -Wall -Wextra -Werror "$source/tests/install/ten_lines.c" -o "$work/static" -L"$work/static-only" \
  $(pkg-config --static --cflags --libs assay)
expect "$(env -u LD_LIBRARY_PATH "$work/static" "$work/none.onnx")" "$says"

cmake -S "$source/tests/install" -B "$work/cmake" -G Ninja -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_C_COMPILER="$compiler" \
  >>"$work/log"
cmake --build "$work/cmake" >>"$work/log"
expect "$("$work/cmake/with_shared" "$work/none.onnx")" "$says"
expect "$("$work/cmake/with_static" "$work/none.onnx")" "$says"

# Only the public names are visible, and every header stands by itself.
hidden=$(nm -D --defined-only "$lib/libassay.so" | awk '{print $3}' | grep -v '^assay_' || true)
expect "shared library exports: $hidden" "shared library exports: "
hidden=$(nm -g --defined-only "$lib/libassay.a" | awk 'NF == 3 {print $3}' | grep -v '^assay_' || true)
expect "static library exports: $hidden" "static library exports: "
for header in "$prefix"/include/assay/*.h; do
  echo "#include <assay/$(basename "$header")>" >"$work/header.c"
  "$compiler" -std=c11 -Wall -Wextra -Wpedantic -Werror -fsyntax-only -I"$prefix/include" "$work/header.c"
done

# Completion knows the commands and their options.
if command -v bash >/dev/null 2>&1; then
  completed=$(PATH="$prefix/bin:$PATH" bash -c '
    . "$1/share/bash-completion/completions/assay"
    COMP_WORDS=(assay vers) COMP_CWORD=1 && _assay && echo "${COMPREPLY[*]}"
    COMP_WORDS=(assay version --js) COMP_CWORD=2 && _assay && echo "${COMPREPLY[*]}"' - "$prefix")
  expect "$completed" "version
--json"
fi
echo "installed, moved, and linked in four ways"
