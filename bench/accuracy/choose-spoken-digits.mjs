// Chooses the settings of the spoken-digit reservoirs by five-fold cross-validation on the training
// recordings (index 5 to 29) alone; recordings 0 to 4 are never read. Usage: node
// bench/accuracy/choose-spoken-digits.mjs liquid | rate Representation last+mean, features as
// z-scores, one seed that is none of those scored. The winner is written by hand into
// spoken-digits.json, which is committed before spoken-digits.mjs looks at the test recordings.
import { Matrix, ReservoirComputer, ridge } from "spillway";
import { readWavFolder } from "spillway/model";
import { binSpikes, cochleaEncode, cochleagram } from "spillway/spikes";

const size = 600;
const channels = 40;
const lambdas = [10, 30, 100];
const folds = 5;
const seed = "tune";
const recurrent = (scale) => ({ weight: { ee: 10 * scale, ei: 20 * scale, ie: 20 * scale, ii: 20 * scale } });
const grids = {
  liquid: { stateTimeConstant: [100, 200, 400], weight: [10, 15], recurrent: [0, 0.25, 0.5] },
  rate: { leakRate: [0.05, 0.1, 0.3], inputScaling: [0.1, 0.3], spectralRadius: [0.9] },
};
const reservoirs = {
  liquid: ({ stateTimeConstant, weight, recurrent: scale }) => ({
    kind: "spiking",
    stateTimeConstant,
    synapses: recurrent(scale),
    input: { weight, connectivity: 0.1 },
  }),
  rate: (fields) => fields,
};

const kind = process.argv[2];
const grid = grids[kind];
if (!grid) throw new Error(`give one of ${Object.keys(grids).join(", ")}`);
const folder = `${process.env.SPILLWAY_DATA ?? "../shared/data"}/fsdd`;
const { sequences, labels, sources, sampleRate } = await readWavFolder(folder, { keep: ({ index }) => Number(index) >= 5 });
const encoder = { sampleRate, channels };
const inputs = sequences.map((sound) =>
  kind === "liquid" ? binSpikes(cochleaEncode(sound, { ...encoder, maxRateHz: 200 }), { binMs: 1 }) : cochleagram(sound, encoder),
);
const digits = labels.map(Number);
// Recordings of one digit and speaker are spread over the folds by their index.
const foldOf = sources.map((source) => Number(source.match(/_(\d+)\.wav$/)[1]) % folds);

/** Last state and mean of the states, B x 2N, as z-scores. */
async function features(reservoir) {
  await using computer = await ReservoirComputer.create({ ...reservoir, size, inputSize: channels, seed }, { engine: "cpu" });
  const out = Matrix.zeros(inputs.length, 2 * size);
  for (const [b, sequence] of inputs.entries()) {
    const [states] = await computer.batch([sequence]);
    const row = out.row(b);
    row.set(states.row(states.rows - 1));
    for (let t = 0; t < states.rows; t++) for (let r = 0; r < size; r++) row[size + r] += states.data[t * size + r] / states.rows;
  }
  for (let f = 0; f < out.cols; f++) {
    const column = out.column(f);
    const mean = column.reduce((sum, value) => sum + value, 0) / out.rows;
    const deviation = Math.sqrt(column.reduce((sum, value) => sum + (value - mean) ** 2, 0) / out.rows) || 1;
    for (let b = 0; b < out.rows; b++) out.data[b * out.cols + f] = (out.data[b * out.cols + f] - mean) / deviation;
  }
  return out;
}

function rowsWhere(matrix, wanted) {
  const indices = foldOf.flatMap((fold, b) => (wanted(fold) ? [b] : []));
  const out = Matrix.zeros(indices.length, matrix.cols);
  indices.forEach((b, row) => {
    out.row(row).set(matrix.row(b));
  });
  return { indices, out };
}

const oneHot = Matrix.zeros(inputs.length, 10);
digits.forEach((digit, b) => {
  oneHot.data[b * 10 + digit] = 1;
});
const largest = (row) => row.reduce((best, value, k) => (value > row[best] ? k : best), 0);

function* combinations(fields, chosen = {}) {
  const [first, ...rest] = fields;
  if (!first) yield chosen;
  else for (const value of grid[first]) yield* combinations(rest, { ...chosen, [first]: value });
}

const results = [];
for (const fields of combinations(Object.keys(grid))) {
  const all = await features(reservoirs[kind](fields));
  for (const lambda of lambdas) {
    let errors = 0;
    for (let fold = 0; fold < folds; fold++) {
      const train = rowsWhere(all, (other) => other !== fold).out;
      const readout = ridge({ lambda, solver: "auto" }).fit(train, rowsWhere(oneHot, (other) => other !== fold).out);
      const held = rowsWhere(all, (other) => other === fold);
      const scores = readout.predict(held.out);
      held.indices.forEach((b, row) => {
        if (largest(scores.row(row)) !== digits[b]) errors++;
      });
    }
    results.push({ errors, lambda, fields });
    console.log(`${errors} errors of ${inputs.length}: lambda ${lambda}, ${JSON.stringify(fields)}`);
  }
}
results.sort((a, b) => a.errors - b.errors);
console.log(`fewest: ${JSON.stringify(results[0])}`);
