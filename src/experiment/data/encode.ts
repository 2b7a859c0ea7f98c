// Turns the cases of an experiment into what drives its reservoir: spikes counted in bins, or a
// sound's levels by frequency.
import { ArgumentError } from "@spillway/core/errors.js";
import { Matrix } from "@spillway/numerics";
import { binWidth, type DriveOptions, drivingRows, rangeOf } from "../../spikes/drive.js";
import { type EncoderConfig, encoders } from "../../spikes/index.js";
import type { OpenExperiment } from "../description/description.js";
import { ExperimentError } from "../description/errors.js";
import type { CaseData, Cases } from "./experiment-data.js";

/**
 * Both parts encoded; as they are if the experiment encodes nothing. A seeded encoder draws anew
 * for each case. @throws ExperimentError
 */
export function encoded(
  experiment: OpenExperiment,
  { train, test }: { train: Cases; test: Cases },
  { sampleRate }: CaseData,
): { train: Cases; test: Cases } {
  const { encode, reservoir } = experiment;
  if (!encode) {
    if (sampleRate !== undefined) throw new ExperimentError("encode is missing; recordings are encoded, by cochlea or cochleagram");
    return { train, test };
  }
  const { encoder, binMs, ...options } = encode;
  const { options: table, range } = encoders.get(encoder, "encode.encoder");
  const own = sampleRate === undefined || !("sampleRate" in table) ? options : { sampleRate, ...options };
  const drive: DriveOptions = {
    encoder: { ...own, encoder } as EncoderConfig,
    range: range === "unit" ? rangeOf(train.sequences) : undefined,
    bins: { binMs: binWidth(reservoir, binMs) },
  };
  const part = ({ sequences, labels }: Cases, what: string): Cases => ({
    sequences: sequences.map((sequence, b) => {
      try {
        return Matrix.from(drivingRows(sequence, drive, b));
      } catch (error) {
        if (!(error instanceof ArgumentError)) throw error;
        throw new ExperimentError(`encode: ${what} case ${b}: ${error.message}`, { cause: error });
      }
    }),
    labels,
  });
  return { train: part(train, "training"), test: part(test, "test") };
}
