// Notices liquids whose neurons do not fire on spikes that they are given. It changes nothing and
// stops nothing.
import { warnOnce } from "@spillway/core/warning.js";
import type { FloatArray } from "@spillway/numerics";
import type { AnyModel, SpikingModel } from "../../reservoir/index.js";

/** The share of neurons that may never fire unsaid. */
const mayBeSilent = 0.9;

/** Which neurons have fired, by filtered states that are not 0. */
export class SilenceCount {
  readonly #model: SpikingModel | undefined;
  readonly #fired: Uint8Array;
  #spikes = 0;

  constructor(model: AnyModel) {
    this.#model = model.kind === "spiking" && model.config.input.mode === "spikes" ? model : undefined;
    this.#fired = new Uint8Array(this.#model?.size ?? 0);
  }

  /** @param inputs T x I @param states of any of the steps, one or several rows of N */
  add(inputs: FloatArray, states: FloatArray): void {
    const { size } = this.#model ?? { size: 0 };
    if (size === 0) return;
    for (const value of inputs) if (value !== 0) this.#spikes++;
    for (let i = 0; i < states.length; i++) if (states[i] !== 0) this.#fired[i % size] = 1;
  }

  /** Warns, once a process, if nine in ten neurons were silent although there were input spikes. */
  warn(): void {
    const { size, config } = this.#model ?? { size: 0 };
    if (!config || this.#spikes === 0) return;
    const silent = this.#fired.reduce((count, fired) => count + (fired === 0 ? 1 : 0), 0) / size;
    if (silent <= mayBeSilent) return;
    const { weight, connectivity } = config.input;
    const each = typeof weight === "number" ? `${weight} mV` : "one a channel";
    warnOnce(
      "SpillwaySilenceWarning",
      `${Number((100 * silent).toFixed(1))} % of the liquid's ${size} neurons did not fire on ${this.#spikes} input spikes: ` +
        `raise input.weight (${each}), input.connectivity (${connectivity}) or background.current (${config.background.current} mV)`,
    );
  }
}
