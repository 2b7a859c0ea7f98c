// Joins the spikes that the calls of a run give, each from one or more parts of a network.
import type { StepSpikes } from "../../spikes/network/session.js";

/** The spikes of the calls of a run. */
export class CallSpikes {
  readonly #offsets: Uint32Array;
  readonly #parts: Uint32Array[] = [];
  #count = 0;

  constructor(steps: number) {
    this.#offsets = new Uint32Array(steps + 1);
  }

  /**
   * Adds the spikes of a call's steps by the parts of the network; the first step is `from`.
   */
  add(from: number, lists: readonly StepSpikes[]): void {
    const count = lists.reduce((sum, { neurons }) => sum + neurons.length, 0);
    const all = new Uint32Array(count);
    const steps = lists[0]!.offsets.length - 1;
    if (lists.length === 1) all.set(lists[0]!.neurons);
    let to = 0;
    for (let t = 0; t < steps; t++) {
      const first = to;
      for (const { offsets, neurons } of lists) {
        if (lists.length > 1) for (let s = offsets[t]!; s < offsets[t + 1]!; s++) all[to + s - offsets[t]!] = neurons[s]!;
        to += offsets[t + 1]! - offsets[t]!;
      }
      if (lists.length > 1 && to - first > 1) all.subarray(first, to).sort();
      this.#offsets[from + t + 1] = this.#count + to;
    }
    this.#parts.push(all);
    this.#count += count;
  }

  get spikes(): StepSpikes {
    const neurons = new Uint32Array(this.#count);
    let to = 0;
    for (const part of this.#parts) {
      neurons.set(part, to);
      to += part.length;
    }
    return { offsets: this.#offsets, neurons };
  }
}
