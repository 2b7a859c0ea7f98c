// SpikingNetwork: a network of populations that is loaded in an engine, given stimuli, and
// recorded.
import { formatBytes } from "@spillway/core/bytes.js";
import { DisposedByAwaitUsing } from "@spillway/core/disposal.js";
import { ArgumentError, DisposedError } from "@spillway/core/errors.js";
import { namingOwner } from "@spillway/core/field-owner.js";
import { machineMemory } from "@spillway/core/machine-memory.js";
import { type InputOf, option, resolve, text } from "@spillway/core/options.js";
import { allocate, type FloatArray, Matrix } from "@spillway/numerics";
import { contextTable, threadsTable } from "../../reservoir/options.js";
import { WorkPacer } from "../../reservoir/work.js";
import { type NetworkConfig, type NetworkOptions, networkTable } from "./config.js";
import { currentDrive } from "./currents.js";
import { initialValues } from "./draw.js";
import { openNetwork } from "./engines.js";
import type { NetworkPlan, PlasticTable } from "./plan.js";
import { resistanceOf } from "./planned-neurons.js";
import { planNetwork } from "./planning.js";
import {
  inputSpikes,
  type NetworkRecord,
  type NetworkRunOptions,
  type NetworkWeights,
  type NetworkWeightsOptions,
  networkRunTable,
  networkWeightsTable,
  populationOf,
  SpikeRecorder,
  wholeSteps,
} from "./recording.js";
import { checkState } from "./run-state.js";
import { sliceOf } from "./schema.js";
import { initialState, type NetworkRunState, type NetworkSession, type StepSpikes } from "./session.js";
import { copyRanges } from "./state-values.js";

/** The options of `SpikingNetwork.create`. */
export const spikingNetworkTable = {
  ...contextTable,
  /** "auto" (default), or the name of an engine. Every engine gives the same bits. */
  engine: option(text("the name of an engine"), "auto", "Where the network runs."),
  /**
   * Threads of the CPU engine at most, default 1; more give the same bits. Small networks, and
   * those whose synapses change, run on one: `SpikingNetwork.engine` says so.
   */
  threads: threadsTable.threads,
};

/** Where a network runs. */
export interface SpikingNetworkOptions extends InputOf<typeof contextTable>, InputOf<typeof spikingNetworkTable> {}

const fieldOwners = {
  "the second argument, beside the description": spikingNetworkTable,
  "the description, the first argument": networkTable,
};

/** Synapses that `frozen` lists at most. */
const mostFrozen = 2 ** 24;

/** Bytes of an array at most. */
const mostListBytes = 2 ** 32;

/** Steps between two looks at the signal: some hundred ms of work for a large network. */
const chunkSteps = 200;

/**
 * A network of populations and projections, drawn from its description and loaded in an engine.
 *
 * @example
 * await using network = await SpikingNetwork.create(microcircuit({ scale: 0.1, drive: "poisson"
 * })); const { rates, spikes } = await network.run(1000, { spikes: true });
 */
export class SpikingNetwork extends DisposedByAwaitUsing {
  readonly #session: NetworkSession;
  readonly #drive: FloatArray;
  #busy = false;
  #disposed = false;

  private constructor(session: NetworkSession) {
    super();
    this.#session = session;
    this.#drive = initialValues(session.plan).drive;
  }

  /**
   * Checks a description, draws the network and opens an engine. @throws ArgumentError,
   * EngineUnavailableError, EngineCapacityError before a synapse is drawn
   */
  static async create(options: NetworkOptions, create: SpikingNetworkOptions = {}): Promise<SpikingNetwork> {
    return namingOwner(
      async () => fieldOwners,
      async () => {
        const { engine, ...on } = resolve(spikingNetworkTable, create);
        const plan = planNetwork(options);
        return new SpikingNetwork(await openNetwork(engine, plan, on));
      },
    );
  }

  /** Ranges, constants and samplers of the network. */
  get plan(): NetworkPlan {
    return this.#session.plan;
  }

  /** The description with every default filled in. */
  get config(): NetworkConfig {
    return this.plan.config;
  }

  /** The engine in one line. */
  get engine(): string {
    return this.#session.summary;
  }

  /**
   * Runs on for so many ms of model time.
   *
   * @returns what was asked for; rates of all populations whose spikes were recorded
   * @throws ArgumentError; WorkInterruptedError if the signal stops it, with the network where it
   * stopped; SpillwayError if a potential is not finite, with the network as it was before
   */
  async run(durationMs: number, options: NetworkRunOptions = {}): Promise<NetworkRecord> {
    const { spikes, potentials, states, weights, inputs, currents, ...work } = resolve(networkRunTable, options);
    this.#checkIdle();
    const { plan } = this;
    const { timeStep } = this.config;
    const steps = wholeSteps(durationMs, timeStep, "durationMs");
    const recorded =
      spikes === true ? plan.populations : spikes === false ? [] : spikes.map((name, k) => populationOf(plan, name, `spikes[${k}]`));
    const sorted = [...recorded].sort((a, b) => a.first - b.first);
    const recorder = new SpikeRecorder(sorted);
    const samples = this.#samples({ potentials, states, weights }, steps);
    const given = inputSpikes(plan, inputs ?? {}, steps);
    const drive = currentDrive(plan, this.#drive, currents ?? [], steps);
    const pacer = new WorkPacer(work, steps);
    this.#busy = true;
    await this.#session.keep();
    try {
      let changed = 0;
      for (let t = 0; t < steps; ) {
        const change = drive.after(t);
        if (drive.changes && t === changed) await this.#session.setDrive(drive.at(t));
        changed = change;
        const stops = [t + (this.#session.stepsPerCall ?? chunkSteps), steps, change];
        for (const { every } of samples) stops.push((Math.floor(t / every) + 1) * every);
        const next = Math.min(...stops);
        const found = await this.#session.advance(next - t, given && part(given, t, next), sorted.length > 0);
        if (found) recorder.add(found, t, timeStep);
        for (const { every, matrix, read, take } of samples) if (next % every === 0) take((await read())!, matrix.row(next / every - 1));
        t = next;
        await pacer.pause(t);
      }
    } catch (error) {
      if (!(error instanceof Error && error.name === "AbortError")) await this.#session.restore();
      throw error;
    } finally {
      if (drive.changes) await this.#session.setDrive(this.#drive);
      this.#busy = false;
    }
    const patterns = recorder.patterns(durationMs);
    const of = (kind: Sample["kind"]) =>
      Object.fromEntries(samples.filter((sample) => sample.kind === kind).map(({ name, matrix }) => [name, matrix]));
    return {
      durationMs,
      spikes: patterns,
      rates: Object.fromEntries(sorted.map(({ name, size }) => [name, patterns[name]!.times.length / size / (durationMs / 1000)])),
      potentials: of("potentials"),
      states: of("states")[""],
      weights: of("weights"),
    };
  }

  /**
   * The synapses of a projection with spike-timing-dependent plasticity, and their weights now.
   * @param projection its number in the description @throws ArgumentError if it has none
   */
  async weights(projection: number, options: NetworkWeightsOptions = {}): Promise<NetworkWeights> {
    const { sample } = resolve(networkWeightsTable, options);
    this.#checkHere();
    const { k, table, perUnit } = this.#plastic(projection, "projection");
    const { source, target, receptor } = table.projection;
    const { cellBits, size, config, populations, inputPopulations } = this.plan;
    const firstOf = ({ first }: { readonly first: number }) =>
      [...populations, ...inputPopulations].find((each) => first >= each.first && first < each.first + each.size)!.first;
    const units = (await this.#session.getWeights(k))!;
    const count = Math.min(units.length, sample ?? units.length);
    const chosen = (n: number) => Math.floor((n * units.length) / count);
    const first = receptor * size + firstOf(target);
    let j = 0;
    return {
      sources: Uint32Array.from({ length: count }, (_, n) => {
        while (table.offsets[j + 1]! <= chosen(n)) j++;
        return source.first - firstOf(source) + j;
      }),
      targets: Uint32Array.from({ length: count }, (_, n) => (table.packed[chosen(n)]! & (2 ** cellBits - 1)) - first),
      delays: Float64Array.from({ length: count }, (_, n) => (table.packed[chosen(n)]! >>> cellBits) * config.timeStep),
      weights: Float64Array.from({ length: count }, (_, n) => units[chosen(n)]! * perUnit),
    };
  }

  /**
   * The description of this network with the weights that it has learned. Projections with
   * spike-timing-dependent plasticity become lists of their synapses, whose weights are what a
   * spike brings now and no longer change; all else is drawn as before. It is a reservoir, too:
   * `{ ...(await network.frozen()), rowMs: 5 }`.
   * @throws ArgumentError for more than 2^24 such synapses
   */
  async frozen(): Promise<NetworkConfig> {
    this.#checkHere();
    const { config, fractionBits, cellBits, size } = this.plan;
    const projections = [];
    for (const [index, projection] of config.projections.entries()) {
      const { connect, plasticity } = projection;
      if (plasticity?.kind !== "stdp") {
        projections.push(projection);
        continue;
      }
      const { k, table, perUnit } = this.#plastic(index, "projection");
      const { offsets, packed } = table;
      const { source, target, receptor } = table.projection;
      if (packed.length > mostFrozen)
        throw ArgumentError.because(`projections[${index}] has ${packed.length} plastic synapses; frozen() lists at most ${mostFrozen}`);
      const units = (await this.#session.getWeights(k))!;
      const synapses: number[][] = [];
      for (let j = 0; j < source.size; j++)
        for (let s = offsets[j]!; s < offsets[j + 1]!; s++) {
          const i = (packed[s]! & (2 ** cellBits - 1)) - receptor * size - target.first;
          synapses.push([j, i, Math.floor(units[s]! + 0.5) * perUnit, (packed[s]! >>> cellBits) * config.timeStep]);
        }
      const inDegree = connect.rule === "fixedInDegree" ? connect.number : connect.rule === "list" ? connect.inDegree : undefined;
      const list = { rule: "list" as const, synapses, ...(inDegree !== undefined && { inDegree }) };
      projections.push({ ...projection, connect: list, plasticity: null });
    }
    return { ...config, fractionBits, projections };
  }

  /** A projection whose weights change, and what one unit is. @throws ArgumentError */
  #plastic(projection: number, field: string): { readonly k: number; readonly table: PlasticTable; readonly perUnit: number } {
    const { plastic } = this.#session;
    const k = plastic.findIndex((each) => each.projection.index === projection && each.projection.plasticity?.kind === "stdp");
    const table = plastic[k];
    if (!table) {
      const known = plastic.filter((each) => each.projection.plasticity?.kind === "stdp").map((each) => each.projection.index);
      const takes = known.length > 0 ? known.sort((a, b) => a - b).join(", ") : "none: no projection of this network has it";
      throw new ArgumentError(field, projection, `the number of a projection with spike-timing-dependent plasticity: ${takes}`);
    }
    const { config, fractionBits } = this.plan;
    const to = sliceOf(config.projections[projection]!.to, "to", config.populations).name;
    return { k, table, perUnit: (table.projection.sign * 2 ** -fractionBits) / resistanceOf(config.populations[to]!) };
  }

  /** What is recorded every so many steps. @throws ArgumentError */
  #samples({ potentials, states, weights }: Pick<NetworkRunOptions, Sample["kind"]>, steps: number): Sample[] {
    const { plan } = this;
    const { timeStep } = plan.config;
    const session = this.#session;
    const samples: Sample[] = [];
    const sampler = (kind: Sample["kind"], { everyMs = timeStep }: { readonly everyMs?: number | undefined }) => {
      const every = wholeSteps(everyMs, timeStep, `${kind}.everyMs`);
      return (name: string | number, cols: number, from: Pick<Sample, "read" | "take">) =>
        samples.push({ kind, name, every, matrix: rowsOf(plan, Math.floor(steps / every), cols), ...from });
    };
    if (potentials) {
      const add = sampler("potentials", potentials);
      for (const [name, neurons] of Object.entries(potentials.neurons)) {
        const { first, size, neuron } = populationOf(plan, name, `potentials.neurons.${name}`);
        for (const each of neurons) if (each >= size) throw new ArgumentError(`potentials.neurons.${name}`, each, `neurons below ${size}`);
        add(name, neurons.length, {
          read: () => session.getValues("potential"),
          take: (potential, row) => {
            for (const [k, each] of neurons.entries()) row[k] = potential[first + each]! + neuron.rest;
          },
        });
      }
    }
    if (states) {
      const add = sampler("states", states);
      const populations = states.of.map((name, k) => {
        const population = populationOf(plan, name, `states.of[${k}]`);
        if (population.stateKeep === null) throw new ArgumentError(`states.of[${k}]`, name, "populations with a stateTimeConstant");
        return population;
      });
      const neurons = populations.reduce((sum, { size }) => sum + size, 0);
      add("", neurons, { read: () => session.getValues("filtered"), take: (filtered, row) => copyRanges(populations, filtered, row) });
    }
    if (weights) {
      const add = sampler("weights", weights);
      for (const [at, index] of weights.of.entries()) {
        const { k, table, perUnit } = this.#plastic(index, `weights.of[${at}]`);
        const synapses = table.packed.length;
        const count = Math.min(synapses, weights.sample ?? synapses);
        add(index, count, {
          read: () => session.getWeights(k),
          take: (units, row) => {
            for (let n = 0; n < count; n++) row[n] = units[Math.floor((n * synapses) / count)]! * perUnit;
          },
        });
      }
    }
    return samples;
  }

  /** A copy of what the network carries from step to step. */
  async getState(): Promise<NetworkRunState> {
    this.#checkHere();
    return this.#session.getState();
  }

  /**
   * Puts the network into a state that `getState` gave. @throws ArgumentError for another network's
   */
  async setState(state: NetworkRunState): Promise<void> {
    this.#checkIdle();
    checkState(state, this.#start(), this.plan, this.#session.plastic);
    await this.#session.setState(state);
  }

  /** Back to the state before the first step. */
  async reset(): Promise<void> {
    this.#checkIdle();
    await this.#session.setState(this.#start());
  }

  #start(): NetworkRunState {
    const { plan, plastic } = this.#session;
    return initialState({ ...plan, ...initialValues(plan), plastic });
  }

  #checkHere(): void {
    if (this.#disposed) throw new DisposedError("the network");
  }

  #checkIdle(): void {
    this.#checkHere();
    if (this.#busy) throw ArgumentError.because("the network is running; wait for that run to end");
  }

  /** Gives memory back. Idempotent. */
  dispose(): Promise<void> {
    this.#disposed = true;
    return this.#session.dispose();
  }
}

/** What is recorded every so many steps, a row at a time. */
interface Sample {
  readonly kind: "potentials" | "states" | "weights";
  /** Of a population, or the number of a projection; "" of states. */
  readonly name: string | number;
  readonly every: number;
  readonly matrix: Matrix;
  read(): ReturnType<NetworkSession["getWeights"]>;
  take(values: FloatArray, row: FloatArray): void;
}

/** @throws ArgumentError for more than the machine holds */
function rowsOf({ precision }: NetworkPlan, rows: number, cols: number): Matrix {
  const bytes = rows * cols * (precision === "float32" ? 4 : 8);
  if (bytes > Math.min(machineMemory(), mostListBytes))
    throw ArgumentError.because(`${rows} rows of ${cols} recorded values take ${formatBytes(bytes)}; record fewer, or more rarely`);
  return new Matrix(rows, cols, allocate(precision, rows * cols));
}

/** The spikes of steps `from` to `to`. */
function part({ offsets, neurons }: StepSpikes, from: number, to: number): StepSpikes {
  const first = offsets[from]!;
  return { offsets: offsets.slice(from, to + 1).map((each) => each - first), neurons: neurons.subarray(first, offsets[to]) };
}
