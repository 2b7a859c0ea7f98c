// What a neuron's step takes beside W x: drive, feedback, noise, activation and leak, and where its
// states go. How states travel is not here.
import type { Pointer, PtxKernel, Value, Variable } from "../builder/index.js";
import { checkWord } from "./generated-kernel.js";
import type { PersistentArithmetic, PersistentRows } from "./persistent-rows.js";
import { type NoiseKey, noise } from "./philox.js";
import { approximateTanh, leakyIntegration, portableTanh } from "./portable.js";

type F = Value<"f32">;
type U = Value<"u32">;

/** What the steps of a persistent kernel are made of. */
export interface NeuronShape {
  /** f. Default "tanh". */
  readonly activation?: "tanh" | "identity" | "relu" | "sigmoid";
  /** Whether there is a further argument `feedback`, steps x N, added behind W x. Default false. */
  readonly feedback?: boolean;
  /**
   * Whether noise is drawn (docs/numerics.md, rule 6); further arguments firstStep, noiseLevel,
   * key0, key1, sequence. Default false.
   */
  readonly noise?: boolean;
  /**
   * Whether there is an argument `firstStep`, from which a report counts steps. Default as `noise`.
   */
  readonly firstStep?: boolean;
  /** Whether `states` may be null. Default false. */
  readonly statesOptional?: boolean;
  /**
   * "fast" fuses products and sums, in another order, and takes an approximate tanh: not the bits
   * of docs/numerics.md. Default "portable".
   */
  readonly arithmetic?: PersistentArithmetic;
}

/** @throws ArgumentError, PtxBuildError on an activation or arithmetic that there is not */
export function checkNeuron(kernel: string, { activation, arithmetic }: NeuronShape): void {
  checkWord(kernel, "activation", activation, ["tanh", "identity", "relu", "sigmoid"]);
  checkWord(kernel, "arithmetic", arithmetic, ["portable", "fast"]);
}

/** The arguments of the steps. */
export interface StepMemory {
  readonly leak: Pointer<"global", "f32">;
  readonly drive: Pointer<"global", "f32">;
  readonly feedback: Pointer<"global", "f32"> | undefined;
  readonly state: Pointer<"global", "f32">;
  readonly states: Pointer<"global", "f32">;
}

/** Declares the arguments of the steps, those of noise apart. */
export function stepArguments(k: PtxKernel, { feedback }: NeuronShape): StepMemory {
  const [leak, drive] = [k.pointer("f32", "leak"), k.pointer("f32", "drive")];
  const fed = feedback ? k.pointer("f32", "feedback") : undefined;
  return { leak, drive, feedback: fed, state: k.pointer("f32", "state"), states: k.pointer("f32", "states") };
}

/** The arguments behind all others. */
export interface RunArguments {
  readonly firstStep: U | undefined;
  readonly noise: NoiseKey | undefined;
}

/** Declares the arguments behind all others. */
export function runArguments(k: PtxKernel, { noise: noisy = false, firstStep: counts = noisy }: NeuronShape): RunArguments {
  const firstStep = counts || noisy ? k.parameter("u32", "firstStep") : undefined;
  if (!noisy || !firstStep) return { firstStep, noise: undefined };
  const level = k.parameter("f32", "noiseLevel");
  const [key0, key1, sequence] = ["key0", "key1", "sequence"].map((name) => k.parameter("u32", name));
  return { firstStep, noise: { level, key0: key0!, key1: key1!, firstStep, sequence: sequence! } };
}

/** A row of an array for each step; the next one is fetched ahead. */
interface Incoming {
  readonly value: Variable<"f32">;
  readonly from: Pointer<"global", "f32">;
  readonly address: Variable<"u64">;
}

/** The steps of this lane's neuron. Lanes with the same neuron do the same; one of them stores. */
export class NeuronStep {
  /** Where its state stands among the others; past all places in lanes that are left over. */
  readonly place: U;
  /** The neuron's number; past the last if there are no more. */
  readonly index: U;
  /** Whether this lane fills the neuron's place among the states, be it of a neuron or of none. */
  readonly fills: Value<"pred">;
  private readonly k: PtxKernel;
  private readonly size: number;
  private readonly memory: StepMemory;
  private readonly steps: U;
  private readonly shape: NeuronShape;
  private readonly noiseKey: NoiseKey | undefined;
  private readonly exists: Value<"pred">;
  private readonly writes: Value<"pred">;
  private readonly stores: Value<"pred">;
  private readonly leak: F;
  private readonly keep: F;
  private readonly x: Variable<"f32">;
  private readonly drive: Variable<"f32">;
  private readonly next: Pointer<"global", "f32">;
  private readonly nextAddress: Variable<"u64">;
  private readonly to: Pointer<"global", "f32">;
  private readonly toAddress: Variable<"u64">;
  private readonly feedback: Incoming | undefined;
  private readonly noise: Variable<"f32"> | undefined;

  constructor(k: PtxKernel, rows: PersistentRows, first: U, memory: StepMemory, steps: U, shape: NeuronShape, noiseKey?: NoiseKey) {
    this.k = k;
    this.size = rows.size;
    this.memory = memory;
    this.steps = steps;
    this.shape = shape;
    this.noiseKey = noiseKey;
    const { offset, writes } = rows.place(k);
    this.place = k.add(first, offset);
    this.index = rows.neuronAt(k, this.place);
    this.exists = k.compare("lt", this.index, rows.size);
    this.fills = k.and(writes, k.compare("lt", this.place, rows.padded));
    const stores = k.and(writes, this.exists);
    this.writes = stores;
    this.stores = shape.statesOptional ? k.and(stores, k.compare("ne", memory.states.base, 0)) : stores;
    this.leak = this.first(memory.leak);
    this.keep = k.sub(k.constant("f32", 1), this.leak);
    this.x = k.variable("f32", this.first(memory.state));
    this.drive = k.variable("f32", this.first(memory.drive, k.and(this.exists, k.compare("ne", steps, 0))));
    const [from, to] = [k.at(memory.drive, this.index), k.at(memory.states, this.index)];
    this.nextAddress = k.variable("u64", from.base);
    this.toAddress = k.variable("u64", to.base);
    this.next = k.through(from, this.nextAddress);
    this.to = k.through(to, this.toAddress);
    if (memory.feedback) {
      const fed = k.at(memory.feedback, this.index);
      const address = k.variable("u64", fed.base);
      const value = k.variable("f32", this.first(memory.feedback, k.and(this.exists, k.compare("ne", steps, 0))));
      this.feedback = { value, from: k.through(fed, address), address };
    }
    if (noiseKey) this.noise = k.variable("f32", noise(k, noiseKey, noiseKey.firstStep, this.index));
  }

  /** The neuron's number in an array; 0 for no neuron, whose state then stays 0. */
  private first(array: Pointer<"global", "f32">, where = this.exists): F {
    return this.k.load(this.k.at(array, this.index), { where, otherwise: 0 });
  }

  /** x after a step. */
  advance(dot: F): F {
    const { k } = this;
    let z = k.add(this.drive, dot);
    if (this.feedback) z = k.add(z, this.feedback.value);
    if (this.noise) z = k.add(z, this.noise);
    const activated = this.activate(z);
    const fast = this.shape.arithmetic === "fast";
    k.assign(
      this.x,
      fast ? k.fma(this.leak, activated, k.mul(this.keep, this.x)) : leakyIntegration(k, this.keep, this.x, this.leak, activated),
    );
    return this.x;
  }

  private activate(z: F): F {
    const { k } = this;
    const { activation = "tanh", arithmetic } = this.shape;
    const tanh = arithmetic === "fast" ? approximateTanh : portableTanh;
    switch (activation) {
      case "tanh":
        return tanh(k, z);
      case "sigmoid":
        return k.add(k.mul(tanh(k, k.mul(z, 0.5)), 0.5), 0.5);
      case "relu":
        // A NaN fails the comparison and stays.
        return k.select(k.compare("le", z, 0), k.constant("f32", 0), z);
      case "identity":
        return z;
    }
  }

  /** Stores the state, which nobody waits for, and fetches what the next step takes. */
  finish(step: U): void {
    const { k, size } = this;
    k.store(this.to, this.x, { where: this.stores });
    k.assign(this.toAddress, k.add(this.toAddress, 4 * size));
    k.assign(this.nextAddress, k.add(this.nextAddress, 4 * size));
    const more = k.and(this.exists, k.compare("lt", k.add(step, 1), this.steps));
    k.assign(this.drive, k.load(this.next, { where: more, otherwise: 0 }));
    if (this.feedback) {
      const { value, from, address } = this.feedback;
      k.assign(address, k.add(address, 4 * size));
      k.assign(value, k.load(from, { where: more, otherwise: 0 }));
    }
    if (this.noise && this.noiseKey) {
      const { firstStep } = this.noiseKey;
      k.assign(this.noise, noise(k, this.noiseKey, k.add(k.add(firstStep, step), 1), this.index));
    }
  }

  end(): void {
    const { k } = this;
    k.store(k.at(this.memory.state, this.index), this.x, { where: this.writes });
  }
}
