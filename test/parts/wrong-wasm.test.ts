// Modules of kinds that are not what the kind says of them: each gives a sentence that names the
// kind, and none a JavaScript error.
import { expect, it } from "vitest";
import { ReservoirComputer, SpillwayError } from "../../src/index.js";
import type { KindWasm } from "../../src/reservoir/index.js";
import { registerOneState } from "./one-state.js";

const header = [0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00];
/** setup(i32) and run(i32 x 6), each of this body, in a memory of `pages` that `from` gives. */
const module = (body: readonly number[], { pages = 1, from = "env" } = {}) =>
  Uint8Array.of(
    ...[...header, 0x01, 0x0e, 0x02, 0x60, 0x01, 0x7f, 0x00, 0x60, 0x06, 0x7f, 0x7f, 0x7f, 0x7f, 0x7f, 0x7f, 0x00],
    ...[0x02, 0x0f, 0x01, 0x03, ...Buffer.from(from), 0x06, ...Buffer.from("memory"), 0x02, 0x00, pages],
    ...[0x03, 0x03, 0x02, 0x00, 0x01],
    ...[0x07, 0x0f, 0x02, 0x05, ...Buffer.from("setup"), 0x00, 0x00, 0x03, ...Buffer.from("run"), 0x00, 0x01],
    ...[0x0a, 2 * (body.length + 3) + 1, 0x02],
    ...[body.length + 2, 0x00, ...body, 0x0b, body.length + 2, 0x00, ...body, 0x0b],
  );
const nothing = module([]);
const traps = module([0x00]);

/** Takes steps of a kind whose functions of WebAssembly these are. */
async function step(wasm: Partial<Record<keyof KindWasm, unknown>>): Promise<unknown> {
  const kind = registerOneState({ module: nothing, setup: "setup", run: "run", arguments: [1], ...wasm } as KindWasm);
  await using computer = await ReservoirComputer.create({ kind, size: 1, precision: "float64" } as never, { engine: "cpu" });
  return (await computer.run([1, 1])).data;
}

it("runs one that is right", async () => {
  expect(await step({})).toEqual(Float64Array.of(0, 0));
});

it.each<[string, Partial<Record<keyof KindWasm, unknown>>, RegExp]>([
  ["bytes that are no module", { module: Uint8Array.of(1, 2, 3) }, /wasm\.module is no WebAssembly module of this host's: /],
  ["what is no bytes", { module: "a.wasm" }, /wasm\.module is "a\.wasm"; it takes the bytes of a WebAssembly module/],
  ["a memory that is larger than what the model takes", { module: module([], { pages: 9 }) }, /wasm\.module.*env\.memory/],
  ["a setup that is not exported", { setup: "begin" }, /wasm\.setup is "begin"; it takes the name of a function that the module exports/],
  ["a run that is not exported", { run: "constructor" }, /wasm\.run is "constructor"; it takes the name of a function/],
  ["a function that the package's module does not have", { module: undefined }, /wasm\.setup is "setup"; it takes the name of a function/],
  ["a module that takes an import that is not there", { module: module([], { from: "ent" }) }, /wasm\.module cannot be used/],
  ["a trap", { module: traps }, /wasm\.setup.*unreachable/],
  ["no arguments", { arguments: undefined }, /wasm\.arguments is missing; it takes a list/],
  ["an argument of another type", { arguments: ["x"] }, /wasm\.arguments\[0\] is "x"; it takes a number, a Uint32Array or memory/],
  ["a memory of a length that is none", { arguments: [{ length: -1 }] }, /wasm\.arguments\[0\]\.length is -1; it takes a whole number/],
  ["nothing at all", { arguments: [null] }, /wasm\.arguments\[0\] is null/],
  [
    "a fill that fails",
    {
      arguments: [
        {
          length: 1,
          fill: () => {
            throw new RangeError("mine");
          },
        },
      ],
    },
    /mine/,
  ],
])("refuses %s", async (what, wasm, message) => {
  const error = await step(wasm).then(
    () => undefined,
    (error: unknown) => error,
  );
  expect(String((error as Error | undefined)?.message)).toMatch(message);
  if (what !== "a fill that fails") expect(error).toBeInstanceOf(SpillwayError);
});
