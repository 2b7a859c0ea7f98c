// Storage and transfer by covariances: two linear neurons are a pair of autoregressions, whose
// information has a closed form.
import { describe, expect, it } from "vitest";
import { Matrix, RandomStream, seedKeys } from "../../packages/numerics/src/index.js";
import {
  activeInformationStorage,
  gaussianTransferEntropy,
  informationDynamics,
  nearestNeighbourTransferEntropy,
} from "../../src/analysis/index.js";
import { gaussianInformation } from "../../src/analysis/information/gaussian.js";
import { ReservoirComputer } from "../../src/index.js";

const draws = new RandomStream(seedKeys("dynamics").weights, 0);
const normals = (row: number, length: number) => Float64Array.from({ length }, (_, i) => draws.normal(row, i));

function coupled(length: number, row: number, a: number, b: number, c: number) {
  const x = normals(row, length);
  const y = normals(row + 1, length);
  for (let t = 1; t < length; t++) {
    x[t] = x[t]! + a * x[t - 1]!;
    y[t] = y[t]! + b * y[t - 1]! + c * x[t - 1]!;
  }
  return { x, y };
}

/** x <- a x + u0, y <- b y + c x + u1. */
function pair(a: number, b: number, c: number): Promise<ReservoirComputer> {
  const config = { size: 2, inputSize: 2, activation: "identity", leakRate: 1, precision: "float64" } as const;
  const matrices = {
    weights: Matrix.from([
      [a, 0],
      [c, b],
    ]),
    inputWeights: Matrix.from([
      [1, 0],
      [0, 1],
    ]),
  };
  return ReservoirComputer.create(config, { matrices });
}

describe("transfer entropy of Gaussian series", () => {
  it.each([
    [0.5, 0.5, 0.6, 0.18139],
    [0.3, 0.9, 0.3, 0.04703],
    [0.9, 0.3, 0.5, 0.23115],
  ])("of AR(1) pairs (%d, %d, %d) is that of the closed form", (a, b, c, exact) => {
    const { x, y } = coupled(20_000, 10, a, b, c);
    const there = gaussianTransferEntropy(x, y);
    const back = gaussianTransferEntropy(y, x);
    expect(Math.abs(there.nats - exact)).toBeLessThan(0.012);
    expect(there.pValue).toBeLessThan(1e-12);
    expect(back.nats).toBeLessThan(0.0005);
    expect(back.pValue).toBeGreaterThan(0.01);
  });

  it("reports an influence through a third series, unless that is given", () => {
    const { x, y } = coupled(2000, 14, 0.7, 0.6, 0.4);
    const z = normals(16, 2000);
    for (let t = 1; t < 2000; t++) z[t] = z[t]! + 0.5 * z[t - 1]! + 0.4 * y[t - 1]!;
    expect(gaussianTransferEntropy(x, z).pValue).toBeLessThan(0.001);
    expect(gaussianTransferEntropy(x, z, { given: y }).pValue).toBeGreaterThan(0.01);
  });

  it("says 5 % of independent pairs significant at .05 (400 pairs: 3 to 8 %)", () => {
    let alarms = 0;
    for (let i = 0; i < 400; i++) {
      const { x, y } = coupled(200, 100 + 2 * i, 0.5, 0.8, 0);
      if (gaussianTransferEntropy(x, y).pValue <= 0.05) alarms++;
    }
    expect(alarms).toBeGreaterThan(11);
    expect(alarms).toBeLessThan(33);
  });

  it("of a series that another determines is what binary64 can tell, and of a constant 0", () => {
    const x = normals(20, 500);
    const copy = Float64Array.from(x, (_, t) => x[t - 1] ?? 0);
    expect(gaussianTransferEntropy(x, copy).nats).toBeGreaterThan(15);
    expect(gaussianTransferEntropy(x, new Float64Array(500)).nats).toBe(0);
    expect(gaussianInformation(() => 1, 0, [1], [2])).toBe(0);
  });

  it("takes single series of one length", () => {
    const two = Matrix.zeros(50, 2);
    expect(() => gaussianTransferEntropy(two, new Float64Array(50))).toThrow("the columns of source is 2; it takes 1");
    expect(() => gaussianTransferEntropy([1, 2, 3], [1, 2, 3])).toThrow("the length of source is 3; it takes at least 6");
  });
});

describe("information dynamics of a reservoir", () => {
  it.each([
    [0.5, 0.5, 0.6, 0.18139, 0.25634, 0.14384],
    [0.9, 0.3, 0.5, 0.23115, 0.41132, 0.83037],
  ])("of two linear neurons is that of an AR(1) pair (%d, %d, %d)", async (a, b, c, transfer, storageY, storageX) => {
    await using computer = await pair(a, b, c);
    const { storage, transfer: found, meanTransfer } = await informationDynamics(computer, { length: 20_000 });
    expect(found.map(({ from, to, weight }) => [from, to, weight])).toEqual([[0, 1, c]]);
    expect(Math.abs(found[0]!.nats - transfer)).toBeLessThan(0.015);
    expect(found[0]!.pValue).toBeLessThan(1e-12);
    expect(meanTransfer).toBe(found[0]!.nats);
    expect(Math.abs(storage[0]! - storageX)).toBeLessThan(0.02);
    expect(Math.abs(storage[1]! - storageY)).toBeLessThan(0.02);
  });

  it("by nearest neighbours is the measure of the neurons' series", async () => {
    await using computer = await pair(0.5, 0.5, 0.6);
    const { transfer } = await informationDynamics(computer, { length: 500, estimator: "nearestNeighbours" });
    const { transfer: gaussian } = await informationDynamics(computer, { length: 500 });
    expect(transfer[0]!.pValue).toBeUndefined();
    expect(Math.abs(transfer[0]!.nats - gaussian[0]!.nats)).toBeLessThan(0.1);
  });

  it("by nearest neighbours has the bits of the series' own functions", async () => {
    const inputs = Array.from(normals(30, 120));
    await using computer = await ReservoirComputer.create({ size: 4, connectionProbability: 1, leakRate: 1, precision: "float64" });
    const options = { inputs, washout: 20, length: 100, history: 2, estimator: "nearestNeighbours" } as const;
    const { storage, transfer } = await informationDynamics(computer, options);
    const states = (await computer.run(inputs)).subarray(20);
    const columns = Array.from({ length: 4 }, (_, i) => Float64Array.from(states.column(i)));
    expect([...storage]).toEqual(columns.map((column) => activeInformationStorage(column, { history: 2 }).nats));
    expect(transfer.length).toBe(12);
    for (const { from, to, nats } of transfer)
      expect(nats).toBe(nearestNeighbourTransferEntropy(columns[from]!, columns[to]!, { targetHistory: 2 }).nats);
  });

  it("stores more the nearer the reservoir is to its edge, over the connections that there are", async () => {
    const config = { size: 40, leakRate: 1, connectionProbability: 0.1, inputScaling: 0.1, precision: "float64" } as const;
    const calm = await informationDynamics({ ...config, spectralRadius: 0.3 }, { length: 2000 });
    const edge = await informationDynamics({ ...config, spectralRadius: 0.95 }, { length: 2000 });
    expect(edge.meanStorage).toBeGreaterThan(1.3 * calm.meanStorage);
    expect(edge.transfer.length).toBe(calm.transfer.length);
    expect(edge.transfer.every(({ from, to }) => from !== to)).toBe(true);
  });

  it("is of one reservoir of rates", async () => {
    await expect(informationDynamics({ kind: "oscillator", size: 5 } as never, { length: 50 })).rejects.toThrow(
      'source is "a reservoir of the kind oscillator"; it takes one reservoir of rates',
    );
  });

  it("takes inputs of washout and length", async () => {
    await expect(informationDynamics({ size: 5 }, { inputs: [1, 2, 3] })).rejects.toThrow('inputs is "3 rows"; it takes 5500');
    await expect(informationDynamics({ size: 5 }, { length: 30, history: 20 })).rejects.toThrow("length is 30; it takes at least 40");
  });
});
