// The direct member: windows that are scaled one by one, a reservoir over each, and one readout of
// all steps.
import { afterAll, describe, expect, it } from "vitest";
import { Matrix, ReservoirComputer } from "../../src/index.js";
import { DirectMember, DirectTraining, directReservoir, directShape } from "../../src/model/forecaster/direct.js";
import { registerEngine } from "../../src/reservoir/index.js";
import { device } from "../engine/device/engines.js";
import { openTestDevice } from "../gpu/device/device.js";

const context = openTestDevice();
afterAll(() => context.dispose());
const name = "device of windows";
registerEngine(name, async () => device, { automatic: false });

const column = (rows: number, value: (t: number) => number) =>
  new Matrix(
    rows,
    1,
    Float64Array.from({ length: rows }, (_, t) => value(t)),
  );
const wave = column(90, (t) => 3 * Math.sin(t / 3) + 0.4 * Math.sin(1.7 * t * t));
const shape = directShape(wave.rows, 3, 1);
const none = { known: 0, bounds: undefined };

async function trained(
  series: Matrix,
  {
    share = 1e-3,
    end = series.rows,
    engine = "cpu",
    filled,
    own = shape,
  }: {
    share?: number;
    end?: number;
    engine?: string;
    filled?: Matrix;
    own?: typeof shape;
  } = {},
): Promise<DirectMember> {
  const computer = await ReservoirComputer.create({ ...directReservoir, size: 12, seed: 5 }, { engine });
  const training = new DirectTraining(computer, series, filled, own);
  await training.add(end);
  const [member] = training.members([share], none);
  training.dispose();
  if (!(member instanceof DirectMember)) throw member!;
  member.start({ series });
  return member;
}
const ahead = async (member: DirectMember, steps: number) => [...(await member.forecast(steps, undefined, {})).data];

/** The weights of the normal equations with an intercept that is not penalised, by elimination. */
function normalEquations(rows: readonly number[][], targets: readonly number[][], lambda: number): number[][] {
  const size = rows[0]!.length;
  const system = Array.from({ length: size }, (_, i) => [
    ...Array.from({ length: size }, (_, j) => rows.reduce((sum, row) => sum + row[i]! * row[j]!, i === j && i > 0 ? lambda : 0)),
    ...targets[0]!.map((_, o) => rows.reduce((sum, row, r) => sum + row[i]! * targets[r]![o]!, 0)),
  ]);
  for (let p = 0; p < size; p++) {
    const best = system.slice(p).reduce((a, row, i) => (Math.abs(row[p]!) > Math.abs(system[a]![p]!) ? i + p : a), p);
    [system[p], system[best]] = [system[best]!, system[p]!];
    for (let i = 0; i < size; i++) {
      const factor = i === p ? 0 : system[i]![p]! / system[p]![p]!;
      for (let j = p; j < system[i]!.length; j++) system[i]![j]! -= factor * system[p]![j]!;
    }
  }
  return system.map((row, i) => row.slice(size).map((value) => value / row[i]!));
}

describe("a direct member", () => {
  it("has windows of four horizons, at most a third of the rows, or of two seasons", () => {
    expect(directShape(2179, 13, 1)).toEqual({ window: 52, season: 1, horizon: 13 });
    expect(directShape(90, 48, 1).window).toBe(30);
    expect(directShape(700, 48, 24).window).toBe(48);
    expect(directShape(700, 60, 24).window).toBe(60);
    expect(directShape(2, 5, 1).window).toBe(1);
  });

  it("is the ridge regression of every window, its reservoir's last state and the squares", async () => {
    const computer = await ReservoirComputer.create({ ...directReservoir, size: 12, seed: 5, precision: "float64" }, { engine: "cpu" });
    const { window, horizon } = shape;
    const scaled = (end: number) => {
      const part = [...wave.data.slice(end - window, end)];
      const mean = part.reduce((a, b) => a + b, 0) / window;
      const deviation = Math.sqrt(part.reduce((a, b) => a + (b - mean) ** 2, 0) / window);
      const steps = part.slice(1).reduce((a, b, i) => a + Math.abs(b - part[i]!), 0) / window;
      const scale = Math.max(deviation, steps / 2);
      return { u: part.map((value) => (value - mean) / scale), mean, scale };
    };
    const featuresOf = async (u: readonly number[]) => {
      const [state] = await computer.batch([column(window, (t) => u[t]!)], { keep: "last" });
      const x = [...state!.data];
      return [1, ...x, ...u, ...x.map((value) => value * value)];
    };
    const features: number[][] = [];
    const targets: number[][] = [];
    for (let end = window; end + horizon <= wave.rows; end++) {
      const { u, mean, scale } = scaled(end);
      features.push(await featuresOf(u));
      targets.push([0, 1, 2].map((k) => (wave.at(end + k, 0) - mean) / scale - u.at(-1)!));
    }
    const share = 0.01;
    const weights = normalEquations(features, targets, share * features.length);
    const { u, mean, scale } = scaled(wave.rows);
    const last = await featuresOf(u);
    const expected = [0, 1, 2].map((k) => mean + scale * (u.at(-1)! + last.reduce((sum, value, i) => sum + value * weights[i]![k]!, 0)));
    const training = new DirectTraining(computer, wave, undefined, shape);
    await training.add(wave.rows);
    const [member] = training.members([share], none);
    (member as DirectMember).start({ series: wave });
    const made = await ahead(member as DirectMember, 3);
    for (const [k, value] of expected.entries()) expect(made[k]).toBeCloseTo(value, 8);
  });

  it("takes in windows in parts, and reads no row behind the end", async () => {
    const computer = await ReservoirComputer.create({ ...directReservoir, size: 12, seed: 5 }, { engine: "cpu" });
    const training = new DirectTraining(computer, wave, undefined, shape);
    await training.add(60);
    await training.add(90);
    const [inParts] = training.members([1e-3], none);
    const whole = await trained(wave);
    expect((inParts as DirectMember).readouts[0]!.weights).toEqual(whole.readouts[0]!.weights);
    const changed = column(90, (t) => (t < 60 ? wave.at(t, 0) : 1000));
    const early = await trained(wave, { end: 60 });
    expect((await trained(changed, { end: 60 })).readouts[0]!.weights).toEqual(early.readouts[0]!.weights);
  });

  it("gives the last value with a large penalty, or that of a season before", async () => {
    const jump = column(90, (t) => (t < 45 ? 0 : 100) + Math.sin(t * t));
    for (const value of await ahead(await trained(jump, { share: 1e9 }), 3)) expect(value).toBeCloseTo(jump.at(89, 0), 0);
    const season = column(90, (t) => [1, 5, 2, 8][t % 4]! + t / 100);
    const made = await ahead(await trained(season, { share: 1e9, own: directShape(90, 6, 4) }), 6);
    for (const [k, value] of made.entries()) expect(value).toBeCloseTo(season.at(86 + (k % 4), 0), 0);
  });

  it("forecasts the same of the series on another level and scale, and of products by logarithms", async () => {
    const made = await ahead(await trained(wave), 3);
    const moved = await ahead(await trained(column(90, (t) => 8 * wave.at(t, 0) - 4096)), 3);
    for (const [k, value] of moved.entries()) expect(value).toBeCloseTo(8 * made[k]! - 4096, 3);
    const powers = await ahead(await trained(column(90, (t) => Math.exp(wave.at(t, 0)))), 3);
    for (const [k, value] of powers.entries()) expect(Math.log(value)).toBeCloseTo(made[k]!, 4);
  });

  it("trains on no window with a target that was filled, or far from all others", async () => {
    const filled = column(90, (t) => (t === 70 ? 1 : 0));
    const spiked = column(90, (t) => (t === 70 ? 1e6 : wave.at(t, 0)));
    const [one, two] = [await trained(wave, { filled, end: 72 }), await trained(spiked, { filled, end: 72 })];
    expect(two.readouts[0]!.weights).toEqual(one.readouts[0]!.weights);
    expect((await trained(spiked, { end: 71 })).readouts[0]!.weights).toEqual(one.readouts[0]!.weights);
  });

  it("predicts and goes on the same from parts of rows, further than its horizon, and from few rows", async () => {
    const member = await trained(wave);
    const whole = (await member.predict({ series: wave }, {}))[0]!;
    member.reset();
    const parts = [wave.subarray(0, 7), wave.subarray(7, 90)];
    const made: number[] = [];
    for (const series of parts) made.push(...(await member.predict({ series }, {}))[0]!.data);
    member.reset();
    const again = (await member.predict({ series: wave }, {}))[0]!;
    expect(made).toEqual([...again.data]);
    expect(whole.rows).toBe(90);
    const { state } = member;
    const three = await ahead(member, 3);
    member.follow({ series: column(3, (t) => three[t]!) });
    member.state = state;
    member.follow({ series: column(3, (t) => three[t]!) });
    const next = await ahead(member, 2);
    member.state = state;
    expect(await ahead(member, 5)).toEqual([...three, ...next]);
    member.reset();
    await expect(ahead(member, 1)).rejects.toThrow("there is no row to go on from after a reset; give warmup");
  });

  it("has the same bits on the CPU, the reference engine and the device", async () => {
    const bits = async (engine: string) => {
      const member = await trained(wave, { engine });
      return [[...member.readouts[0]!.weights.data], await ahead(member, 3)];
    };
    const cpu = await bits("cpu");
    expect(await bits("reference")).toEqual(cpu);
    expect(await bits(name)).toEqual(cpu);
  });
});
