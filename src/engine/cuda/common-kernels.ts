// The kernels beside the time loop that every plan uses: input drive, feedback sums, readout, and
// the look for states that are not finite.
import type { Context, DeviceSlice, Stream } from "@spillway/gpu";
import type { Precision } from "@spillway/numerics";
import { type AnyArgument, type AnyKernel, type CompiledSource, realKernel, realType, shippedKernel } from "./kernels.js";
import { NamedKernels } from "./named-kernels.js";
import type { DeviceReadout, RealSlice } from "./time-loop.js";

const file = "reservoir_step";

/** Which kernels. */
export interface CommonOptions {
  /** Where matvec_input comes from, which makes the drive. */
  readonly source?: CompiledSource;
  /** Whether the drive is in integers; default false. */
  readonly integers?: boolean;
}

/** Kernels of one precision on one context. */
export class CommonKernels {
  readonly #drive: NamedKernels["matvecInput"];
  readonly #readout: AnyKernel;
  readonly #firstNonFinite: AnyKernel;
  readonly #multiprocessors: number;

  constructor(context: Context, precision: Precision, { source, integers = false }: CommonOptions = {}) {
    const real = realType(precision);
    const kernel = (name: string, parameters: Parameters<typeof realKernel>[4]) =>
      realKernel(context, file, `${name}_${real}`, precision, parameters);
    const named = integers ? undefined : new NamedKernels(context, precision, { source }).load("matvec_input");
    this.#drive = named ? (...args) => named.matvecInput(...args) : integerDrive(context);
    this.#readout = kernel("readout", [
      ...(["const f64*", "const f64*", "const real*", "const real*", "i32", "i32", "i32", "i32", "real*", "real*"] as const),
    ]);
    this.#firstNonFinite = kernel("first_non_finite", ["const real*", "u64", "u64*"]);
    this.#multiprocessors = context.info.attributes.multiprocessors;
  }

  /**
   * The drive of steps, or their feedback sums: see `NamedKernels.matvecInput`. In integers all of
   * them are whole numbers of 32 bits, in steps of 2^-(15 + e).
   */
  drive(...args: Parameters<NamedKernels["matvecInput"]>): void {
    this.#drive(...args);
  }

  /**
   * y = readout(x, u), to `out` and, if it is not null, to `also`. docs/numerics.md, rule 10.
   */
  readout(
    stream: Stream,
    readout: DeviceReadout,
    x: RealSlice,
    u: RealSlice | null,
    size: number,
    out: RealSlice,
    also: RealSlice | null,
  ): void {
    const { features, weights, intercept, featureCount, outputs } = readout;
    const inputs = features.input && u ? u.length : 0;
    const squareHalf = features.state === "squareHalf" ? 1 : 0;
    const config = { grid: outputs, block: 256 };
    stream.launch(this.#readout, config, weights, intercept, x, u, size, inputs, squareHalf, featureCount, out, also);
  }

  /** Puts the index of the first value that is not finite into `first`, 2^64 - 1 if all are. */
  firstNonFinite(stream: Stream, values: RealSlice, first: DeviceSlice<"u64">): void {
    stream.fill(first.as("u32"), 0xffffffff);
    const grid = Math.max(1, Math.min(8 * this.#multiprocessors, Math.ceil(values.length / 1024)));
    stream.launch(this.#firstNonFinite, { grid, block: 256 }, values, values.length, first);
  }
}

/** Most blocks along a grid's second axis, each of which makes steps this far apart. */
const mostRows = 65_535;

function integerDrive(context: Context): NamedKernels["matvecInput"] {
  const name = "integer_drive";
  const parameters = ["const f32*", "const f32*", "const f32*", "f32*", "i32", "i32", "i32"] as const;
  const kernel: AnyKernel = shippedKernel(context, "reservoir_integer", name, parameters);
  return (stream, weights, bias, rows, out, { size, inputs, steps }) => {
    const config = { grid: [Math.ceil(size / 256), Math.min(mostRows, steps)] as const, block: 256 };
    stream.launch(kernel, config, ...([weights, bias, rows, out, size, inputs, steps] as AnyArgument[]));
  };
}
