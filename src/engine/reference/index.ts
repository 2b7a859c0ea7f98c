// The plainest engine: the domain's step function, one step at a time. Slow, and what every other
// engine is held against.
import { allocate, type FloatArray } from "@spillway/numerics";
import type { Engine, EnginePlan } from "../../reservoir/engine.js";
import type { ReservoirModel } from "../../reservoir/model.js";
import type { SpikingModel } from "../../reservoir/spiking-model.js";
import { reservoirStep } from "../../reservoir/step.js";
import { networkOf } from "../../spikes/liquid/as-network.js";
import { drawNetwork } from "../../spikes/network/draw.js";
import { ReferenceNetwork } from "../../spikes/network/reference.js";
import { type Stepper, stepperSession } from "../host-steps.js";
import { clockFor } from "../phase-clock.js";
import { openRegistered, planOf } from "../registered.js";
import { SpikingStepper } from "../spiking-stepper.js";

/** The TypeScript reference. */
export const referenceEngine: Engine = {
  name: "reference",
  supports: new Set(["ownActivations", "cells", "integers", "registeredKinds"]),

  async probe() {
    return { available: true, reason: "plain TypeScript runs everywhere", device: "JavaScript" };
  },

  plan(model): EnginePlan {
    if (model.kind === "registered") return planOf("reference", model);
    return {
      engine: "reference",
      summary: "plain TypeScript, one step at a time",
      bytes: 2 * model.size * (model.precision === "float32" ? 4 : 8),
      details: { precision: model.precision },
    };
  },

  async open(model, options) {
    if (model.kind === "registered") return openRegistered("reference", model, options);
    const stepper = model.kind === "spiking" ? spikingStepper(model) : new ReferenceStepper(model);
    return stepperSession(model, referenceEngine.plan(model), stepper, clockFor(options));
  },

  openNetwork: async (plan) => new ReferenceNetwork(drawNetwork(plan)),
};

function spikingStepper(model: SpikingModel): Stepper {
  const network = networkOf(model);
  return new SpikingStepper(model, network, new ReferenceNetwork(network));
}

class ReferenceStepper implements Stepper {
  readonly capacity = 16;
  readonly inputs: FloatArray;
  readonly outputs: FloatArray;
  readonly states: FloatArray;
  readonly #model: ReservoirModel;
  #values: FloatArray;

  constructor(model: ReservoirModel) {
    this.#model = model;
    this.#values = allocate(model.precision, model.size);
    this.inputs = allocate(model.precision, this.capacity * model.inputSize);
    this.outputs = allocate(model.precision, this.capacity * model.outputSize);
    this.states = allocate(model.precision, this.capacity * model.size);
  }

  getValues(): FloatArray {
    return this.#values;
  }

  setValues(values: FloatArray): void {
    this.#values = values.slice();
  }

  advance(steps: number, step: number, sequence: number): number {
    const { size, inputSize, outputSize } = this.#model;
    for (let t = 0; t < steps; t++) {
      const input = this.inputs.subarray(t * inputSize, (t + 1) * inputSize);
      const output = this.outputs.subarray(t * outputSize, (t + 1) * outputSize);
      this.#values = reservoirStep(this.#model, this.#values, input, output, step + t, sequence);
      this.states.set(this.#values, t * size);
      if (!this.#values.every(Number.isFinite)) return t;
    }
    return steps;
  }

  async dispose(): Promise<void> {}
}
