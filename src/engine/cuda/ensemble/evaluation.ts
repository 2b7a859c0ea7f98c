// An evaluation on a device: of each member the weights are scaled there, and what is asked for is
// made of its states. Members run side by side, in waves that fit the memory; only what was asked
// for comes to the host.
import { Held, Making } from "@spillway/core/disposal.js";
import type { Context } from "@spillway/gpu";
import { stepsOf } from "../../../reservoir/engine/evaluation.js";
import { type EnginePlan, type Evaluated, type Evaluation, formatBytes } from "../../../reservoir/engine.js";
import { WorkPacer } from "../../../reservoir/work.js";
import { DeviceClock } from "../profile.js";
import { ForecastTask } from "./forecasts.js";
import { fastDetail } from "./kernel-choice.js";
import { MeasureTask } from "./measures.js";
import { ReadoutTask } from "./readouts.js";
import { sweepShape } from "./sweep-shape.js";
import { SweptMembers, type Wave } from "./swept-members.js";
import type { Bench, WaveTask } from "./turn.js";
import { Uploads } from "./uploads.js";

/** Bytes of states in one chunk; most of what a wave's memory is. */
const chunkBytes = 4 * 2 ** 30;

/**
 * `DeviceAbilities.evaluate` on a device, or undefined if a base has a shape that is better run by
 * itself.
 */
export function evaluateTogether(context: Context, engine: string, work: Evaluation, budget = chunkBytes): Promise<Evaluated> | undefined {
  const shape = sweepShape(context, work.bases);
  if (!shape) return undefined;
  const clock = work.profile ? new DeviceClock(context) : undefined;
  const bench: Bench = { context, members: new SweptMembers(context, work, shape, clock), clock, budget };
  return evaluateIn(bench, engine, work, taskOf(bench, work));
}

function taskOf(bench: Bench, { members, ask }: Evaluation): WaveTask {
  if (ask.kind === "measures") return new MeasureTask(bench, ask, members.length);
  if (ask.kind === "forecasts") return new ForecastTask(bench, ask, members);
  return new ReadoutTask(bench, ask, members.length);
}

async function evaluateIn({ context, members, clock }: Bench, engine: string, work: Evaluation, task: WaveTask): Promise<Evaluated> {
  const steps = stepsOf(work.ask);
  const pacer = new WorkPacer(work, work.members.length * steps);
  using owned = new Making();
  const { own } = owned;
  const stream = own(context.stream({ label: `evaluation: ${work.ask.kind}` }));
  const shared = new Uploads<"f64">(owned, context, stream, "float64");
  if (clock) own(clock);
  /** What the device has: the wave whose answers are next, and the one behind it. */
  const running: { readonly slots: number; readonly held: Held; readonly finish: () => Promise<void> }[] = [];
  let done = 0;
  const start = (wave: Wave, draws: ReturnType<SweptMembers["upload"]>) => {
    const memory = own(new Held());
    const uploads = new Uploads(memory, context, stream, members.rowShape.precision);
    const pause = async (some = 0) => {
      await stream.done();
      await pacer.pause(done + some);
    };
    const prepared = members.prepare(stream, uploads, wave, draws);
    const finish = task.start({ stream, wave, prepared, memory: uploads, own: memory.own, pause });
    running.push({ slots: wave.slots, held: memory, finish });
  };
  const finishOne = async () => {
    const { slots, held: memory, finish } = running.shift()!;
    await finish();
    memory.dispose();
    done += slots * steps;
    await pacer.pause(done);
  };
  clock?.watch(stream);
  clock?.on(stream, "upload");
  const draws = members.upload(shared);
  task.upload?.(shared);
  clock?.off(stream);
  for (let first = 0; first < members.prefixes.length; first += task.waveSize) {
    start(members.wave(first, task.waveSize), draws);
    if (running.length >= task.wavesAtOnce) await finishOne();
  }
  while (running.length > 0) await finishOne();
  owned.dispose();
  pacer.finish();
  return { plan: planOf(context, engine, work, members, task), profile: clock?.read() };
}

function planOf(context: Context, engine: string, work: Evaluation, { prefixes, kernel }: SweptMembers, task: WaveTask): EnginePlan {
  const waves = Math.ceil(prefixes.length / task.waveSize);
  const { title, bytes, waveSize } = task;
  return {
    engine,
    summary: `${context.info.name}, ${title} by ${kernel.name} in ${waves === 1 ? "one wave" : `${waves} waves`}, ${formatBytes(bytes)}`,
    bytes,
    details: {
      ...{
        plan: work.ask.kind === "measures" ? "measures" : "sweep",
        ...task.details,
        reservoirs: work.members.length,
        seeds: work.bases.length,
      },
      ...{ kernel: kernel.name, waves, reservoirsPerWave: waveSize, ...fastDetail([kernel]) },
    },
  };
}
