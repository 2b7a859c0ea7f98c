// Probabilities of the default pipeline on twelve archive sets, own splits, seed 0: log loss and
// expected calibration error (ten bins) on the test cases, calibrated and not. A lambda that is
// given calibrates nothing, so the second pipeline has the same readout without it. Usage:
//   node bench/accuracy/calibration.mjs      SPILLWAY_DATA names the folder that holds uea/
import "spillway";
import { Pipeline, readUeaFolder } from "spillway/model";

const folder = `${process.env.SPILLWAY_DATA ?? "../shared/data"}/uea`;
const names = [
  ...["GunPoint", "ECG200", "Ham", "Beef", "Lightning7", "SonyAIBORobotSurface1"],
  ...["MiddlePhalanxTW", "RacketSports", "JapaneseVowels", "Adiac", "FaceFour", "ItalyPowerDemand"],
];

/** Mean -log of the true class's probability, at least 1e-6, and expected calibration error. */
function scores(shares, truth) {
  const bins = Array.from({ length: 10 }, () => 0);
  let loss = 0;
  for (const [b, row] of shares.toArrays().entries()) {
    const most = Math.max(...row);
    loss -= Math.log(Math.max(1e-6, row[truth[b]]));
    bins[Math.min(9, Math.floor(10 * most))] += most - (row.indexOf(most) === truth[b] ? 1 : 0);
  }
  return [loss / truth.length, bins.reduce((sum, bin) => sum + Math.abs(bin), 0) / truth.length];
}

const found = [];
for (const name of names) {
  const { train, test } = await readUeaFolder(folder, name);
  const fitted = await new Pipeline({ reservoir: { seed: 0 } }).fit(train.sequences, train.labels);
  const { lambda } = fitted.classifier.readouts[0].training.details;
  const plain = await new Pipeline({ reservoir: { seed: 0 }, readout: { lambda } }).fit(train.sequences, train.labels);
  const truth = test.labels.map((label) => fitted.classes.indexOf(label));
  const row = [];
  for (const pipeline of [fitted, plain]) row.push(...scores(await pipeline.predictProba(test.sequences), truth));
  found.push(row);
  print(name, row);
  await fitted.dispose();
  await plain.dispose();
}
print(
  "mean",
  found[0].map((_, k) => found.reduce((sum, row) => sum + row[k], 0) / found.length),
);

function print(name, row) {
  const [loss, error, plainLoss, plainError] = row.map((value) => value.toFixed(3));
  console.log(`${name.padEnd(24)} calibrated: log loss ${loss}, error ${error}; cut at 0: ${plainLoss}, ${plainError}`);
}
