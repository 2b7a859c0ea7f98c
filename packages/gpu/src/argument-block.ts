// A kernel's arguments in host memory: a table of addresses and then a slot for each value, filled
// again for each launch.
import { LaunchError } from "@spillway/core/errors.js";
import { HostBytes, type LaunchStream, store } from "./argument-writer.js";
import { alignUp, type Layout } from "./layout.js";
import type { DeviceSlice } from "./slice.js";

/** A slot is a whole number of eight bytes: every value is aligned. */
const slotBytes = ({ bytes }: Layout): number => alignUp(bytes, 8);

/**
 * Bytes of the table and the values of those parameters; some even for none, to give the table an
 * address.
 */
export function argumentBytes(parameters: readonly Layout[]): number {
  return parameters.reduce((sum, parameter) => sum + 8 + slotBytes(parameter), 16);
}

/** Where a kernel's arguments are written. */
export class ArgumentBlock {
  /** The address of the table, for `kernelParams`. */
  readonly address: bigint;
  readonly count: number;
  readonly #kernel: string;
  readonly #parameters: readonly Layout[];
  /**
   * For each parameter, the parameters whose product is the least number of elements it needs;
   * empty: any.
   */
  readonly #lengths: readonly (readonly number[])[];
  readonly #host: HostBytes;
  /** The position of each value. */
  readonly #offsets: readonly number[];

  /** Uses `memory` from byte `offset`, which is at `address`. */
  constructor(
    kernel: string,
    parameters: readonly Layout[],
    lengths: readonly (readonly number[])[],
    memory: ArrayBuffer,
    offset: number,
    address: bigint,
  ) {
    this.address = address;
    this.count = parameters.length;
    this.#kernel = kernel;
    this.#parameters = parameters;
    this.#lengths = lengths;
    this.#host = new HostBytes(memory, offset, argumentBytes(parameters));
    let next = 8 * this.count;
    this.#offsets = parameters.map((parameter, index) => {
      const here = next;
      this.#host.setLong(8 * index, address + BigInt(here));
      next += slotBytes(parameter);
      return here;
    });
  }

  /** @throws LaunchError if the number of arguments is another. */
  checkCount(given: number): void {
    if (given !== this.count) {
      const takes = this.#parameters.map(({ text }) => text).join(", ");
      throw new LaunchError(this.#kernel, `${given} arguments were given; it takes ${this.count}: (${takes})`, {
        field: "arguments",
        value: given,
        expected: `(${takes})`,
      });
    }
  }

  /** Writes an argument. @throws LaunchError if the parameter does not take it. */
  write(index: number, value: unknown, stream: LaunchStream): void {
    const refusal = store(this.#host, this.#offsets[index]!, this.#parameters[index]!, value, stream);
    if (refusal) throw new LaunchError(this.#kernel, `argument ${index}${refusal.path}${refusal.reason}`, { field: `arguments[${index}]` });
  }

  /**
   * Holds the lengths of buffers against the arguments that say how many elements the kernel
   * touches. @throws LaunchError.
   */
  checkLengths(values: ArrayLike<unknown>): void {
    for (let index = 0; index < this.#lengths.length; index++) {
      const factors = this.#lengths[index]!;
      const slice = values[index];
      if (factors.length === 0 || slice === null) continue;
      let elements = 1;
      for (let i = 0; i < factors.length; i++) elements *= Number(values[factors[i]!]);
      if ((slice as DeviceSlice).length < elements) {
        const said = factors.map((factor) => `argument ${factor}`).join(" times ");
        throw new LaunchError(
          this.#kernel,
          `argument ${index} has ${(slice as DeviceSlice).length} elements; the kernel touches ${elements} (${said})`,
          { field: `arguments[${index}]`, expected: `${elements} elements` },
        );
      }
    }
  }
}
