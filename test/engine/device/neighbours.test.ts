// Nearest neighbours by all pairs on a device: the counts of the k-d tree, and so every bit of what
// is estimated from them.
import { afterAll, describe, expect, it } from "vitest";
import { Matrix, RandomStream, seedKeys } from "../../../packages/numerics/src/index.js";
import {
  activeInformationStorage,
  informationDynamics,
  type NearestNeighbourInformation,
  nearestNeighbourInformation,
  nearestNeighbourTransferEntropy,
} from "../../../src/analysis/index.js";
import { countsOnHost } from "../../../src/analysis/information/neighbour-estimates.js";
import { neighbourCounts } from "../../../src/engine/cuda/neighbours.js";
import { ReservoirComputer } from "../../../src/index.js";
import type { NeighbourSpace } from "../../../src/reservoir/engine.js";
import { casesOf } from "../../exhaustive.js";
import { onHardware, openTestDevice, size } from "../../gpu/device/device.js";
import "../../../packages/sim/src/index.js";

const context = openTestDevice();
afterAll(() => context.dispose());

const draws = new RandomStream(seedKeys("neighbours on a device").weights, 0);
const n = size(3000, 300);
const column = (c: number, of = (value: number) => value) => Float64Array.from({ length: n }, (_, i) => of(draws.normal(i, c)));
const [x, y, z, more] = [column(0), column(1), column(2), column(3)];
for (let i = 2; i < n; i++) {
  x[i] = 0.8 * x[i - 1]! + 0.6 * x[i]!;
  y[i] = 0.5 * y[i - 1]! + 0.4 * x[i - 1]! + y[i]!;
}
const coarse = (values: Float64Array) => values.map((value) => Math.round(2 * value) / 2);
const equal = new Float64Array(n).fill(3);
const plain = { k: 3, window: 0, each: false, z: [] };

describe("counts of neighbours on a device", () => {
  it.each<[string, NeighbourSpace, Float64Array[]]>(
    casesOf(
      [
        ["x and y", { ...plain, y: [y] }, [x]],
        ["one z", { ...plain, y: [y], z: [z] }, [x]],
        ["k = 1 and k of many", { ...plain, y: [y], z: [z], k: 1 }, [x]],
        ["a large k", { ...plain, y: [y], z: [z], k: 40 }, [x]],
        ["a window", { ...plain, y: [y], z: [z], window: 9 }, [x]],
        ["a window without z", { ...plain, y: [y], window: 9 }, [x]],
        ["several columns each", { ...plain, y: [y, more], z: [z, coarse(x)] }, [x, coarse(y)]],
        ["several columns, no z", { ...plain, y: [y, more] }, [x, z]],
        ["many equal distances", { ...plain, y: [coarse(y)], z: [coarse(z)] }, [coarse(x)]],
        ["one point over and over", { ...plain, y: [equal], z: [equal] }, [equal]],
        ["algorithm 2", { ...plain, y: [y], each: true }, [x]],
        ["algorithm 2, many equal distances", { ...plain, y: [coarse(y)], each: true, window: 2 }, [coarse(x)]],
        ["algorithm 2, several columns", { ...plain, y: [y, more], each: true }, [coarse(x), z]],
      ],
      (_, k) => k % 2 === 0,
    ),
  )("are the host's: %s", async (_, space, first) => {
    const second = first.map((values) => values.slice().reverse());
    const onHost = countsOnHost(space);
    const there: unknown[] = [];
    for await (const counts of neighbourCounts(context, space, [first, second])) there.push(counts);
    expect(there).toEqual([onHost(first), onHost(second)]);
  });
});

describe("estimates on a device", () => {
  const engine = onHardware ? "cuda" : "sim";
  const bits = ({ local, ...rest }: NearestNeighbourInformation) => ({ ...rest, local: [...local] });

  it("have the bits of the host, surrogates included", async () => {
    const options = { surrogates: 2 };
    const there = await nearestNeighbourTransferEntropy(x, y, { ...options, engine });
    expect(bits(there)).toEqual(bits(nearestNeighbourTransferEntropy(x, y, options)));
    expect(bits(await nearestNeighbourTransferEntropy(x, y, { given: z, engine }))).toEqual(
      bits(nearestNeighbourTransferEntropy(x, y, { given: z })),
    );
    expect(bits(await activeInformationStorage(y, { history: 2, engine }))).toEqual(bits(activeInformationStorage(y, { history: 2 })));
    const both = new Matrix(
      n,
      2,
      Float64Array.from({ length: 2 * n }, (_, i) => (i % 2 === 0 ? x : z)[i >> 1]!),
    );
    expect(bits(await nearestNeighbourInformation(both, y, { algorithm: 2, engine }))).toEqual(
      bits(nearestNeighbourInformation(both, y, { algorithm: 2 })),
    );
  });

  it("are the host's where rows are equal, of surrogates too", async () => {
    const [few, other] = [coarse(x), coarse(y)];
    for (const options of [{ surrogates: 3 }, { surrogates: 3, given: equal }, { surrogates: 3, algorithm: 2 as const }])
      expect(bits(await nearestNeighbourInformation(few, other, { ...options, engine }))).toEqual(
        bits(nearestNeighbourInformation(few, other, options)),
      );
  });

  it("of all connections of a reservoir are the host's", async () => {
    const reservoir = { size: size(12, 3), connectionProbability: 1, leakRate: 1, inputScaling: 1, seed: 1 } as const;
    const options = { estimator: "nearestNeighbours", length: size(1000, 40), washout: 10 } as const;
    await using computer = await ReservoirComputer.create(reservoir, { engine: "cpu" });
    const there = await informationDynamics(computer, { ...options, engine });
    expect(there).toEqual(await informationDynamics(computer, options));
    expect(there.transfer.length).toBe(size(132, 6));
  });

  it("come from the k-d tree if the engine has no search", async () => {
    const there = await nearestNeighbourTransferEntropy(x, y, { surrogates: 2, engine: "cpu" });
    expect(bits(there)).toEqual(bits(nearestNeighbourTransferEntropy(x, y, { surrogates: 2 })));
    expect(() => nearestNeighbourTransferEntropy(x, y, { signal: AbortSignal.abort() } as object)).toThrow(
      "signal and onProgress take `engine`",
    );
  });

  it("draw no more surrogates than the host when a value is not significant", async () => {
    const options = { surrogates: 30, neighbours: 2 };
    const [a, b] = [z.subarray(0, 60), more.subarray(0, 60)];
    expect(bits(await nearestNeighbourInformation(a, b, { ...options, engine }))).toEqual(bits(nearestNeighbourInformation(a, b, options)));
  });

  it("stop when they are told to", async () => {
    const stopped = nearestNeighbourInformation(x, y, { engine, signal: AbortSignal.abort() });
    await expect(stopped).rejects.toThrow("stopped after 0 of 1 steps");
  });
});
