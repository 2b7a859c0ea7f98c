// Information by nearest neighbours: estimates of Gaussians beside their closed forms, false alarms
// of independent series, and times. Needs a build.
//   node bench/accuracy/nearest-neighbours.mjs
import { activeInformationStorage, nearestNeighbourInformation, nearestNeighbourTransferEntropy } from "spillway/analysis";
import { RandomStream, seedKeys } from "spillway/numerics";

const draws = new RandomStream(seedKeys("nearest neighbours").weights, 0);
let row = 0;
const normals = (n) => {
  row++;
  return Float64Array.from({ length: n }, (_, i) => draws.normal(row, i));
};
/** x(t) = a x(t-1) + e, y(t) = b y(t-1) + c x(t-1) + f, after 500 steps. */
function coupled(n, a, b, c) {
  const [x, y] = [normals(n + 500), normals(n + 500)];
  for (let t = 1; t < n + 500; t++) {
    x[t] += a * x[t - 1];
    y[t] += b * y[t - 1] + c * x[t - 1];
  }
  return [x.subarray(500), y.subarray(500)];
}
const shown = (values) => {
  const mean = values.reduce((a, b) => a + b, 0) / values.length;
  const sd = Math.sqrt(values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (values.length - 1));
  return `${mean.toFixed(4)} (${sd.toFixed(4)})`;
};

console.log("mean (standard deviation of one) of 20 series, n = 2000, k = 3, in nats");
for (const r of [0, 0.3, 0.6, 0.9, 0.99]) {
  const found = [1, 2].map((algorithm) =>
    Array.from({ length: 20 }, () => {
      const [x, noise] = [normals(2000), normals(2000)];
      const y = x.map((value, i) => r * value + Math.sqrt(1 - r * r) * noise[i]);
      return nearestNeighbourInformation(x, y, { algorithm }).nats;
    }),
  );
  console.log(`  r = ${r}: exact ${(-0.5 * Math.log(1 - r * r)).toFixed(4)}, algorithm 1 ${shown(found[0])}, 2 ${shown(found[1])}`);
}
for (const [a, b, c, ...exact] of [
  [0.5, 0.5, 0.6, 0.18139, 0.25634, 0.14384],
  [0.3, 0.9, 0.3, 0.04703, 0.86271, 0.04716],
  [0.9, 0.3, 0.5, 0.23115, 0.41132, 0.83037],
]) {
  const series = Array.from({ length: 20 }, () => coupled(2000, a, b, c));
  const te = shown(series.map(([x, y]) => nearestNeighbourTransferEntropy(x, y).nats));
  const back = shown(series.map(([x, y]) => nearestNeighbourTransferEntropy(y, x).nats));
  const [ofY, ofX] = [1, 0].map((i) => shown(series.map((pair) => activeInformationStorage(pair[i]).nats)));
  console.log(
    `  a=${a} b=${b} c=${c}: x->y ${te} exact ${exact[0]}; y->x ${back} exact 0; storage y ${ofY} exact ${exact[1]}, x ${ofX} exact ${exact[2]}`,
  );
}

console.log("independent pairs, n = 300, 99 surrogates, 400 a row: share with p <= .05");
for (const [name, a, b] of [
  ["white", 0, 0],
  ["AR(1) .5 and .5", 0.5, 0.5],
  ["AR(1) .9 and .9", 0.9, 0.9],
  ["AR(1) .3 and .95", 0.3, 0.95],
]) {
  const alarms = [nearestNeighbourInformation, nearestNeighbourTransferEntropy].map((measure) => {
    let count = 0;
    for (let i = 0; i < 400; i++) {
      const [x, y] = coupled(300, a, b, 0);
      if (measure(x, y, { surrogates: 99, seed: i }).pValue <= 0.05) count++;
    }
    return `${((100 * count) / 400).toFixed(1)} %`;
  });
  console.log(`  ${name}: information ${alarms[0]}, transfer ${alarms[1]}`);
}

console.log("processor time of one transfer entropy, k = 3");
for (const n of [1000, 10_000, 100_000]) {
  const [x, y] = coupled(n, 0.5, 0.5, 0.6);
  nearestNeighbourTransferEntropy(x, y);
  const before = process.cpuUsage();
  nearestNeighbourTransferEntropy(x, y);
  const { user, system } = process.cpuUsage(before);
  console.log(`  n = ${n}: ${((user + system) / 1e6).toFixed(3)} s`);
}
const [x, y] = coupled(100_000, 0.5, 0.5, 0.6);
const began = performance.now();
const { pValue } = nearestNeighbourTransferEntropy(x, y, { surrogates: 100 });
console.log(`  n = 100000 with 100 surrogates: ${((performance.now() - began) / 1000).toFixed(1)} s, p = ${pValue.toFixed(4)}`);
