// The last launches of a stream, kept for the sentence of an error: a kernel's fault is reported by
// a later call. Noting one allocates nothing.

/** A launch as an error tells it. */
export interface LaunchRecord {
  readonly kernel: string;
  readonly stream: string;
  readonly grid: readonly [number, number, number];
  readonly block: readonly [number, number, number];
  /** Dynamic shared memory, in bytes. */
  readonly shared: number;
  /**
   * Where it was launched, file and line; undefined unless the device was opened with
   * `debug: true`, since finding it takes microseconds.
   */
  readonly source: string | undefined;
}

const kept = 8;
const fields = 8;

let launches = 0;

/** A ring of the last eight launches. */
export class LaunchHistory {
  readonly #stream: string;
  readonly #kernels: string[] = new Array<string>(kept).fill("");
  readonly #sources: (string | undefined)[] = new Array<string | undefined>(kept).fill(undefined);
  readonly #numbers = new Float64Array(kept * fields);
  #count = 0;

  constructor(stream: string) {
    this.#stream = stream;
  }

  /**
   * Notes a launch whose grid, block and shared memory are in `sizes` as in CUlaunchConfig: seven
   * 32-bit numbers.
   */
  note(kernel: string, sizes: Uint32Array, source: string | undefined): void {
    const slot = this.#count++ % kept;
    const at = slot * fields;
    this.#kernels[slot] = kernel;
    this.#sources[slot] = source;
    for (let i = 0; i < 7; i++) this.#numbers[at + i] = sizes[i]!;
    this.#numbers[at + 7] = launches++;
  }

  /** The launches kept, oldest first, each with its number in the order of all launches. */
  list(): { order: number; record: LaunchRecord }[] {
    const out: { order: number; record: LaunchRecord }[] = [];
    for (let i = Math.max(0, this.#count - kept); i < this.#count; i++) {
      const slot = i % kept;
      const n = this.#numbers.subarray(slot * fields, slot * fields + fields);
      const record: LaunchRecord = {
        kernel: this.#kernels[slot]!,
        stream: this.#stream,
        grid: [n[0]!, n[1]!, n[2]!],
        block: [n[3]!, n[4]!, n[5]!],
        shared: n[6]!,
        source: this.#sources[slot],
      };
      out.push({ order: n[7]!, record });
    }
    return out;
  }
}

/** The last eight launches of several streams, oldest first. */
export function recentLaunches(histories: Iterable<LaunchHistory>): readonly LaunchRecord[] {
  return [...histories]
    .flatMap((history) => history.list())
    .sort((a, b) => a.order - b.order)
    .slice(-kept)
    .map(({ record }) => record);
}

const dimensions = (size: readonly [number, number, number]) =>
  size[2] !== 1 ? `(${size.join(", ")})` : size[1] !== 1 ? `(${size[0]}, ${size[1]})` : `${size[0]}`;

/** `gemv_tanh<<<300, 128>>> at reservoir.ts:88`. */
export function describeLaunch({ kernel, grid, block, shared, source }: LaunchRecord): string {
  const shape = `${dimensions(grid)}, ${dimensions(block)}${shared > 0 ? `, ${shared}` : ""}`;
  return `${kernel}<<<${shape}>>>${source === undefined ? "" : ` at ${source}`}`;
}
