// Weights that another program made, as NumPy writes them (.npy) or as safetensors: used as they
// are, not scaled and not redrawn. In Python: np.save("W.npy", W), or
// safetensors.numpy.save_file({"W": W, "Win": Win}, "weights.safetensors").
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Matrix, mackeyGlass, nrmse, ReservoirComputer, ridge } from "spillway";
import { npyToMatrix, readNpy, readSafetensors, writeNpy, writeSafetensors } from "spillway/series";

const folder = await mkdtemp(join(tmpdir(), "weights-"));
const size = 200;
// Stands in for the other program: a ring of weight 0.9 and inputs of one size, with signs by the
// digits of an irrational number.
const made = Matrix.zeros(size, size);
for (let r = 0; r < size; r++) made.data[r * size + ((r + size - 1) % size)] = 0.9;
const signs = Matrix.zeros(size, 1);
for (let r = 0; r < size; r++) signs.data[r] = ((r + 1) * Math.SQRT2) % 1 < 0.5 ? 0.4 : -0.4;
await writeNpy(join(folder, "W.npy"), made);
await writeSafetensors(join(folder, "weights.safetensors"), { Win: { shape: [size, 1], data: signs.data, dtype: "F64" } });

const weights = npyToMatrix(await readNpy(join(folder, "W.npy")));
const { tensors } = await readSafetensors(join(folder, "weights.safetensors"));
const inputWeights = new Matrix(size, 1, tensors["Win"]!.data as Float64Array);
await using computer = await ReservoirComputer.create({ size, leakRate: 1, precision: "float64" }, { matrices: { weights, inputWeights } });

const series = mackeyGlass(3000, { tau: 17 });
const states = await computer.run(series.slice(0, 2999));
const readout = ridge({ lambda: 1e-8 }).fit(states.slice(0, 2000), series.slice(1, 2001), { washout: 100 });
console.log(
  `${size} neurons in a ring, weights from a file, one step ahead: NRMSE ${nrmse(series.slice(2001, 3000), readout.predict(states.slice(2000))).toExponential(1)}`,
);
await rm(folder, { recursive: true });
