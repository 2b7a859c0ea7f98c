// Time-series classification by the default pipeline on 31 sets of the UCR and UEA archives: own
// split, nothing set but the seed, 0 to 4. Beside it 1-NN with Euclidean distance, measured here on
// the series as stored, and figures that are read, not measured (uea-published.json names their
// source). Usage:
//   node bench/accuracy/uea.mjs [NAME ...] [--write]
// SPILLWAY_DATA names the folder that holds uea/; names take some of the sets.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import os from "node:os";
import { Pipeline, readUeaFolder } from "spillway/model";
import "spillway";

const folder = `${process.env.SPILLWAY_DATA ?? "../shared/data"}/uea`;
if (!existsSync(folder)) throw new Error(`no data in ${folder}: set SPILLWAY_DATA to the folder that holds uea/`);
const { source, sets: published } = JSON.parse(readFileSync(new URL("uea-published.json", import.meta.url), "utf8"));
const named = process.argv.slice(2).filter((argument) => !argument.startsWith("--"));
const names = named.length > 0 ? named : Object.keys(published);
const seeds = [0, 1, 2, 3, 4];

const lines = [];
const print = (line) => {
  console.log(line);
  lines.push(line);
};
const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;
const median = (values) => values.toSorted((a, b) => a - b)[values.length >> 1];
const shown = (value) => (value === null || value === undefined ? "-" : value.toFixed(1));
const cpuSeconds = () => Object.values(process.cpuUsage()).reduce((sum, part) => sum + part, 0) / 1e6;

/** Accuracy by seed in percent, and CPU seconds of training and testing a seed. */
async function recipe({ train, test }) {
  const scores = [];
  const fits = [];
  const tests = [];
  for (const seed of seeds) {
    const begun = cpuSeconds();
    const pipeline = await new Pipeline({ reservoir: { seed } }).fit(train.sequences, train.labels);
    const trained = cpuSeconds();
    scores.push(100 * (await pipeline.score(test.sequences, test.labels)));
    fits.push(trained - begun);
    tests.push(cpuSeconds() - trained);
    await pipeline.dispose();
  }
  return { scores, fit: mean(fits), test: mean(tests) };
}

/** 1-NN with Euclidean distance in percent; undefined for cases of several lengths. */
function euclid({ train, test }) {
  const { length } = train.sequences[0].data;
  if ([...train.sequences, ...test.sequences].some(({ data }) => data.length !== length)) return undefined;
  const right = test.sequences.filter(({ data }, b) => {
    let [nearest, least] = [0, Infinity];
    train.sequences.forEach((other, k) => {
      let sum = 0;
      for (let i = 0; i < length && sum < least; i++) sum += (data[i] - other.data[i]) ** 2;
      if (sum < least) [nearest, least] = [k, sum];
    });
    return train.labels[nearest] === test.labels[b];
  });
  return (100 * right.length) / test.labels.length;
}

const rows = [];
print(
  "| set | cases | rows | channels, classes | default pipeline (seeds 0 to 4) | MiniROCKET, read | ROCKET, read | 1-NN DTW, read | 1-NN Euclid, measured | fit, test: CPU s |",
);
print("|---|---|---|---|---|---|---|---|---|---|");
for (const name of names) {
  const data = await readUeaFolder(folder, name);
  const lengths = [...data.train.sequences, ...data.test.sequences].map((one) => one.rows);
  const { scores, fit, test } = await recipe(data);
  const row = { name, scores, accuracy: mean(scores), fit, test, near: euclid(data), ...published[name] };
  rows.push(row);
  const [shortest, longest] = [lengths.reduce((a, b) => Math.min(a, b)), lengths.reduce((a, b) => Math.max(a, b))];
  print(
    `| ${name} | ${data.train.labels.length}/${data.test.labels.length} | ${shortest === longest ? shortest : `${shortest}-${longest}`} | ${data.channels}, ${data.classes.length} | **${shown(row.accuracy)}** (${shown(Math.min(...scores))}-${shown(Math.max(...scores))}) | ${shown(row.miniRocket)} | ${shown(row.rocket)} | ${shown(row.dtw)} | ${shown(row.near)} | ${fit.toFixed(2)}, ${test.toFixed(2)} |`,
  );
}

const against = rows.filter(({ miniRocket }) => typeof miniRocket === "number");
const bySeed = seeds.map((_, k) => mean(rows.map(({ scores }) => scores[k])));
const gap = (key) => {
  const both = rows.filter((row) => typeof row[key] === "number");
  const worst = both.reduce((a, b) => (b.accuracy - b[key] < a.accuracy - a[key] ? b : a));
  return { mean: mean(both.map((row) => row.accuracy - row[key])), worst, least: worst.accuracy - worst[key], count: both.length };
};
print("");
if (against.length > 0) {
  const [rocket, dtw, near] = [gap("miniRocket"), gap("dtw"), gap("near")];
  const of = (key) => shown(mean(against.map((row) => row[key])));
  print(
    `Mean of the ${against.length} sets with a MiniROCKET figure: ${of("accuracy")} %; MiniROCKET ${of("miniRocket")}, ROCKET ${of("rocket")}, 1-NN DTW ${of("dtw")}, 1-NN Euclid ${of("near")}.`,
  );
  const better = against.filter((row) => row.accuracy > row.miniRocket + 0.05).length;
  const worse = against.filter((row) => row.accuracy < row.miniRocket - 0.05).length;
  print(
    `Against MiniROCKET: ${rocket.mean.toFixed(2)} points; ${better} sets better, ${against.length - better - worse} equal, ${worse} worse; largest loss ${(-rocket.least).toFixed(1)} (${rocket.worst.name}).`,
  );
  print(
    `Against 1-NN DTW (${dtw.count} sets): ${dtw.mean.toFixed(2)} points. Against 1-NN Euclid (${near.count}): ${near.mean.toFixed(2)}; largest loss ${(-near.least).toFixed(1)} (${near.worst.name}).`,
  );
}
print(
  `Mean of all ${rows.length} sets: ${mean(bySeed).toFixed(2)} %; by seed ${bySeed.map((value) => value.toFixed(2)).join(", ")}, range ${(Math.max(...bySeed) - Math.min(...bySeed)).toFixed(2)}.`,
);
const seconds = rows.map(({ fit, test }) => fit + test);
print(`CPU seconds to fit and test a set once: median ${median(seconds).toFixed(2)}, most ${Math.max(...seconds).toFixed(2)}.`);

if (process.argv.includes("--write")) {
  const date = new Date().toISOString().slice(0, 10);
  const machine = `Node ${process.version}, ${os.cpus()[0]?.model.trim()}, ${os.cpus().length} threads`;
  const head = `Time-series classification by \`new Pipeline({ reservoir: { seed } })\`, ${date}, \`node bench/accuracy/uea.mjs\`, ${machine}, shared with other work.\n\nAccuracy in percent on the archives' own splits. Read figures: ${source}. 1-NN with Euclidean distance is measured here on the series as stored; "-" stands for a figure that there is not.`;
  writeFileSync(new URL(`../results/uea-${date}.md`, import.meta.url), `${head}\n\n${lines.join("\n")}\n`);
}
