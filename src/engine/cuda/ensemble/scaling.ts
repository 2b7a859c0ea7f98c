// Weights and parameters of a sweep's members, made on the device from what their bases drew. Draws
// and factors come from the host, never a member's matrix.
import type { Context, Stream } from "@spillway/gpu";
import type { Precision } from "@spillway/numerics";
import { uploadSoon } from "../host-calls.js";
import { type AnyKernel, realKernel, realType } from "../kernels.js";
import type { RealSlice } from "../time-loop.js";
import type { Uploads } from "./uploads.js";

/** Rows of draws on the device, in binary64. */
export interface DeviceDraws {
  readonly values: RealSlice<"f64">;
  readonly columns: number;
  readonly label: string;
}

/** One row of what is made: row `draws`, times `factor`. */
export interface ScaledRow {
  readonly draws: number;
  readonly factor: number;
}

/** A grid's second axis, along which there is one row. */
const mostRows = 65_535;

/**
 * Draws times factors, each product rounded to binary64 and then to the precision
 * (docs/numerics.md, rule 7).
 */
export class Scaling {
  readonly #kernel: AnyKernel;
  readonly #rowsAtOnce: number;

  constructor(context: Context, precision: Precision, rowsAtOnce = mostRows) {
    this.#rowsAtOnce = rowsAtOnce;
    const parameters = ["const f64*", "const i32*", "const f64*", "i32", "i32", "real*"] as const;
    this.#kernel = realKernel(context, "reservoir_ensemble_general", `ensemble_scale_${realType(precision)}`, precision, parameters);
  }

  /** rows x columns in `memory`; rounded once more to 8 significant bits with `bfloat16`. */
  scale(stream: Stream, memory: Uploads, draws: DeviceDraws, rows: readonly ScaledRow[], bfloat16 = false): RealSlice {
    const { values, columns, label } = draws;
    const out = memory.real(rows.length * columns, label);
    if (rows.length * columns === 0) return out;
    const of = memory.table("i32", [Int32Array.from(rows, (row) => row.draws)], rows.length, `rows of ${label}`);
    const factors = memory.take("f64", rows.length, `factors of ${label}`);
    uploadSoon(
      stream,
      factors,
      Float64Array.from(rows, ({ factor }) => factor),
    );
    for (let first = 0; first < rows.length; first += this.#rowsAtOnce) {
      const end = Math.min(rows.length, first + this.#rowsAtOnce);
      const config = { grid: [Math.ceil(columns / 1024), end - first] as const, block: 256 };
      const made = out.slice(first * columns, end * columns);
      stream.launch(this.#kernel, config, values, of.slice(first, end), factors.slice(first, end), columns, bfloat16 ? 1 : 0, made);
    }
    return out;
  }
}
