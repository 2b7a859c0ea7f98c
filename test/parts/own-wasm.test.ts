// A kind of a user's own with functions of WebAssembly of its own: the CPU engine runs them as it
// runs those of the package's kinds.
import { expect, it } from "vitest";
import type { FloatArray } from "../../packages/numerics/src/index.js";
import { Forecaster, ReservoirComputer, ReservoirEnsemble } from "../../src/index.js";
import { decodeReservoir, encodeReservoir } from "../../src/model/index.js";
import { registerOneState } from "./one-state.js";

/** setup(f), and run: x' = f x + u for one state, f a binary64 at an address. */
const module = Uint8Array.of(
  ...[0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00], // magic number, version 1
  ...[0x01, 0x0e, 0x02, 0x60, 0x01, 0x7f, 0x00, 0x60, 0x06, 0x7f, 0x7f, 0x7f, 0x7f, 0x7f, 0x7f, 0x00], // types of setup and run
  ...[0x02, 0x0f, 0x01, 0x03, 0x65, 0x6e, 0x76, 0x06, 0x6d, 0x65, 0x6d, 0x6f, 0x72, 0x79, 0x02, 0x00, 0x01], // env.memory
  ...[0x03, 0x03, 0x02, 0x00, 0x01], // the two functions
  ...[0x06, 0x06, 0x01, 0x7f, 0x01, 0x41, 0x00, 0x0b], // a global: the address of f
  ...[0x07, 0x0f, 0x02, 0x05, 0x73, 0x65, 0x74, 0x75, 0x70, 0x00, 0x00, 0x03, 0x72, 0x75, 0x6e, 0x00, 0x01], // exports
  ...[0x0a, 0x45, 0x02, 0x06, 0x00, 0x20, 0x00, 0x24, 0x00, 0x0b], // setup: the global becomes f's address
  ...[0x3c, 0x00, 0x03, 0x40], // run: a loop
  ...[0x20, 0x00, 0x23, 0x00, 0x2b, 0x03, 0x00, 0x20, 0x00, 0x2b, 0x03, 0x00, 0xa2], // x: f * x
  ...[0x20, 0x01, 0x2b, 0x03, 0x00, 0xa0, 0x39, 0x03, 0x00], // + u, kept
  ...[0x20, 0x02, 0x20, 0x00, 0x2b, 0x03, 0x00, 0x39, 0x03, 0x00], // the row of states
  ...[0x20, 0x01, 0x41, 0x08, 0x6a, 0x21, 0x01], // next input
  ...[0x20, 0x02, 0x41, 0x08, 0x6a, 0x21, 0x02], // next row
  ...[0x20, 0x03, 0x41, 0x01, 0x6b, 0x22, 0x03, 0x0d, 0x00, 0x0b, 0x0b], // one step less
);

it("runs a module of a kind of a user's own, and its stepper where the module does not take inputs", async () => {
  const asked: number[] = [];
  const wasm = {
    ...{ module, setup: "setup", run: "run", arguments: [{ length: 1, fill: (out: FloatArray) => out.fill(0.5) }] },
    takes: (inputs: FloatArray) => inputs.every((u) => u < 100),
  };
  const name = registerOneState(wasm, asked);
  await using computer = await ReservoirComputer.create({ kind: name, size: 1, precision: "float64" } as never, { engine: "cpu" });
  expect((await computer.run([1, 1, 1])).data).toEqual(Float64Array.of(1, 1.5, 1.75));
  expect(asked).toEqual([]);
  expect((await computer.run([100, 0])).data).toEqual(Float64Array.of(100.875, 50.4375));
  expect(asked).toEqual([100, 0]);
  expect(Array.from(computer.step([1]))).toEqual([26.21875]);
  // Batches, a file, and the members of a forecaster, all by the module.
  asked.length = 0;
  const sequences = [[1, 1, 1], [2], [0.5, -1]];
  expect((await computer.batch(sequences)).map(({ data }) => [...data])).toEqual([[1, 1.5, 1.75], [2], [0.5, -0.75]]);
  const { computer: loaded } = await decodeReservoir(await encodeReservoir(computer), { engine: "cpu" });
  expect([...(await loaded.run([1, 1])).data]).toEqual([...(await computer.run([1, 1])).data]);
  await loaded.dispose();
  const wave = Array.from({ length: 80 }, (_, t) => Math.sin(t / 4));
  const reservoir = { kind: name, size: 1, precision: "float64" } as never;
  await using forecaster = await Forecaster.fit(wave, { reservoir, members: 2, washout: 5, engine: "cpu" });
  const bytes = await forecaster.toBytes();
  await using opened = await Forecaster.fromBytes(bytes, { engine: "cpu" });
  expect((await opened.forecast(9)).data).toEqual((await forecaster.forecast(9)).data);
  expect(asked).toEqual([]);
  for (const one of [reservoir, computer.model] as never[])
    await expect(ReservoirEnsemble.create([one, one])).rejects.toThrow(
      `configs[0] is of the kind "${name}"; an ensemble takes reservoirs of rates or of spikes`,
    );
});
