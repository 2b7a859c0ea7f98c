// `spillway bench --gpus`: what several GPUs gain over one, for one reservoir that they share and
// for an ensemble whose members are distributed over them. Each row has the first device alone beside it.
import { disposeAll } from "@spillway/core/disposal.js";
import "../../index.js";
import "@spillway/sim";
import { ArgumentError, SpillwayError } from "@spillway/core/errors.js";
import { openDevices } from "@spillway/gpu";
import { ensureFolder, writeInto } from "@spillway/io";
import { describeMachine, type Machine, versions } from "../../experiment/runs/machine.js";
import { Matrix, ReservoirComputer, ReservoirEnsemble } from "../../reservoir/index.js";
import type { Progress } from "../progress.js";
import { formatTable } from "../table.js";
import { type BenchOptions, measure, repetitions, timed } from "./bench.js";

/** One line of the table. Microseconds of a step, of all members if there are several. */
export interface GpuMeasurement {
  readonly work: "one reservoir" | "ensemble";
  /** Neurons of a reservoir. */
  readonly size: number;
  readonly members: number;
  readonly devices: number;
  /** The plan of the reservoir, or "distributed" for members that several devices share. */
  readonly plan: string;
  readonly microsecondsPerStep: number;
  readonly fastest: number;
  readonly slowest: number;
  /** One device's time over this one's. */
  readonly timesOneDevice: number;
}

/** All of it: bench.json. */
export interface GpuBenchResult {
  readonly versions: Readonly<Record<string, string>>;
  readonly machine: Machine;
  readonly devices: readonly string[];
  readonly measurements: readonly GpuMeasurement[];
}

type Measured = Omit<GpuMeasurement, "work" | "size" | "members" | "devices" | "timesOneDevice">;

const usualSizes: readonly number[] = [4096, 8192, 16384];
const members = 64;
const ensembleSteps = 200;

/**
 * Measures and gives the text (or JSON). A single reservoir is dense, float32, and runs over the
 * devices if a plan for several is modelled to be faster; members are as sparse as by default.
 * @throws SpillwayError if there are not several devices
 */
export async function benchGpus(options: BenchOptions, progress: Progress): Promise<string> {
  if (options.out !== undefined) await ensureFolder(options.out);
  const { sizes = usualSizes, signal, engine = "cuda:all", plan = "auto" } = options;
  if (plan !== "auto")
    throw new ArgumentError("--plan", plan, '"auto" beside --gpus, which measures the plans of one and of several devices');
  const { family, numbers, names } = devicesOf(engine);
  const counts = [1, ...[2, 4, 8].filter((count) => count < numbers.length), numbers.length];
  const nameOf = (count: number) => `${family}:${numbers.slice(0, count).join(",")}`;
  const measurements: GpuMeasurement[] = [];
  const add = async (
    work: GpuMeasurement["work"],
    size: number,
    of: number,
    one: (engine: string, devices: number) => Promise<Measured>,
  ): Promise<void> => {
    let alone = 0;
    for (const devices of counts) {
      signal?.throwIfAborted();
      const measured = await one(nameOf(devices), devices);
      if (devices === 1) alone = measured.microsecondsPerStep;
      measurements.push({ work, size, members: of, devices, ...measured, timesOneDevice: alone / measured.microsecondsPerStep });
      progress.update(measurements.length);
    }
  };
  progress.begin("bench", 2 * sizes.length * counts.length);
  for (const size of sizes) await add("one reservoir", size, 1, (on) => oneReservoir(size, on, signal));
  for (const size of sizes) {
    const ofMember = Math.max(1, Math.round(size / 16));
    await add("ensemble", ofMember, members, (on, devices) => ensemble(ofMember, on, devices, signal));
  }
  progress.end();
  const result: GpuBenchResult = { versions: versions(), machine: describeMachine(), devices: names, measurements };
  const json = JSON.stringify(result, undefined, 2);
  if (options.out !== undefined) await writeInto(options.out, "bench.json", `${json}\n`);
  return options.json ? json : tableOf(result);
}

function devicesOf(engine: string): { readonly family: string; readonly numbers: readonly number[]; readonly names: readonly string[] } {
  const contexts = openDevices(engine);
  try {
    if (contexts.length < 2)
      throw new SpillwayError(
        "unavailable",
        `--gpus compares several devices; ${JSON.stringify(engine)} names one, ${contexts[0]!.info.name}`,
      );
    const family = contexts[0]!.core.driver.takesPtxOnly === true ? "sim" : "cuda";
    return { family, numbers: contexts.map(({ info }) => info.ordinal), names: contexts.map(({ info }) => info.name) };
  } finally {
    disposeAll(contexts);
  }
}

async function oneReservoir(size: number, engine: string, signal: AbortSignal | undefined): Promise<Measured> {
  // Of this radius a large W is drawn where it is used, which takes no time.
  const config = { size, inputSize: 1, connectionProbability: 1, radiusMethod: "circularLaw", spectralRadius: 0.9, seed: "bench" } as const;
  await using computer = await ReservoirComputer.create(config, { engine });
  const { microsecondsPerStep, fastest, slowest } = await measure(computer, signal);
  return { plan: String(computer.engine.plan.details["plan"] ?? ""), microsecondsPerStep, fastest, slowest };
}

async function ensemble(size: number, engine: string, devices: number, signal: AbortSignal | undefined): Promise<Measured> {
  const configs = Array.from({ length: members }, (_, seed) => ({ size, inputSize: 1, spectralRadius: null, seed }));
  await using all = await ReservoirEnsemble.create(configs, { engine });
  const inputs = new Matrix(
    ensembleSteps,
    1,
    Float32Array.from({ length: ensembleSteps }, (_, t) => ((t * 37) % 100) / 100 - 0.5),
  );
  const times = await timed(ensembleSteps, () => all.run(inputs, { keep: "last", signal }));
  return { plan: devices === 1 ? "together" : "distributed", ...times };
}

function tableOf({ machine, devices, measurements }: GpuBenchResult): string {
  const lines = measurements.map(
    ({ work, size, members: of, devices: count, plan, microsecondsPerStep, fastest, slowest, timesOneDevice }) => [
      work === "ensemble" ? `${of} members, N = ${size}` : `dense, N = ${size}`,
      String(count),
      plan,
      microsecondsPerStep.toFixed(2),
      `${fastest.toFixed(2)} to ${slowest.toFixed(2)}`,
      timesOneDevice.toFixed(2),
    ],
  );
  return [
    `${machine.processor}; ${devices.map((name, k) => `device ${k}: ${name}`).join(", ")}`,
    "",
    formatTable(["work", "GPUs", "plan", "µs/step", "range of µs/step", "times one GPU"], lines, [1, 3, 4, 5]),
    "",
    `Medians of ${repetitions} repetitions, float32; every state of a single reservoir is kept, the last one of members.`,
  ].join("\n");
}
