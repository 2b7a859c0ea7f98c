/**
 * Benchmark series: generators with their equations, the list of them, and the split into training
 * and test. Real data is io's.
 */
import { callback, choice } from "@spillway/core/options.js";
import { Registry } from "@spillway/core/registry.js";
import { doubleScrollTask, lorenz96Task, lorenzTask, multiscrollTask, rabinovichFabrikantTask, rosslerTask } from "./flows.js";
import { kuramotoSivashinskyTask } from "./kuramoto-sivashinsky.js";
import { mackeyGlassTask } from "./mackey-glass.js";
import { henonTask, logisticTask } from "./maps.js";
import { memoryTaskEntry } from "./memory-task.js";
import { msoTask } from "./mso.js";
import { narmaTask } from "./narma.js";
import type { KnownLyapunovExponent, Task } from "./task.js";

export {
  type DoubleScrollOptions,
  doubleScroll,
  type Lorenz96Options,
  type LorenzOptions,
  lorenz,
  lorenz96,
  type MultiscrollOptions,
  multiscroll,
  type RabinovichFabrikantOptions,
  type RosslerOptions,
  rabinovichFabrikant,
  rossler,
} from "./flows.js";
export type { FlowOptions, SamplingOptions } from "./integrate.js";
export { type KuramotoSivashinskyOptions, kuramotoSivashinsky } from "./kuramoto-sivashinsky.js";
export { type MackeyGlassOptions, mackeyGlass } from "./mackey-glass.js";
export { type HenonOptions, henon, type LogisticOptions, logistic } from "./maps.js";
export { type MemoryTaskOptions, memoryTask } from "./memory-task.js";
export { type MsoOptions, mso, msoFrequencies } from "./mso.js";
export { type NarmaOptions, narma, narma30 } from "./narma.js";
export { type DrivenTask, generateTask, type InputsAndTargets, type KnownLyapunovExponent, type SeriesTask, type Task } from "./task.js";
export { type ForecastingSplit, type ToForecastingOptions, toForecasting } from "./to-forecasting.js";

/** Every benchmark task, by name. */
export const tasks: Registry<Task> = new Registry<Task>(
  {
    kind: "task",
    register: "registerTask",
    needs: { kind: choice("series", "driven"), generate: callback("a function of length and options") },
  },
  [
    mackeyGlassTask,
    narmaTask,
    lorenzTask,
    rosslerTask,
    lorenz96Task,
    henonTask,
    logisticTask,
    kuramotoSivashinskyTask,
    msoTask,
    multiscrollTask,
    doubleScrollTask,
    rabinovichFabrikantTask,
    memoryTaskEntry,
  ],
);

/**
 * Adds a task: `spillway tasks`, experiment files and the lab find it by its name.
 * @throws ArgumentError for a name that another task has, or a field that is missing or malformed
 */
export function registerTask(task: Task): void {
  tasks.register(task);
}

/**
 * The largest Lyapunov exponent of a task with these options (natural logarithm, per unit of time
 * or per iteration), with its source; undefined if it is not known for these parameters.
 */
export function knownLyapunovExponent(name: string, options: Readonly<Record<string, unknown>> = {}): KnownLyapunovExponent | undefined {
  const known = tasks.find(name)?.lyapunovExponents ?? [];
  return known.find(({ parameters }) => Object.entries(parameters).every(([option, value]) => setting(name, option, options) === value));
}

/**
 * The time between two rows of a task with these options, in the unit of its Lyapunov exponent; 1
 * for maps and other series in steps.
 */
export function samplingInterval(name: string, options: Readonly<Record<string, unknown>> = {}): number {
  const dt = setting(name, "dt", options);
  return typeof dt === "number" ? dt : 1;
}

/** An option as it is given or, left out, by default. */
function setting(name: string, option: string, options: Readonly<Record<string, unknown>>): unknown {
  return options[option] ?? tasks.find(name)?.options[option]?.default;
}
