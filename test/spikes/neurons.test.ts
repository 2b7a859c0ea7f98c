// Spiking neurons against what theory says of them.
import { describe, expect, it } from "vitest";
import { integrateAndFireNumbers } from "../../src/spikes/neurons/leaky-integrate-and-fire.js";
import { simulateNeuron } from "../../src/spikes/neurons/simulate.js";

const rest = -70;
const threshold = -55;
const tau = 20;
const neuron = {
  type: "leakyIntegrateAndFire",
  membraneTimeConstant: tau,
  restingPotential: rest,
  threshold,
  resetPotential: rest,
  refractoryPeriod: 2,
} as const;
const constant = (current: number, ms: number, timeStep: number) => new Float64Array(Math.round(ms / timeStep)).fill(current);

describe("a leaky integrate-and-fire neuron", () => {
  it.each([
    [0.1, "float64"],
    [0.5, "float64"],
    [1, "float64"],
    [0.1, "float32"],
    [0.5, "float32"],
    [1, "float32"],
  ] as const)(
    "fires at intervals of ceil(tau ln(RI/(RI - threshold))/dt) dt + refractory for 50 currents, dt = %f ms in %s",
    async (timeStep, precision) => {
      for (let k = 0; k < 50; k++) {
        const current = 15.3 + 0.97 * k;
        const steps = Math.ceil((tau * Math.log(current / (current - (threshold - rest)))) / timeStep);
        const { spikeTimes } = await simulateNeuron(neuron, constant(current, 500, timeStep), { timeStep, precision });
        const intervals = Array.from(spikeTimes.subarray(1), (time, i) => Math.round((time - spikeTimes[i]!) / timeStep));
        expect(intervals.length, `RI = ${current} mV`).toBeGreaterThan(3);
        expect(new Set(intervals), `RI = ${current} mV`).toEqual(new Set([steps + Math.round(2 / timeStep)]));
        expect(spikeTimes[0]).toBeCloseTo(steps * timeStep, 9);
      }
    },
  );

  it.each(["float64", "float32"] as const)(
    "stays within 1e-5 of rest + RI (1 - exp(-t/tau)) below the threshold in %s",
    async (precision) => {
      for (const timeStep of [0.1, 0.5, 1]) {
        for (const current of [-10, 1, 7.5, 14.9]) {
          const { potential, spikeTimes } = await simulateNeuron(neuron, constant(current, 200, timeStep), { timeStep, precision });
          expect(spikeTimes).toHaveLength(0);
          let worst = 0;
          potential.forEach((v, t) => {
            const exact = rest + current * (1 - Math.exp((-(t + 1) * timeStep) / tau));
            worst = Math.max(worst, Math.abs(v - exact) / Math.abs(exact));
          });
          expect(worst).toBeLessThan(1e-5);
        }
      }
    },
  );

  it("is held for its refractory period and no longer", async () => {
    // 1000 mV reach the threshold within every step of 1 ms in which the neuron integrates.
    for (const refractoryPeriod of [0, 1, 5]) {
      const { spikeTimes } = await simulateNeuron({ ...neuron, refractoryPeriod }, constant(1000, 60, 1));
      expect(spikeTimes[1]! - spikeTimes[0]!).toBe(refractoryPeriod + 1);
    }
  });

  it("keeps what went beyond the threshold when it resets by subtraction, and forgets it when it resets to a value", async () => {
    const currents = [400, 0];
    const jump = 400 * (1 - Math.exp(-1 / tau));
    const byValue = await simulateNeuron({ ...neuron, resetPotential: -60 }, currents);
    expect(byValue.potential[0]).toBe(-60);
    const bySubtraction = await simulateNeuron({ ...neuron, reset: "subtract" }, currents);
    expect(bySubtraction.potential[0]).toBeCloseTo(rest + jump - (threshold - rest), 9);
  });

  it("fires at the threshold itself", async () => {
    // keep = 0 for a step that is 1e5 time constants long: the potential is the current.
    const plain = { ...neuron, membraneTimeConstant: 1e-5 };
    expect((await simulateNeuron(plain, [threshold - rest])).spikeTimes).toHaveLength(1);
    expect((await simulateNeuron(plain, [threshold - rest - 1e-9])).spikeTimes).toHaveLength(0);
  });
});

describe("the gain of a synapse", () => {
  /** The potential after dt from V = 0 under a current exp(-t/tauS), by 1e5 midpoint steps. */
  function integrated(tauS: number, dt: number): number {
    const steps = 1e5;
    let v = 0;
    for (let k = 0; k < steps; k++) {
      const s = ((k + 0.5) * dt) / steps;
      v += (Math.exp(-s / tauS) * Math.exp(-(dt - s) / tau) * dt) / steps / tau;
    }
    return v;
  }

  it.each([1, 3, 6, 19.99, 20, 20.01, 100])("is the exact response of the membrane for a time constant of %f ms", (tauS) => {
    const config = { ...neuron, reset: "value" } as const;
    for (const dt of [0.1, 1]) {
      const { excitatoryGain } = integrateAndFireNumbers(config, dt, tauS, 1);
      expect(excitatoryGain / integrated(tauS, dt)).toBeCloseTo(1, 8);
    }
  });

  it("is the whole charge at the beginning of the step for a time constant of 0", () => {
    const { excitatoryGain, keep } = integrateAndFireNumbers({ ...neuron, reset: "value" }, 1, 0, 1);
    expect(excitatoryGain).toBe(keep);
    expect(keep).toBeCloseTo(Math.exp(-1 / tau), 15);
  });
});

describe("an adaptive neuron", () => {
  const adaptive = { ...neuron, type: "adaptiveIntegrateAndFire", adaptationTimeConstant: 100, adaptationStep: 2 } as const;

  it("fires at longer and longer intervals under a constant current, up to a steady one", async () => {
    const { spikeTimes } = await simulateNeuron(adaptive, constant(30, 2000, 0.1), { timeStep: 0.1 });
    const intervals = Array.from(spikeTimes.subarray(1), (time, i) => time - spikeTimes[i]!);
    for (let i = 1; i < 4; i++) expect(intervals[i]).toBeGreaterThan(intervals[i - 1]!);
    const [last, before] = [intervals.at(-1)!, intervals.at(-2)!];
    expect(Math.abs(last - before)).toBeLessThan(0.2);
    // At a steady interval T the threshold's rise just before a spike is r = step q/(1 - q), q =
    // exp(-T/tau_a), and the potential has reached it.
    const q = Math.exp(-last / 100);
    const reached = 30 * (1 - Math.exp(-(last - 2) / tau));
    expect(reached).toBeCloseTo(threshold - rest + (2 * q) / (1 - q), 0);
  });

  it("is a plain neuron where a spike adds nothing to the threshold", async () => {
    const currents = constant(30, 500, 0.5);
    const plain = await simulateNeuron(neuron, currents, { timeStep: 0.5 });
    const still = await simulateNeuron({ ...adaptive, adaptationStep: 0 }, currents, { timeStep: 0.5 });
    expect(still.spikeTimes).toEqual(plain.spikeTimes);
    expect(still.potential).toEqual(plain.potential);
  });
});

describe("Izhikevich's neuron", () => {
  /**
   * The program of the 2003 paper for one neuron: resets at the beginning of the next step, v in
   * two half steps.
   */
  function published(a: number, b: number, c: number, d: number, currents: ArrayLike<number>): number[] {
    let v = c;
    let u = b * v;
    const firings: number[] = [];
    for (let t = 0; t <= currents.length; t++) {
      if (v >= 30) {
        firings.push(t);
        v = c;
        u = u + d;
      }
      v = v + 0.5 * (0.04 * v * v + 5 * v + 140 - u + (currents[t] ?? 0));
      v = v + 0.5 * (0.04 * v * v + 5 * v + 140 - u + (currents[t] ?? 0));
      u = u + a * (b * v - u);
    }
    return firings;
  }

  it.each([
    ["regular spiking", 0.02, 0.2, -65, 8],
    ["intrinsically bursting", 0.02, 0.2, -55, 4],
    ["chattering", 0.02, 0.2, -50, 2],
    ["fast spiking", 0.1, 0.2, -65, 2],
    ["low-threshold spiking", 0.02, 0.25, -65, 2],
  ])("fires in the steps of the published program: %s", async (_name, a, b, c, d) => {
    const currents = Array.from({ length: 1000 }, (_, t) => (t < 50 ? 0 : 10 + 3 * Math.sin(t / 40)));
    const { spikeTimes } = await simulateNeuron({ type: "izhikevich", a, b, c, d }, currents);
    expect(Array.from(spikeTimes)).toEqual(published(a, b, c, d, currents));
    expect(spikeTimes.length).toBeGreaterThan(10);
  });
});

describe("what simulateNeuron refuses", () => {
  it("names the field or the step, the value and what it takes", async () => {
    await expect(simulateNeuron("leakyIntegrateAndFires" as "izhikevich", [1])).rejects.toThrow(/neuron is .*one of leakyIntegrateAndFire/);
    await expect(simulateNeuron({ ...neuron, threshold: -80 }, [1])).rejects.toThrow(
      "neuron.threshold is -80; it takes a potential above restingPotential, -70 mV",
    );
    await expect(simulateNeuron(neuron, [1, Number.NaN])).rejects.toThrow("the current of step 1 is NaN; it takes a finite number of mV");
    await expect(simulateNeuron(neuron, [1], { timeStep: 0 })).rejects.toThrow("timeStep is 0; it takes a number of ms above 0");
    await expect(simulateNeuron({ ...neuron, tau: 3 } as typeof neuron, [1])).rejects.toThrow(/unknown field "neuron.tau"/);
  });
});
