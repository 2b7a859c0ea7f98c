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
import { HostStepper, type Stepper, stepperSession } from "../host-steps.js";
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

class ReferenceStepper extends HostStepper<ReservoirModel> implements Stepper {
  #values: FloatArray;

  constructor(model: ReservoirModel) {
    super(model, 16);
    this.#values = allocate(model.precision, model.size);
  }

  getValues(): FloatArray {
    return this.#values;
  }

  setValues(values: FloatArray): void {
    this.#values = values.slice();
  }

  advance(steps: number, step: number, sequence: number): number {
    for (let t = 0; t < steps; t++) {
      this.#values = reservoirStep(this.model, this.#values, ...this.given(t), step + t, sequence);
      this.states.set(this.#values, t * this.model.size);
      if (!this.#values.every(Number.isFinite)) return t;
    }
    return steps;
  }
}
