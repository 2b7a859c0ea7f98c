// A kind of reservoir of one state that forgets, x' = x / 2 + u, with functions of WebAssembly of
// its own.
import { Matrix } from "../../packages/numerics/src/index.js";
import { type KindWasm, type ReservoirKindOptions, registerReservoirKind } from "../../src/reservoir/index.js";

let kinds = 0;

/** Registers it, and gives its name. @param asked gets the inputs of steps in JavaScript */
export function registerOneState(wasm: KindWasm, asked: number[] = []): keyof ReservoirKindOptions {
  const name = `oneState${kinds++}` as keyof ReservoirKindOptions;
  registerReservoirKind({
    name,
    description: "One state that forgets.",
    options: {},
    sizes: () => ({ states: 1, matrices: { kept: [1, 1] } }),
    draw: () => ({ initial: [0], matrices: { kept: new Matrix(1, 1, Float64Array.of(0.5)) } }),
    stepper:
      ({ matrices: { kept } }) =>
      (x, input, next) => {
        asked.push(input[0]!);
        next[0] = kept.at(0, 0) * x[0]! + input[0]!;
      },
    wasm: () => wasm,
  });
  return name;
}
