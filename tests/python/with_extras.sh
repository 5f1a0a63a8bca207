#!/bin/sh
# Runs a script with the Python of the extras where they are installed, otherwise with the one given first.
#   with_extras.sh PYTHON FOLDER SCRIPT ARGUMENT...
python=$1
extras=${ASSAY_EXTRAS:-$2}
shift 2
if [ -x "$extras/bin/python3" ]; then
  python=$extras/bin/python3
fi
exec "$python" "$@"
