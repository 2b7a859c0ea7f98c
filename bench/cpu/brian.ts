// A plastic network here and in Brian2, for the benches that compare the two.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { availableParallelism, cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { WasmNetwork } from "../../src/engine/cpu/network.js";
import type { drawNetwork, StepSpikes } from "../../src/spikes/index.js";
import { finished } from "./children.mjs";

/** What a script of Brian2 prints in its last line. */
interface There {
  readonly version: string;
  readonly seconds: number;
  readonly spikes: readonly (readonly [step: number, neuron: number])[];
  readonly weights: readonly number[];
}

/** Runs so many steps of a network, and a script of Brian2 that is handed `given` as a file. */
export function besideBrian(
  model: ReturnType<typeof drawNetwork>,
  { steps, inputs, script, python, given }: { steps: number; inputs?: StepSpikes; script: string; python: string; given: object },
) {
  const folder = mkdtempSync(join(tmpdir(), "spillway-brian-"));
  try {
    const file = join(folder, "network.json");
    writeFileSync(file, JSON.stringify(given));
    const network = new WasmNetwork(model);
    const began = process.cpuUsage();
    const spikes = network.advance(steps, inputs, true)!;
    const { user, system } = process.cpuUsage(began);
    // What the last spikes change is changed when the next step begins.
    network.advance(1, undefined, false);
    const mine: [number, number][] = [];
    for (let t = 0; t < steps; t++) for (let s = spikes.offsets[t]!; s < spikes.offsets[t + 1]!; s++) mine.push([t, spikes.neurons[s]!]);
    const { status, stdout, stderr } = finished(python, [join(import.meta.dirname, script), file], {
      encoding: "utf8",
      maxBuffer: 2 ** 28,
    });
    if (status !== 0) throw new Error(`Brian2 did not run: ${stderr}`);
    const there = JSON.parse(stdout.trim().split("\n").at(-1)!) as There;
    const same = mine.findIndex(([t, r], k) => there.spikes[k]?.[0] !== t || there.spikes[k]?.[1] !== r);
    return {
      network,
      spikes,
      there,
      machine: `${cpus()[0]!.model}, ${availableParallelism()} cores, Node ${process.versions.node}, Brian2 ${there.version} (NumPy)`,
      counts: `spikes: ${mine.length} here, ${there.spikes.length} there; ${same < 0 ? "all the same" : `the same up to spike ${same}`}`,
      times: `processor time: ${((user + system) / 1e6).toFixed(2)} s here, ${there.seconds.toFixed(2)} s there`,
    };
  } finally {
    rmSync(folder, { recursive: true });
  }
}
