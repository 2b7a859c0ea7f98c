// Turns the cases of an experiment into what drives its reservoir: spikes counted in bins, or a sound's levels by frequency.
import { ArgumentError } from "../core/errors.js";
import { Matrix } from "../numerics/index.js";
import { isSpiking } from "../reservoir/index.js";
import { binSpikes, cochleagram, type EncoderConfig, encodeSpikes, scaleToUnit } from "../spikes/index.js";
import { ExperimentError } from "./errors.js";
import type { CaseData, Cases } from "./data.js";
import type { Experiment } from "./description.js";

/** Encoders that take a series as it is; the others take numbers from 0 to 1, onto which the training cases' extremes are mapped. */
const ofAnyRange: readonly string[] = ["cochlea", "cochleagram", "delta"];

/** Both parts encoded; as they are where the experiment encodes nothing. A seeded encoder draws anew for each case. @throws ExperimentError */
export function encoded(
  experiment: Experiment,
  { train, test }: { train: Cases; test: Cases },
  { sampleRate }: CaseData,
): { train: Cases; test: Cases } {
  const { encode, reservoir } = experiment;
  if (!encode) {
    if (sampleRate !== undefined) throw new ExperimentError("encode is missing; recordings are encoded, by cochlea or cochleagram");
    return { train, test };
  }
  const { encoder, binMs = (isSpiking(reservoir) ? reservoir.timeStep : undefined) ?? 1, ...options } = encode;
  const own = sampleRate === undefined || !encoder.startsWith("cochlea") ? options : { sampleRate, ...options };
  const range = ofAnyRange.includes(encoder) ? undefined : extremes(train.sequences);
  const one = (sequence: Matrix, name: string): Matrix<Float64Array> => {
    try {
      const scaled = range ? scaleToUnit(sequence, range) : sequence;
      if (encoder === "cochleagram") return cochleagram(scaled, own as unknown as Parameters<typeof cochleagram>[1]);
      const seeded = "seed" in own ? { ...own, seed: `${String(own["seed"])}/${name}` } : own;
      const spikes = encodeSpikes(scaled, { ...seeded, encoder } as unknown as EncoderConfig);
      return Matrix.from(binSpikes(spikes, { binMs, values: spikes.amplitudes ? "amplitudes" : "counts" }));
    } catch (error) {
      if (error instanceof ArgumentError) throw new ExperimentError(`encode: ${name}: ${error.message}`, { cause: error });
      throw error;
    }
  };
  const part = ({ sequences, labels }: Cases, what: string): Cases => ({
    sequences: sequences.map((sequence, b) => one(sequence, `${what} case ${b}`)),
    labels,
  });
  return { train: part(train, "training"), test: part(test, "test") };
}

function extremes(sequences: readonly Matrix[]): { minimum: number[]; maximum: number[] } {
  const cols = sequences[0]?.cols ?? 0;
  const minimum = new Array<number>(cols).fill(Number.POSITIVE_INFINITY);
  const maximum = new Array<number>(cols).fill(Number.NEGATIVE_INFINITY);
  for (const { data } of sequences) {
    for (let i = 0; i < data.length; i++) {
      const c = i % cols;
      minimum[c] = Math.min(minimum[c]!, data[i]!);
      maximum[c] = Math.max(maximum[c]!, data[i]!);
    }
  }
  return { minimum, maximum };
}
