"""Prints the HDF5 templates of src/spikes/pattern/hdf5-templates.ts: zlib, base64. Takes h5py and NumPy."""
import base64
import io
import zlib

import h5py
import numpy

for times in ("float16", "float32"):
    buffer = io.BytesIO()
    with h5py.File(buffer, "w", libver=("v108", "v108")) as file:
        for name, kind in (("times", times), ("units", "uint16")):
            dtype = h5py.vlen_dtype(numpy.dtype(kind))
            file.create_dataset(f"spikes/{name}", (0,), maxshape=(None,), chunks=(64,), dtype=dtype)
    print(times, base64.b64encode(zlib.compress(buffer.getvalue(), 9)).decode())
