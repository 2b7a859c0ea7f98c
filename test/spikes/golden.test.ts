// The committed hashes of an independent C program (test/golden/spiking.c), held against the
// engines: synapses, states, potentials.
import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { Matrix } from "../../packages/numerics/src/index.js";
import { cpuEngine } from "../../src/engine/cpu/index.js";
import { referenceEngine } from "../../src/engine/reference/index.js";
import type { SpikingModel, SynapseTable } from "../../src/reservoir/index.js";
import { build } from "../../src/spikes/liquid/kind.js";
import { spikingInputs, spikingRuns } from "../golden/series.js";
import { spikingHashes } from "../golden/spiking.js";

const sha256 = (...parts: readonly ArrayBufferView[]) => {
  const hash = createHash("sha256");
  for (const { buffer, byteOffset, byteLength } of parts) hash.update(new Uint8Array(buffer, byteOffset, byteLength));
  return hash.digest("hex");
};
const columns = ({ offsets, targets, weights, delays }: SynapseTable) => [offsets, targets, weights, delays];
const drawn = ({ synapses, inputSynapses, inputWeights }: SpikingModel) =>
  sha256(...columns(synapses), ...(inputSynapses ? columns(inputSynapses) : [inputWeights!.data]));

describe.each(spikingRuns.map((run) => [run.name, run] as const))("golden spiking reservoir %s", (name, { config, steps }) => {
  const hashes = spikingHashes()[name]!;
  const model = build(config);

  it("has the C program's synapses", () => {
    expect(drawn(model)).toBe(hashes.synapses);
  });

  it.each([
    ["reference", referenceEngine],
    ["cpu", cpuEngine],
  ] as const)("has its states and potentials on the engine %s", async (_, engine) => {
    const session = await engine.open(model);
    const states = Matrix.zeros(steps, model.size, model.precision) as Matrix;
    await session.run({ inputs: spikingInputs(model, steps) }, { into: states });
    const { network } = session.getState();
    await session.dispose();
    expect(states.data.some((value) => value > 0)).toBe(true);
    expect({ states: sha256(states.data), potentials: sha256(network!.potential) }).toEqual({
      states: hashes.states,
      potentials: hashes.potentials,
    });
  });
});
