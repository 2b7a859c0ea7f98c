// Work that is stopped by a signal: the error has the signal's reason, and the signal is looked at
// often enough, also on the simulated device.
import { afterEach, describe, expect, it, vi } from "vitest";
import { Matrix, ReservoirComputer, ridge, runEnsemble, WorkInterruptedError } from "../../src/index.js";

afterEach(() => vi.restoreAllMocks());

/** Far ahead of the clock. */
let now = 1e9;

/** Every look at the clock is a second after the one before: work pauses whenever it can. */
function pauseWheneverItCan(): void {
  vi.spyOn(performance, "now").mockImplementation(() => (now += 1000));
}

const series = (rows: number) => Matrix.from(Array.from({ length: rows }, (_, t) => [Math.sin(t)]));
const size = 1200;
const description = { size, inputSize: 1, connectionProbability: 1, storage: "dense", spectralRadius: null, seed: 1 } as const;
const engines = ["reference", "cpu", "sim"] as const;

describe.each(engines)("the engine %s", (engine) => {
  const ways = {
    run: (of: ReservoirComputer, work: object) => of.run(series(60), work),
    batch: (of: ReservoirComputer, work: object) => of.batch([series(40), series(40)], work),
    train: (of: ReservoirComputer, work: object) =>
      of.train(series(60), series(60), ridge().accumulator({ stateSize: of.model.size, inputSize: 1, outputSize: 1 }), work),
    ensemble: (_: ReservoirComputer, work: object) =>
      runEnsemble(
        [
          { ...description, size: 30 },
          { ...description, size: 30, seed: 2 },
        ],
        series(300),
        { engine, ...work },
      ),
  };

  it.each(Object.entries(ways))("passes the reason on: %s", async (_name, way) => {
    await using computer = await ReservoirComputer.create({ ...description, size: 60 }, { engine });
    const reason = { why: "the user left" };
    await expect(way(computer, { signal: AbortSignal.abort(reason) })).rejects.toMatchObject({ code: "aborted", cause: reason });
    pauseWheneverItCan();
    const stop = new AbortController();
    const onProgress = () => stop.abort(reason);
    const error = await way(computer, { signal: stop.signal, onProgress }).then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    expect(error).toBeInstanceOf(WorkInterruptedError);
    expect((error as WorkInterruptedError).cause).toBe(reason);
  });
});

it.each(["reference", "sim"])("%s looks at the signal after no more steps than multiply four million weights", async (engine) => {
  await using computer = await ReservoirComputer.create(description, { engine });
  pauseWheneverItCan();
  const stepsOf = async (run: (onProgress: (done: number) => void) => Promise<unknown>) => {
    const reports: number[] = [];
    await run((done) => reports.push(done));
    return Math.max(...reports.map((done, k) => done - (reports[k - 1] ?? 0)));
  };
  const most = Math.floor(2 ** 22 / size ** 2);
  expect(await stepsOf((onProgress) => computer.run(series(6), { onProgress }))).toBeLessThanOrEqual(most);
  // Steps of both sequences count.
  expect(await stepsOf((onProgress) => computer.batch([series(6), series(6)], { onProgress }))).toBeLessThanOrEqual(2 * most);
});
