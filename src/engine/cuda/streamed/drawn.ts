// Draws W on the device, from the streams that the host would draw it from (kernels/reservoir_weights.cu).
import type { Context, Stream } from "../../../gpu/index.js";
import type { WeightDraws, RowSums } from "../../../reservoir/weight-draws.js";
import { disposeAll } from "../dispose.js";
import { type AnyBuffer, type AnyKernel, loadEntries } from "../kernels.js";

const threads = 128;
const file = "reservoir_weights";
/** What every kernel that draws takes first. */
export const drawParameters = ["u32", "u32", "i32", "i32", "i32", "i32", "f64"] as const;
const distributionNumber = { uniform: 0, normal: 1, bernoulli: 2 } as const;

export const drawArguments = ({ key, size, selfConnections, distribution, full, logMiss }: WeightDraws) =>
  [key[0], key[1], size, selfConnections ? 1 : 0, distributionNumber[distribution], full ? 1 : 0, logMiss] as const;

const shape = (size: number) => ({ grid: Math.min(65535, Math.ceil(size / threads)), block: threads });

/** Sums of each row's unscaled draws and of their squares. */
export async function drawRowSums(context: Context, drawn: WeightDraws): Promise<RowSums> {
  const kernel = loadEntries(context, file, ["draw_row_sums"]).kernel("draw_row_sums", [...drawParameters, "f64*", "f64*"]);
  const owned: { dispose(): void }[] = [];
  try {
    const stream = context.stream({ label: "draws" });
    owned.push(stream);
    const sums = context.alloc("f64", drawn.size, { label: "row sums" });
    owned.push(sums);
    const squares = context.alloc("f64", drawn.size, { label: "row sums of squares" });
    owned.push(squares);
    stream.launch(kernel, shape(drawn.size), ...drawArguments(drawn), sums, squares);
    return { sums: await stream.download(sums), squares: await stream.download(squares) };
  } finally {
    disposeAll(owned);
  }
}

/** Draws, scales and rounds W into packed rows of `stride` columns. */
export function drawRows(
  context: Context,
  stream: Stream,
  drawn: WeightDraws,
  variant: string,
  weightType: "f32" | "f64" | "u16",
  target: AnyBuffer,
  stride: number,
): void {
  const name = `draw_rows_${variant}`;
  const kernel = loadEntries(context, file, [name]).kernel(name, [...drawParameters, "f64", `${weightType}*`, "i32"]) as AnyKernel;
  stream.fill(target as never);
  stream.launch(kernel, shape(drawn.size), ...([...drawArguments(drawn), drawn.factor, target, stride] as const));
}
