// An experiment as its file describes it, with every default filled in. What the fields take is
// checked in schema.ts.

import type { Filled, InputOf } from "@spillway/core/options.js";
import type { ClassifierSettings } from "../../model/index.js";
import type { ReadoutDescription } from "../../readout/index.js";
import type { AnyReservoirOptions, EngineSelection, Seed, SpikingReservoirOptions } from "../../reservoir/index.js";
import type { SeriesBaseline, Transform, TransformPair } from "../../series/index.js";
import type { PatternType } from "../../spikes/index.js";
import type { PatternEdits } from "../../spikes/pattern/edits.js";
import type { casesTable, generatedTable, namedTable, patternsTable, soundsTable, spikesTable } from "./data-tables.js";
import type { fileTable } from "./file-table.js";
import type { FieldDescription, ForecasterDescription, ModelDescription, NvarDescription } from "./model-options.js";
import type {
  labelsFileTable,
  mapAxisTable,
  mapTable,
  outputsTable,
  publishedTable,
  scoringTable,
  splitTable,
  taskTables,
} from "./schema.js";

type Tasks = typeof taskTables;

/** A generated series: one of the benchmark tasks. */
export interface GeneratedData extends Filled<typeof generatedTable> {}

/** A series or a set of cases from a file. */
export interface FileData extends InputOf<typeof fileTable> {
  readonly missing: NonNullable<InputOf<typeof fileTable>["missing"]>;
}

/** Files of a folder whose names tell their classes. */
export interface NamedFiles extends Filled<typeof namedTable> {}

/** A folder of recordings: WAV files. */
export interface SoundData extends Filled<typeof soundsTable> {}

/** A folder of series: CSV, Parquet or NPY files, one case each. */
export interface SeriesFolderData extends Filled<typeof casesTable> {}

/** What is done to spike patterns, and how they become counts of spikes in bins. */
export interface SpikeBins extends PatternEdits {
  /** Width of a bin; default the liquid's time step, or 1 ms. */
  readonly binMs?: number | undefined;
}

/**
 * A folder of spike patterns, JSON, CSV or NPZ files, or an HDF5 file of event lists, which has the
 * labels itself.
 */
export interface SpikeData extends Filled<typeof spikesTable> {}

/** Spike patterns that are generated: `count` of each type, whose name is the class. */
export interface PatternData extends Filled<typeof patternsTable> {}

/** A type of the detector, or "poisson": independent neurons. */
export type PatternName = PatternType | "poisson";

/** Where the series or the cases of an experiment come from. */
export type DataDescription = GeneratedData | FileData | SoundData | SeriesFolderData | SpikeData | PatternData;

/**
 * What turns a case into spikes, or a sound into levels by frequency ("cochleagram"). The other
 * fields are the encoder's own.
 */
export interface EncodeDescription {
  readonly encoder: string;
  /** Width of a bin in which spikes are counted; default the liquid's time step, or 1 ms. */
  readonly binMs?: number | undefined;
  readonly [option: string]: unknown;
}

/**
 * What is done to the series before the reservoir sees it, in order, and undone on its predictions.
 */
export type TransformDescription = Exclude<Transform, TransformPair>;

/** One step: the value of a series or the target `ahead` rows later. */
export interface PredictTask extends Filled<Tasks["predict"]> {}

/** A forecast whose warm-up may be left to the rows: "auto". */
export interface OpenForecastTask extends Filled<Tasks["forecast"]> {}

/** Forecasts from several starts in the test part. */
export interface ForecastTask extends Omit<OpenForecastTask, "warmup"> {
  /** Rows the reservoir is driven with before each start. */
  readonly warmup: number;
}

/** A class for each sequence. */
export interface ClassifyTask
  extends Pick<
    ClassifierSettings,
    "representation" | "thresholds" | "differences" | "directions" | "input" | "layerNorm" | "scaleFeatures" | "sequenceLambda" | "vote"
  > {
  readonly type: "classify";
  /** Reservoirs that vote, each of another seed. */
  readonly members: number;
}

/**
 * A label for each sequence by the template that its state is most like, or none if it is like
 * no template.
 */
export interface DetectTask extends Filled<Tasks["detect"]> {}

/** Incidents in a series, at an asked rate of alarms. */
export interface AnomaliesTask extends Filled<Tasks["anomalies"]> {}

/**
 * First and last row, or time stamp, of an anomaly. A single row or stamp begins one of `mergeRows`
 * rows.
 */
export type AnomalyLabel = string | number | readonly [from: string | number, to: string | number];

/** A CSV file with a line for each anomaly, and its columns of first and last rows or stamps. */
export interface LabelsFile extends Filled<typeof labelsFileTable> {}

/** What is to be learnt. */
export type TaskDescription = PredictTask | ForecastTask | ClassifyTask | DetectTask | AnomaliesTask;

/** A task before its data are known. */
export type OpenTask = Exclude<TaskDescription, ForecastTask> | OpenForecastTask;

/** What needs no reservoir. "majority": the most frequent class, of cases. */
export type BaselineDescription = SeriesBaseline | "majority";

/** A metric by name: one of this package or a registered one. */
export type MetricName = string;

/** A figure from the literature to stand beside a score. */
export interface PublishedFigure extends Filled<typeof publishedTable> {}

/** How scores are made. */
export interface ScoringDescription extends Filled<typeof scoringTable> {}

/** What a run writes beside its scores. */
export interface OutputsDescription extends Filled<typeof outputsTable> {}

/** Rows or shares of the series for training and test; `train: 1` is all rows. */
export interface SplitDescription extends Filled<typeof splitTable> {}

/** An axis of a map: a number of the reservoir's description, and its values or their range. */
export interface MapAxisDescription extends Filled<typeof mapAxisTable> {}

/** A map that `spillway analyse` draws of the reservoir. */
export interface MapDescription extends Filled<typeof mapTable> {}

/** An experiment with every default filled in. */
export interface Experiment extends Pick<EngineSelection, "engine" | "plan"> {
  readonly name: string;
  readonly description?: string | undefined;
  readonly data: DataDescription;
  readonly transforms: readonly TransformDescription[];
  readonly encode?: EncodeDescription | undefined;
  /** What forecasts; left out, reservoir and readout. */
  readonly model?: ModelDescription | undefined;
  /** Of model "nvar" nothing reads them. */
  readonly reservoir: AnyReservoirOptions;
  readonly readout: ReadoutDescription;
  readonly task: TaskDescription;
  readonly washout: number;
  readonly split: SplitDescription;
  readonly seeds: readonly Seed[];
  readonly metrics: readonly MetricName[];
  readonly scoring: ScoringDescription;
  readonly baselines: readonly BaselineDescription[];
  readonly published: readonly PublishedFigure[];
  readonly outputs: OutputsDescription;
  readonly map?: MapDescription | undefined;
}

/** An experiment before its data are known: what follows from their rows may be "auto". */
export type OpenExperiment = Omit<Experiment, "task" | "washout"> & {
  readonly task: OpenTask;
  readonly washout: number | "auto";
};

/** Fields that have a default may be left out. */
type WithDefaults<Given, Required extends keyof Given> = Pick<Given, Required> & Partial<Given>;

/**
 * An experiment as a file or a program says it: only name, data and task are needed.
 */
export interface ExperimentInput extends Pick<EngineSelection, "engine" | "plan"> {
  readonly name: string;
  readonly description?: string | undefined;
  readonly data:
    | InputOf<typeof generatedTable>
    | InputOf<typeof fileTable>
    | InputOf<typeof soundsTable>
    | InputOf<typeof casesTable>
    | InputOf<typeof spikesTable>
    | InputOf<typeof patternsTable>;
  readonly transforms?: readonly TransformDescription[] | undefined;
  readonly encode?: EncodeDescription | undefined;
  /** What forecasts: by default a reservoir and its readout ("forecaster"). */
  readonly model?:
    | "forecaster"
    | "nvar"
    | ForecasterDescription
    | WithDefaults<NvarDescription, "type">
    | WithDefaults<FieldDescription, "type" | "groups">
    | undefined;
  readonly reservoir?: AnyReservoirOptions | undefined;
  /** In place of `reservoir`: a spiking one, without its kind. */
  readonly liquid?: Omit<SpikingReservoirOptions, "kind"> | undefined;
  readonly readout?: NonNullable<ReadoutDescription["type"]> | ReadoutDescription | undefined;
  readonly task: "predict" | "classify" | "detect" | "anomalies" | { [Type in keyof Tasks]: InputOf<Tasks[Type]> }[keyof Tasks];
  /**
   * Rows at the start that train nothing. Default "auto": a fifth of the rows that train, at most
   * 100, and for classes 0.
   */
  readonly washout?: number | "auto" | undefined;
  readonly split?: SplitDescription | undefined;
  /** One seed, or `seeds`: a list, or how many. */
  readonly seed?: Seed | undefined;
  readonly seeds?: number | readonly Seed[] | undefined;
  readonly metrics?: readonly MetricName[] | undefined;
  readonly scoring?: Partial<ScoringDescription> | undefined;
  readonly baselines?: readonly BaselineDescription[] | undefined;
  readonly published?: readonly PublishedFigure[] | undefined;
  readonly outputs?: Partial<OutputsDescription> | undefined;
  readonly map?: MapDescription | undefined;
}
