// Training where the states are: what replaces a sink on the host while its rows are made
// on the device.
import { Making } from "@spillway/core/disposal.js";
import type { Context, Stream } from "@spillway/gpu";
import type { PortableGram } from "@spillway/numerics";
import { GramAccumulator } from "../../../readout/index.js";
import type { TrainingSink } from "../../../reservoir/engine.js";
import type { ReservoirModel } from "../../../reservoir/model.js";
import { DeviceGram, openBlasTrainer } from "./device-blas.js";
import { DistributedGrams } from "./distributed-grams.js";
import { DeviceGrams, type GramTrainer, type RowShape } from "./gram.js";

/**
 * Sums for the sinks of members that take in equal numbers of rows; undefined if they are no Gram
 * accumulators of this model's shape whose sums can be made here. With `peers`, other devices, the
 * sums of one sink are shared out among all.
 */
export function openGramTrainer(
  context: Context,
  stream: Stream,
  model: ReservoirModel,
  sinks: readonly TrainingSink[],
  targets: number,
  peers: readonly Context[] = [],
): GramTrainer | undefined {
  const [first] = sinks;
  if (!(first instanceof GramAccumulator)) return undefined;
  const { size, inputSize, precision } = model;
  const wanted = JSON.stringify([{ stateSize: size, inputSize, outputSize: targets }, first.features, first.constant]);
  const shape: RowShape = { precision, size, inputSize, outputs: targets, features: first.features, constant: first.constant };
  const byLibrary = sinks.length === 1 && first.sum instanceof DeviceGram && first.sum.blas.context === context ? first.sum : undefined;
  if (byLibrary && JSON.stringify([first.shape, first.features, first.constant]) === wanted)
    return openBlasTrainer(context, shape, byLibrary);
  const into: PortableGram[] = [];
  for (const sink of sinks) {
    if (!(sink instanceof GramAccumulator) || !sink.portable) return undefined;
    // A sink of another shape refuses its rows itself.
    if (JSON.stringify([sink.shape, sink.features, sink.constant]) !== wanted) return undefined;
    into.push(sink.portable);
  }
  if (new Set(into).size < into.length) return undefined;
  const before = into.map((gram) => (gram.rows > 0 ? gram.blocks() : undefined));
  if (before.some((blocks) => blocks?.rowsInBlock !== before[0]?.rowsInBlock)) return undefined;
  const distributed = peers.length > 0 && sinks.length === 1;
  using made = new Making();
  const grams = made.own(distributed ? new DistributedGrams(context, peers, shape) : new DeviceGrams(context, shape, sinks.length));
  grams.load(stream, before);
  return made.done<GramTrainer>({
    bytes: grams.bytes,
    add: (on, rows) => grams.add(on, rows),
    finish: async (on) => {
      for (const [m, gram] of into.entries()) {
        const { rows, ...blocks } = await grams.read(on, m);
        gram.restore({ ...blocks, rows: (before[m]?.rows ?? 0) + rows });
      }
    },
    dispose: () => grams.dispose(),
  });
}
