// The cortical microcircuit of Potjans and Diesmann (2014) on a GPU: drawing, microseconds a step,
// board power, and the sums and hashes that a C program written from rule 13 of docs/numerics.md
// gives. Usage: npx tsx bench/gpu/microcircuit.ts [scale=1] [seconds=10] [seeds=1]
// [drives=dc,poisson] [plans=slots,table] [rounds=5] [spikes=FOLDER]. With a folder, the spikes after
// 0.5 s are written there, a file a run: pairs of 32-bit numbers, step and neuron.
import { spawn } from "node:child_process";
import { closeSync, openSync, writeSync } from "node:fs";
import { openDevice } from "../../packages/gpu/src/index.js";
import { openNetwork } from "../../src/engine/cuda/network/index.js";
import { microcircuit, planNetwork } from "../../src/spikes/network/index.js";
import { spikeHash } from "../../src/spikes/network/spike-hash.js";

const options = Object.fromEntries(process.argv.slice(2).map((text) => text.split("=") as [string, string]));
const numbered = (name: string, usual: number) => Number(options[name] ?? usual);
const [scale, seconds, seeds, rounds] = [numbered("scale", 1), numbered("seconds", 10), numbered("seeds", 1), numbered("rounds", 5)];
const listed = <T extends string>(name: string, usual: string) => (options[name] ?? usual).split(",") as T[];
const context = openDevice(0);

/** Sums of tables at full size, and hashes of 10,000 and 15,000 steps, by seed. */
const references: Record<string, { readonly sum: string; readonly dc: readonly [string, string]; readonly poisson: string }> = {
  1: { sum: "b5b8f20a47da80b7", dc: ["480141f6e9b41b86", "2111a4df1f7acbe7"], poisson: "796905f30c320282" },
  2: { sum: "eda2530c868d634b", dc: ["7791b03ea3293e59", "03ff1bf27303ea68"], poisson: "5724688b5653e8f0" },
  3: { sum: "8275a510cc4ac88f", dc: ["9b1eebcbb810fb4b", "0a415d1ced78c42b"], poisson: "5253ab9ca73a154f" },
};

/** Board power in W while something runs, as nvidia-smi gives it. */
function watchPower(): () => string {
  const values: number[] = [];
  const child = spawn("nvidia-smi", ["--query-gpu=power.draw.instant", "--format=csv,noheader,nounits", "-lms", "20"]);
  child.on("error", () => undefined);
  child.stdout?.on("data", (data: Buffer) => {
    for (const line of data.toString().split("\n")) if (Number(line) > 0) values.push(Number(line));
  });
  return () => {
    child.kill();
    values.sort((a, b) => a - b);
    return values.length === 0 ? "power unknown" : `${values[values.length >> 1]!.toFixed(0)} W`;
  };
}

for (let seed = 1; seed <= seeds; seed++)
  for (const drive of listed<"dc" | "poisson" | "none">("drives", "dc,poisson"))
    for (const layout of listed<"slots" | "table">("plans", "slots,table")) {
      const plan = planNetwork(microcircuit({ scale, seed, drive: drive === "poisson" ? drive : "dc" }));
      const began = performance.now();
      await using network = await openNetwork(context, plan, { plan: layout });
      const opened = performance.now() - began;
      const known = scale === 1 ? references[seed] : undefined;
      const held = (value: string, expected: string | undefined) =>
        `${value}${expected ? (value === expected ? " as expected" : ` NOT ${expected}`) : ""}`;
      console.log(
        `seed ${seed}, ${drive}: ${network.summary}; drawn in ${network.drawingMs.toFixed(1)} ms, opened in ${opened.toFixed(0)} ms; sum ${held(network.tableSum, known?.sum)}`,
      );
      if (drive === "none") {
        network.setDrive(new Float32Array(plan.size));
        network.setState({ ...network.getState(), potential: new Float32Array(plan.size) });
      }
      const start = network.getState();
      const first = (await network.advance(10_000, undefined, true))!;
      const second = (await network.advance(5000, undefined, true))!;
      const hash = spikeHash(first);
      const whole = spikeHash(second, 10_000, hash);
      const expected = drive === "none" ? [] : drive === "dc" ? (known?.dc ?? []) : [undefined, known?.poisson];
      console.log(
        `  10,000 steps ${held(hash, expected[0])}, 15,000 steps ${held(whole, expected[1])}, ${first.neurons.length + second.neurons.length} spikes`,
      );
      const steps = Math.round(seconds * 1e4);
      if (options["spikes"]) {
        network.setState(start);
        await network.advance(5000, undefined, false);
        const file = openSync(`${options["spikes"]}/${drive}-${seed}.bin`, "w");
        for (let done = 0; done < steps; done += 10_000) {
          const { offsets, neurons } = (await network.advance(Math.min(10_000, steps - done), undefined, true))!;
          const pairs = new Uint32Array(2 * neurons.length);
          for (let k = 0; k + 1 < offsets.length; k++)
            for (let s = offsets[k]!; s < offsets[k + 1]!; s++) {
              pairs[2 * s] = 5000 + done + k;
              pairs[2 * s + 1] = neurons[s]!;
            }
          writeSync(file, pairs);
        }
        closeSync(file);
      }
      for (const record of [false, true]) {
        const times: number[] = [];
        const power = watchPower();
        for (let round = 0; round < rounds; round++) {
          network.setState(start);
          await network.advance(5000, undefined, record);
          const from = performance.now();
          for (let done = 0; done < steps; done += 10_000) await network.advance(Math.min(10_000, steps - done), undefined, record);
          times.push((1000 * (performance.now() - from)) / steps);
        }
        const best = Math.min(...times);
        console.log(
          `  ${seconds} s ${record ? "recorded" : "not recorded"}: ${best.toFixed(3)} us a step (${times.map((time) => time.toFixed(3)).join(" ")}), factor ${(best / 100).toFixed(4)}, ${power()}`,
        );
      }
    }
context.dispose();
