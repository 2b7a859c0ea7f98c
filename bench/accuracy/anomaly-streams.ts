// Streams for detectors of anomalies: clean ones, one change at row 3000, and anomalies put into
// stretches of NAB outside its windows.
import { RandomStream, seedKeys } from "../../packages/numerics/src/index.js";
import type { NabSeries } from "./nab.js";

/** Random numbers of a seed, one after the other. */
export class Draws {
  readonly #stream: RandomStream;
  #at = 0;
  constructor(seed: string) {
    this.#stream = new RandomStream(seedKeys(seed).weights, 11);
  }
  uniform = (): number => this.#stream.uniform(this.#at++, 0);
  normal = (): number => this.#stream.normal(this.#at++, 0);
  exponential = (): number => -Math.log(1 - this.uniform());
  laplace = (): number => (this.uniform() < 0.5 ? -1 : 1) * this.exponential();
  cauchy = (): number => Math.tan(Math.PI * (this.uniform() - 0.5));
  gamma2 = (): number => this.exponential() + this.exponential();
  t3 = (): number => this.normal() / Math.sqrt((this.normal() ** 2 + this.normal() ** 2 + this.normal() ** 2) / 3);
  poisson(mean: number): number {
    let [k, product] = [-1, 1];
    for (const least = Math.exp(-mean); product > least; k++) product *= this.uniform();
    return k;
  }
}

const turn = 2 * Math.PI;
const cycle = (t: number) => Math.sin((turn * t) / 288) + 0.4 * Math.sin((2 * turn * t) / 288 + 1);

/** A value that moves on with each call. */
function running(step: (x: number) => number, start = 0): () => number {
  let x = start;
  return () => {
    x = step(x);
    return x;
  };
}

/** 28 kinds of clean streams, by their names. */
export function cleanStreams(seed: string, length = 20_000): Map<string, Float64Array> {
  const of = (make: (d: Draws) => (t: number, x: Float64Array) => number) => (name: string) => {
    const next = make(new Draws(`${seed} ${name}`));
    const x = new Float64Array(length);
    for (let t = 0; t < length; t++) x[t] = next(t, x);
    return [name, x] as const;
  };
  const ar = (phi: number, draw: (d: Draws) => number) => of((d) => (t, x) => phi * (x[t - 1] ?? 0) + draw(d));
  const plain = (draw: (d: Draws, t: number) => number) => of((d) => (t) => draw(d, t));
  const normal = (d: Draws) => d.normal();
  const kinds = {
    "white normal": plain(normal),
    "AR .9": ar(0.9, normal),
    "AR .99": ar(0.99, normal),
    "random walk": ar(1, normal),
    "AR -.5, t3": ar(-0.5, (d) => d.t3()),
    "white t3": plain((d) => d.t3()),
    "AR .9, t3": ar(0.9, (d) => d.t3()),
    "white Cauchy": plain((d) => d.cauchy()),
    "log-normal": plain((d) => Math.exp(d.normal())),
    exponential: plain((d) => d.exponential()),
    "season + noise": plain((d, t) => cycle(t) + 0.2 * d.normal()),
    "season + week + AR": of((d) => {
      const rest = running((a) => 0.7 * a + d.normal());
      return (t) => cycle(t) + 0.6 * Math.sin((turn * t) / 2016) + 0.3 * rest();
    }),
    "season, noise by hour": plain((d, t) => cycle(t) + 0.2 * d.normal() * Math.exp(1.2 * Math.sin((turn * t) / 288 + 2))),
    "counts by hour": plain((d, t) => d.poisson(Math.exp(2 + 1.2 * cycle(t)))),
    "trend + season": plain((d, t) => cycle(t) + 0.3 * d.normal() + t * 0.0005),
    "drifting level": of((d) => {
      const level = running((x) => x + 0.01 * d.normal());
      return () => level() + 0.3 * d.normal();
    }),
    "slow variance": plain((d, t) => d.normal() * Math.exp(Math.sin((turn * t) / 9000))),
    "growing season": plain((d, t) => cycle(t) * (1 + t / 5000) + 0.2 * d.normal()),
    GARCH: of((d) => {
      let variance = 1;
      return (t, x) => {
        variance = 0.05 + 0.1 * (x[t - 1] ?? 0) ** 2 + 0.85 * variance;
        return Math.sqrt(variance) * d.normal();
      };
    }),
    "rounded AR": of((d) => {
      const a = running((x) => 0.9 * x + d.normal());
      return () => Math.round(a() / 2);
    }),
    "AR(2) cycle": of((d) => (t, x) => 1.8 * Math.cos(turn / 23) * 0.97 * (x[t - 1] ?? 0) - 0.94 * (x[t - 2] ?? 0) + d.normal()),
    Laplace: plain((d) => d.laplace()),
    "season 97, gamma": plain((d, t) => (2 + Math.sin((turn * t) / 97)) * d.gamma2()),
    "two regimes": of((d) => {
      let late = false;
      return (t, x) => {
        if (d.uniform() < 0.002) late = !late;
        return (late ? 0.95 : 0.3) * (x[t - 1] ?? 0) + (late ? 0.3 : 1) * d.normal();
      };
    }),
    "logistic map + noise": of((d) => {
      const z = running((x) => 3.9 * x * (1 - x), 0.3);
      return () => z() + 0.01 * d.normal();
    }),
    weekdays: plain((d, t) => (1 - (Math.floor(t / 288) % 7 >= 5 ? 0.6 : 0)) * (1.5 + Math.sin((turn * t) / 288)) + 0.15 * d.normal()),
    "zeros with bursts": plain((d) => (d.uniform() < 0.05 ? d.exponential() : 0)),
    "1 % spikes": of((d) => {
      const last = [0, 0, 0, 0, 0];
      return () => {
        last.shift();
        last.push(d.normal());
        return last.reduce((sum, one) => sum + one, 0) / 5 + (d.uniform() < 0.01 ? 8 * d.normal() : 0);
      };
    }),
  };
  return new Map(Object.entries(kinds).map(([name, make]) => make(name)));
}

/** A sine of 288 rows with noise of .2, of 6000 rows, with a change at row 3000. */
export function changes(seed: string): Map<string, Float64Array> {
  const d = new Draws(seed);
  const [length, at] = [6000, 3000];
  const wave = (t: number, period = 288) => Math.sin((turn * t) / period);
  const base = Float64Array.from({ length }, (_, t) => wave(t) + 0.2 * d.normal());
  const edited = (change: (value: number, t: number) => number, until = length) =>
    base.map((value, t) => (t >= at && t < until ? change(value, t) : value));
  return new Map([
    ["nothing", base],
    ["one spike of 3", edited((x) => x + 3, at + 1)],
    ["one spike of 1", edited((x) => x + 1, at + 1)],
    ["level shift by 2, kept", edited((x) => x + 2)],
    ["noise x 3, kept", edited((_, t) => wave(t) + 0.6 * d.normal())],
    ["slow drift, .001 a row", edited((x, t) => x + (t - at) * 0.001)],
    ["a day without its cycle", edited(() => 0.2 * d.normal(), at + 288)],
    ["period halves", edited((_, t) => wave(t, 144) + 0.2 * d.normal())],
    ["stuck for 300 rows", edited(() => base[at]!, at + 300)],
    ["300 rows missing", edited(() => Number.NaN, at + 300)],
    ["20 % missing at random", base.map((x) => (d.uniform() < 0.2 ? Number.NaN : x))],
    ["constant 0, spike, noise from 4000", base.map((_, t) => (t === at ? 1 : t >= 4000 ? d.normal() : 0))],
    ["values 1e12 +- 1e9, spike", edited((x) => x + 3, at + 1).map((x) => x * 1e9 + 1e12)],
    ["values of 1e-9, spike", edited((x) => x + 3, at + 1).map((x) => x * 1e-9)],
  ]);
}

export const kinds = ["spike", "burst", "level", "noisier", "quieter", "faster", "no cycle", "stuck", "drift", "reversed"] as const;

/** Anomalies of ten kinds in the longest stretch of each series outside its windows. */
export function injected(corpus: readonly NabSeries[], seed: string) {
  const d = new Draws(seed);
  const out: { kind: (typeof kinds)[number]; values: Float64Array; times: readonly number[]; first: number; last: number }[] = [];
  for (const { values, times, windows } of corpus) {
    const edges = [0, ...windows.flatMap(([a, b]) => [a, b + 1]), values.length];
    const stretches = edges.flatMap((from, i) => (i % 2 === 0 ? [[from, edges[i + 1]!] as const] : []));
    const [from, to] = stretches.reduce((best, one) => (one[1] - one[0] > best[1] - best[0] ? one : best));
    const start = Math.max(from, to - 4000);
    const length = to - start;
    const stretch = values.slice(start, to);
    if (length < 1200 || deviation(stretch) === 0) continue;
    for (const kind of kinds) {
      const y = stretch.slice();
      const s = Math.floor(length * (0.5 + 0.3 * d.uniform()));
      const before = y.slice(Math.max(0, s - 2000), s);
      const sd = deviation(before);
      const steps = Array.from(before.slice(1), (x, t) => Math.abs(x - before[t]!)).sort((a, b) => a - b);
      const usual = steps[Math.floor(steps.length / 2)]! + 1e-9 * sd;
      const sign = d.uniform() < 0.5 ? 1 : -1;
      const set = (count: number, change: (x: number, i: number) => number) => {
        for (let i = 0; i < Math.min(count, length - s); i++) y[s + i] = change(stretch[s + i]!, i);
        return count;
      };
      const around = (i: number) => {
        let sum = 0;
        for (let k = -5; k <= 5; k++) sum += stretch[Math.min(length - 1, Math.max(0, s + i + k))]!;
        return sum / 11;
      };
      const mean = before.reduce((sum, x) => sum + x, 0) / before.length;
      const count = {
        spike: () => set(1, (x) => x + sign * 4 * sd),
        burst: () => set(10, (x) => x + sign * 3 * sd),
        level: () => set(300, (x) => x + sign * 2 * sd),
        noisier: () => set(200, (x, i) => around(i) + (x - around(i)) * 4),
        quieter: () => set(200, (x, i) => around(i) + (x - around(i)) * 0.1),
        faster: () => set(200, (_, i) => stretch[s - 400 + 2 * i]!),
        "no cycle": () => set(288, () => mean + d.normal() * usual),
        stuck: () => set(100, () => stretch[s]!),
        drift: () => set(400, (x, i) => x + (sign * 3 * sd * i) / 399),
        reversed: () => set(200, (_, i) => stretch[s - 1 - i]!),
      }[kind]();
      out.push({ kind, values: y, times: times.slice(start, to), first: s, last: Math.min(length - 1, s + count + 50) });
    }
  }
  return out;
}

function deviation(x: Float64Array): number {
  const mean = x.reduce((sum, one) => sum + one, 0) / x.length;
  return Math.sqrt(x.reduce((sum, one) => sum + (one - mean) ** 2, 0) / x.length);
}
