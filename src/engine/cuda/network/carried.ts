// What a network carries from step to step in the memory of a device, and a copy to go back to.
import type { Context, DeviceBuffer, DeviceSlice, Stream } from "@spillway/gpu";
import { allocate, type FloatArray, type Precision } from "@spillway/numerics";
import type { NetworkRunState } from "../../../spikes/network/session.js";
import { type AnyBuffer, realType } from "../kernels.js";

/** Lists of the neurons' numbers, N values each; currents are as many as a network has. */
export type CarriedList = "potential" | "recovery" | "currents" | "filtered";

/** Sizes of what is carried. */
export interface CarriedShape {
  readonly precision: Precision;
  readonly size: number;
  readonly receptors: number;
  readonly currents: number;
  /** Rows of the ring of pending input. */
  readonly rows: number;
  /** In the kernel's order. */
  readonly lists: readonly CarriedList[];
}

interface Buffers {
  readonly state: AnyBuffer;
  readonly held: DeviceBuffer<"i32">;
  readonly ring: DeviceBuffer<"i32">;
}

/** What of a state is in the lists. */
export type CarriedValues = Pick<NetworkRunState, CarriedList | "held" | "pending">;

export class CarriedState implements Buffers {
  readonly state: AnyBuffer;
  readonly held: DeviceBuffer<"i32">;
  readonly ring: DeviceBuffer<"i32">;
  readonly #before: Buffers;
  readonly #context: Context;
  readonly #stream: Stream;
  readonly #shape: CarriedShape;

  /** @param stream orders all that is done to the state */
  constructor(context: Context, stream: Stream, shape: CarriedShape, own: <T extends { dispose(): void }>(thing: T) => T) {
    const { precision, size, receptors, rows } = shape;
    this.#context = context;
    this.#stream = stream;
    this.#shape = shape;
    const values = shape.lists.reduce((sum, name) => sum + this.#length(name), 0);
    const buffers = (): Buffers => ({
      state: own(context.zeros(realType(precision), values, { label: "state of the neurons" })) as AnyBuffer,
      held: own(context.zeros("i32", size, { label: "held" })),
      ring: own(context.zeros("i32", rows * receptors * size, { label: "pending input" })),
    });
    ({ state: this.state, held: this.held, ring: this.ring } = buffers());
    this.#before = buffers();
  }

  /** Keeps the state as it is now, in place of what was kept before. */
  keep(): void {
    this.#copy(this.#before, this);
  }

  /** Goes back to what was kept last. */
  restore(): void {
    this.#copy(this, this.#before);
  }

  /** A list; zeros if the kernel carries none. */
  get(name: CarriedList): FloatArray {
    const slice = this.#slice(name);
    if (!slice) return allocate(this.#shape.precision, this.#length(name));
    this.#stream.sync();
    return this.#context.read(slice) as FloatArray;
  }

  set(name: CarriedList, values: FloatArray): void {
    const slice = this.#slice(name);
    if (slice) this.#stream.upload(slice.slice(0, values.length), values as Float32Array<ArrayBuffer>);
  }

  /**
   * @param ringRows how many rows of pending input it is to have
   * @param row of the ring, the one that arrives next
   */
  getState(ringRows: number, row: number): CarriedValues {
    const { rows } = this.#shape;
    const cells = this.#cells;
    const lists = { potential: this.get("potential"), recovery: this.get("recovery"), filtered: this.get("filtered") };
    const ring = this.#context.read(this.ring);
    const pending = new Int32Array(ringRows * cells);
    for (let d = 0; d < Math.min(rows, ringRows); d++) {
      const from = ((row + d) % rows) * cells;
      pending.set(ring.subarray(from, from + cells), d * cells);
    }
    return { ...lists, currents: this.get("currents"), held: this.#context.read(this.held), pending };
  }

  setState(given: CarriedValues, row: number): void {
    const { rows, lists } = this.#shape;
    const cells = this.#cells;
    for (const name of lists) this.set(name, given[name]);
    this.#stream.upload(this.held, given.held as Int32Array<ArrayBuffer>);
    const ring = new Int32Array(rows * cells);
    for (let d = 0; d < given.pending.length / cells; d++)
      ring.set(given.pending.subarray(d * cells, (d + 1) * cells), ((row + d) % rows) * cells);
    this.#stream.upload(this.ring, ring);
    this.#stream.sync();
  }

  /** Of a row of the ring. */
  get #cells(): number {
    return this.#shape.receptors * this.#shape.size;
  }

  #length(name: CarriedList): number {
    return (name === "currents" ? this.#shape.currents : 1) * this.#shape.size;
  }

  #slice(name: CarriedList): DeviceSlice<"f32"> | undefined {
    const { lists } = this.#shape;
    const k = lists.indexOf(name);
    if (k < 0) return undefined;
    const from = lists.slice(0, k).reduce((sum, each) => sum + this.#length(each), 0);
    return this.state.slice(from, from + this.#length(name)) as DeviceSlice<"f32">;
  }

  #copy(to: Buffers, from: Buffers): void {
    this.#stream.copy(to.state as DeviceBuffer<"f32">, from.state as DeviceBuffer<"f32">);
    this.#stream.copy(to.held, from.held);
    this.#stream.copy(to.ring, from.ring);
  }
}
