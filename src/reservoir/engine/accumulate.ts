// Training for sessions that do not train: the host does the same.
import { Matrix } from "@spillway/numerics";
import type { EngineSession } from "../engine.js";
import { hostInputs } from "../inputs.js";
import type { SequenceInput } from "./calls.js";
import type { AccumulateOptions } from "./training.js";

/** States of a chunk on the host, in bytes, if the host hands them to the sink. */
const chunkBytes = 2 ** 20;

/** Trains by the session if it can, or by the host with states of one chunk at a time. */
export async function accumulate(session: EngineSession, sequence: SequenceInput, options: AccumulateOptions): Promise<void> {
  if (session.accumulate) return session.accumulate(sequence, options);
  const { size, precision } = session.model;
  const { signal, onProgress } = options;
  const inputs = hostInputs(sequence);
  const chunk = Math.min(inputs.rows, Math.max(1, Math.floor(chunkBytes / (size * (precision === "float32" ? 4 : 8)))));
  const states = Matrix.zeros(chunk, size, precision);
  for (let from = 0; from < inputs.rows; from += chunk) {
    const to = Math.min(inputs.rows, from + chunk);
    const into = states.subarray(0, to - from);
    const part = { inputs: inputs.subarray(from, to), teacher: sequence.teacher?.subarray(from, to) };
    await session.run(part, { into, signal, onProgress: (done) => onProgress?.(from + done, inputs.rows) });
    addRows(into, from, inputs, options);
  }
}

/** Hands states of the steps from `from` on to the sink, less those of the washout. */
export function addRows(states: Matrix, from: number, inputs: Matrix, { targets, washout, sink }: AccumulateOptions): void {
  const first = Math.max(0, washout - from);
  if (first >= states.rows) return;
  const to = from + states.rows;
  sink.add(states.subarray(first), inputs.subarray(from + first, to), targets.subarray(from + first, to));
}
