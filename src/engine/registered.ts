// Reservoirs of registered kinds on the host: the kind's own step, one at a time.
import { formatBytes } from "@spillway/core/bytes.js";
import { SpillwayError } from "@spillway/core/errors.js";
import { callback } from "@spillway/core/options.js";
import type { Context } from "@spillway/gpu";
import { allocate, type FloatArray, isSparse } from "@spillway/numerics";
import type { EngineOptions, EnginePlan, EngineSession } from "../reservoir/engine.js";
import { type KindRunner, type KindStep, reservoirKinds } from "../reservoir/registered/kind.js";
import type { RegisteredModel } from "../reservoir/registered/model.js";
import { HostStepper, type Stepper, stepperSession } from "./host-steps.js";
import { clockFor } from "./phase-clock.js";

const stepKind = callback<KindStep>("a function of a model that returns its step, a function");

/** Opens a model by the kind's own runner, or by its step in JavaScript. */
export async function openRegistered(engine: string, model: RegisteredModel, options?: EngineOptions): Promise<EngineSession> {
  return (
    (await openRunner(engine, model, options)) ??
    stepperSession(model, planOf(engine, model), new RegisteredStepper(model), clockFor(options))
  );
}

/** How an engine would run a kind on the host, or by the kind's own runner. */
export function planOf(engine: string, { config, precision, size, below, matrices }: RegisteredModel, runner?: KindRunner): EnginePlan {
  const kind = reservoirKinds.get(config.kind, "kind");
  const values = Object.values(matrices).reduce((sum, each) => sum + (isSparse(each) ? each.values.length : each.data.length), 0);
  const bytes = (values + 2 * (size + below)) * (precision === "float32" ? 4 : 8) + (kind.sizes(config).bytes ?? 0);
  const how = runner ? `(${runner.summary})` : kind.runner ? `on ${engine}` : "in JavaScript, one step at a time";
  return {
    engine,
    summary: `the kind "${config.kind}" ${how}, ${formatBytes(bytes)}`,
    bytes,
    details: { kind: config.kind, precision, states: size, ...(below > 0 && { hidden: below }) },
  };
}

/**
 * A session of a kind that has a runner; undefined for other kinds. @throws what the runner throws
 */
export async function openRunner(
  engine: string,
  model: RegisteredModel,
  options?: EngineOptions,
  context?: Context,
): Promise<EngineSession | undefined> {
  const runner = await reservoirKinds.get(model.config.kind, "kind").runner?.(model, engine, options?.threads ?? 1, context);
  return runner && stepperSession(model, planOf(engine, model, runner), new RunnerStepper(model, runner), clockFor(options));
}

/** Steps of a registered kind, one after the other, by its own stepper. */
export class RegisteredStepper extends HostStepper<RegisteredModel> implements Stepper {
  readonly #step: KindStep;
  /** States, then hidden values. */
  protected x: FloatArray;
  #next: FloatArray;

  constructor(model: RegisteredModel, capacity = 16) {
    super(model, capacity);
    const { precision, size, below, config } = model;
    this.#step = stepKind.read(reservoirKinds.get(config.kind, "kind").stepper!(model), `stepper of the kind "${config.kind}"`);
    this.x = allocate(precision, size + below);
    this.#next = allocate(precision, size + below);
  }

  getValues(): FloatArray {
    return this.x.subarray(0, this.model.size);
  }

  setValues(values: FloatArray): void {
    this.x.set(values);
  }

  getBelow(): FloatArray {
    return this.x.subarray(this.model.size);
  }

  setBelow(values: FloatArray): void {
    this.x.set(values, this.model.size);
  }

  advance(steps: number, step: number, sequence: number): number {
    const { size } = this.model;
    for (let t = 0; t < steps; t++) {
      this.#step(this.x, this.given(t)[0], this.#next, step + t, sequence);
      this.states.set(this.#next.subarray(0, size), t * size);
      // x stays what it was before a step that is not finite.
      if (!this.#next.every(Number.isFinite)) return t;
      [this.x, this.#next] = [this.#next, this.x];
    }
    return steps;
  }
}

/** Rows of a chunk that a kind's runner makes. */
const runnerRows = 64;

/** Steps by a kind's own runner. The state comes to the host only if it is asked for. */
class RunnerStepper extends HostStepper<RegisteredModel> implements Stepper {
  readonly onlyLater: boolean;
  /** Of a runner that gives promises. */
  readonly advanceLater?: NonNullable<Stepper["advanceLater"]>;
  readonly #runner: KindRunner;
  /** States, then hidden values; not the runner's while `#isChanged`. */
  #x: FloatArray;
  #isChanged = true;
  /** Whether hidden values have moved on since they were read. */
  #isBehind = false;

  constructor(model: RegisteredModel, runner: KindRunner) {
    super(model, runnerRows);
    this.onlyLater = runner.later;
    if (runner.later) this.advanceLater = (rows, step, sequence) => this.#later(rows, step, sequence);
    this.#runner = runner;
    this.#x = allocate(model.precision, model.size + model.below);
  }

  getValues(): FloatArray {
    return this.#x.subarray(0, this.model.size);
  }

  setValues(values: FloatArray): void {
    this.#catchUp();
    this.#x.set(values);
    this.#isChanged = true;
  }

  getBelow(): FloatArray {
    this.#catchUp();
    return this.#x.subarray(this.model.size);
  }

  setBelow(values: FloatArray): void {
    this.#x.set(values, this.model.size);
    this.#isChanged = true;
    this.#isBehind = false;
  }

  advance(rows: number, step: number, sequence: number): number {
    if (this.onlyLater)
      throw new SpillwayError("unavailable", "this reservoir makes no single steps at once on a device; run and forecast rows");
    if (this.#isChanged) this.#runner.setState(this.#x, step, sequence);
    this.#isChanged = false;
    return this.#made(this.#runner.advance(this.inputs, this.states, rows) as number);
  }

  async #later(rows: number, step: number, sequence: number): Promise<number> {
    if (this.#isChanged) await this.#runner.setState(this.#x, step, sequence);
    this.#isChanged = false;
    const made = this.#made(await this.#runner.advance(this.inputs, this.states, rows));
    this.#x = await this.#runner.getState();
    this.#isBehind = false;
    return made;
  }

  override dispose(): Promise<void> {
    return this.#runner.dispose();
  }

  #made(rows: number): number {
    if (rows > 0) this.#x.set(this.states.subarray((rows - 1) * this.model.size, rows * this.model.size));
    this.#isBehind = true;
    return rows;
  }

  #catchUp(): void {
    if (!this.#isBehind) return;
    this.#x = this.#runner.getState() as FloatArray;
    this.#isBehind = false;
  }
}
