// Power iteration whose matrix and vectors are on the device, with the host's bits:
// docs/numerics.md, rule 7. When it has converged is the host's to say.
import { disposeAll } from "@spillway/core/disposal.js";
import type { Context, DeviceBuffer, Stream } from "@spillway/gpu";
import { mostIterations, type PowerFailure, powerIterations, powerStart } from "@spillway/numerics/spectrum/power-iteration.js";
import type { WorkOptions } from "../../../reservoir/engine.js";
import { WorkPacer } from "../../../reservoir/work.js";
import type { DeviceOperator } from "./operators.js";

/** Bytes on the device beside the operator. */
export const powerBytes = (n: number): number => 8 * (2 * n + 1);

/**
 * The radius of an operator on n rows that was divided by 2^exponent, or what the iteration came
 * to. @throws WorkInterruptedError
 */
export async function powerOnDevice(
  context: Context,
  stream: Stream,
  operator: DeviceOperator,
  n: number,
  exponent: number,
  options: WorkOptions,
): Promise<number | PowerFailure> {
  const pacer = new WorkPacer(options, mostIterations);
  const owned: DeviceBuffer<"f64">[] = [];
  const vector = (length: number, label: string): DeviceBuffer<"f64"> => {
    const buffer = context.alloc("f64", length, { label });
    owned.push(buffer);
    return buffer;
  };
  try {
    let [before, after] = [vector(n, "power iteration"), vector(n, "power iteration")];
    const length = vector(1, "length");
    stream.upload(after, powerStart(n));
    const iterations = powerIterations(exponent);
    let state = iterations.next();
    for (let done = 0; !state.done; ) {
      for (let i = 0; i < state.value; i++) {
        [before, after] = [after, before];
        operator.powerStep!(stream, before, after, length);
      }
      done += state.value;
      state = iterations.next([await stream.download(before), await stream.download(after)]);
      pacer.check(done);
      if (pacer.due()) await pacer.pause(done);
    }
    return state.value;
  } finally {
    disposeAll(owned);
  }
}
