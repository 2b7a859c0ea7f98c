"""The file of parquet.ts, and how long pyarrow takes: python3 bench/cpu/parquet.py PATH."""

import sys
import time

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

path, rows = sys.argv[1], 10_000_000
random = np.random.default_rng(1)
minutes = np.arange(rows, dtype="int64") * 60_000_000 + 1_500_000_000_000_000
table = pa.table(
    {
        "time": pa.array(minutes, pa.timestamp("us", "UTC")),
        "load": random.normal(size=rows),
        "temperature": np.round(random.normal(15, 8, size=rows), 1),
        "count": random.poisson(1000, size=rows).astype("int64"),
    }
)
pq.write_table(table, path)


def read():
    begun = time.perf_counter(), time.process_time()
    columns = pq.read_table(path, columns=["load", "temperature"], use_threads=False)
    np.column_stack([column.to_numpy() for column in columns.columns])
    return time.perf_counter() - begun[0], time.process_time() - begun[1]


times = [min(each) for each in zip(*(read() for _ in range(5)))]
print(f"pyarrow {pa.__version__}, one thread, into a matrix: {times[0]:.2f} s, {times[1]:.2f} s of the processor")
