// Turns the cases of an experiment into what drives its reservoir: spikes counted in bins, or a
// sound's levels by frequency.
import type { Matrix } from "@spillway/numerics";
import { binWidth, type DriveOptions, EncodedCases, rangeOf } from "../../spikes/drive.js";
import { type EncoderConfig, encoders } from "../../spikes/index.js";
import type { OpenExperiment } from "../description/description.js";
import { ExperimentError } from "../description/errors.js";
import type { CaseData, Cases } from "./experiment-data.js";

/** Labelled cases, and how they become rows. */
export interface EncodedPart {
  readonly cases: EncodedCases;
  readonly labels: readonly string[];
}

/**
 * Both parts, to be encoded where the reservoir is; as they are if the experiment encodes nothing.
 * A seeded encoder draws anew for each case. @throws ExperimentError
 */
export function encoded(
  experiment: OpenExperiment,
  { train, test }: { train: Cases; test: Cases },
  { sampleRate, binMs: given }: Pick<CaseData, "sampleRate" | "binMs">,
): { train: EncodedPart; test: EncodedPart } {
  const { encode, reservoir } = experiment;
  if (!encode && sampleRate !== undefined)
    throw new ExperimentError("encode is missing; recordings are encoded, by cochlea or cochleagram");
  const drive = encode ? driveOf(encode) : { bins: { binMs: given } };
  const part = ({ sequences, labels }: Cases, what: string): EncodedPart => ({
    cases: new EncodedCases(
      sequences,
      drive,
      (error, b) => new ExperimentError(`${encode ? "encode" : "data"}: ${what} case ${b}: ${error.message}`, { cause: error }),
    ),
    labels,
  });
  return { train: part(train, "training"), test: part(test, "test") };

  function driveOf({ encoder, binMs, ...options }: NonNullable<OpenExperiment["encode"]>): DriveOptions {
    const { options: table, range } = encoders.get(encoder, "encode.encoder");
    const own = sampleRate === undefined || !("sampleRate" in table) ? options : { sampleRate, ...options };
    return {
      encoder: { ...own, encoder } as EncoderConfig,
      range: range === "unit" ? rangeOf(train.sequences as readonly Matrix[]) : undefined,
      bins: { binMs: binWidth(reservoir, binMs) },
    };
  }
}
