// Lorenz-63 by a Taylor series of order 52 in integers of 220 bits after the point, as
// double-doubles: data whose error is below that of any model of it.

const bits = 220n;
const order = 52;
const one = 1n << bits;

/** One step of length h (a fraction, [numerator, denominator]) of sigma 10, rho 28, beta 8/3. */
function step([x0, y0, z0], [numerator, denominator]) {
  const [x, y, z] = [[x0], [y0], [z0]];
  for (let n = 0; n < order; n++) {
    let xz = 0n;
    let xy = 0n;
    for (let i = 0; i <= n; i++) {
      xz += x[i] * z[n - i];
      xy += x[i] * y[n - i];
    }
    const scale = (value) => (value * numerator) / (denominator * BigInt(n + 1));
    x.push(scale(10n * (y[n] - x[n])));
    y.push(scale(28n * x[n] - (xz >> bits) - y[n]));
    z.push(scale((xy >> bits) - (8n * z[n]) / 3n));
  }
  return [x, y, z].map((series) => series.reduce((sum, value) => sum + value, 0n));
}

/** A number of 220 bits as high + low. */
function split(value) {
  const high = Number(value) / 2 ** 220;
  const low = Number(value - BigInt(high * 2 ** 220)) / 2 ** 220;
  return [high, low];
}

/** u = (x / 25, y / 30, (z - 25) / 25). */
const scaled = ([x, y, z]) => [x / 25n, y / 30n, (z - 25n * one) / 25n];

/** A start on the attractor; another seed is another trajectory. */
export function start(seed, h) {
  let state = [one + BigInt(seed) * (one / 100n), one, 20n * one];
  for (let t = 0; t < 20 / (Number(h[0]) / Number(h[1])); t++) state = step(state, h);
  return state;
}

/** `count` rows, one every `every` steps, with the state after the last. */
export function rows(state, h, count, every = 1) {
  const out = [];
  let now = state;
  for (let r = 0; r < count; r++) {
    out.push(scaled(now).map(split));
    for (let k = 0; k < every; k++) now = step(now, h);
  }
  return { rows: out, state: now };
}

/** Pairs of rows one step apart, `count` of them `apart` steps from one another. */
export function pairs(state, h, count, apart) {
  const out = [];
  let now = state;
  for (let r = 0; r < count; r++) {
    const after = step(now, h);
    out.push([scaled(now).map(split), scaled(after).map(split)]);
    now = after;
    for (let k = 1; k < apart; k++) now = step(now, h);
  }
  return { pairs: out, state: now };
}

/** Rows of [high, low] as the two matrices that NVAR takes. */
export const doubleDouble = (list) => ({
  high: list.map((row) => row.map(([high]) => high)),
  low: list.map((row) => row.map(([, low]) => low)),
});
