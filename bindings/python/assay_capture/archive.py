"""NumPy archives whose bytes depend on the arrays alone: sorted names, a fixed date, little-endian, C order."""
import io
import zipfile

import numpy as np

_DATE = (1980, 1, 1, 0, 0, 0)


def array_bytes(array):
    """The .npy file (version 1.0) of an array; no pickled objects."""
    array = np.asarray(array)
    if array.dtype.hasobject:
        raise TypeError("arrays of Python objects cannot be stored; give numbers, booleans or fixed-length strings")
    if array.dtype.byteorder == ">" or (array.dtype.byteorder == "=" and not np.little_endian):
        array = array.astype(array.dtype.newbyteorder("<"))
    buffer = io.BytesIO()
    # ascontiguousarray turns a scalar into one element, so scalars are written as they are.
    contiguous = array if array.ndim == 0 else np.ascontiguousarray(array)
    np.lib.format.write_array(buffer, contiguous, version=(1, 0), allow_pickle=False)
    return buffer.getvalue()


def archive_bytes(arrays):
    """The .npz file of a mapping from name to array."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name in sorted(arrays):
            entry = zipfile.ZipInfo(name + ".npy", _DATE)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, array_bytes(arrays[name]))
    return buffer.getvalue()
