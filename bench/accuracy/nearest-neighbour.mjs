// 1-nearest-neighbour with dynamic time warping on the archive's own splits: prints the published
// figures beside ours again. Usage:
//   node bench/accuracy/nearest-neighbour.mjs
// Windows are those that the archives' authors learned on the training cases (UCR archive summary:
// 0 for GunPoint and ItalyPowerDemand, where it is the Euclidean distance); Japanese Vowels, with
// channels warped together ("dependent"), has none. Series are taken as the archive stores them.
import { readUeaFolder } from "spillway/model";

const folder = `${process.env.SPILLWAY_DATA ?? "../shared/data"}/uea`;
const windows = { JapaneseVowels: Infinity, GunPoint: 0, ItalyPowerDemand: 0 };

/**
 * Sum of squared differences along the best warping path within the window (Sakoe and Chiba 1978).
 */
function distance(a, b, window) {
  const reach = Math.max(window, Math.abs(a.rows - b.rows));
  let before = new Float64Array(b.rows + 1).fill(Infinity);
  let here = new Float64Array(b.rows + 1);
  before[0] = 0;
  for (let i = 1; i <= a.rows; i++) {
    here.fill(Infinity);
    for (let j = Math.max(1, i - reach); j <= Math.min(b.rows, i + reach); j++) {
      let sum = 0;
      for (let c = 0; c < a.cols; c++) sum += (a.at(i - 1, c) - b.at(j - 1, c)) ** 2;
      here[j] = sum + Math.min(before[j], here[j - 1], before[j - 1]);
    }
    [before, here] = [here, before];
  }
  return before[b.rows];
}

for (const [name, window] of Object.entries(windows)) {
  const { train, test } = await readUeaFolder(folder, name);
  let right = 0;
  test.sequences.forEach((sequence, i) => {
    const distances = train.sequences.map((other) => distance(sequence, other, window));
    if (train.labels[distances.indexOf(Math.min(...distances))] === test.labels[i]) right++;
  });
  console.log(`${name}: 1-NN DTW ${((100 * right) / test.labels.length).toFixed(1)} % of ${test.labels.length} test cases`);
}
