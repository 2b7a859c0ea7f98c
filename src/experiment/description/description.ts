// An experiment as its file describes it, with every default filled in. What the fields take is
// checked in schema.ts.

import type { InputOf } from "@spillway/core/options.js";
import type { NrmseNorm } from "../../metrics/index.js";
import type { AnomalySettings } from "../../model/anomaly/options.js";
import type { MemberName } from "../../model/forecaster/options.js";
import type { ClassifierSettings } from "../../model/index.js";
import type { ReadoutDescription } from "../../readout/index.js";
import type { AnyReservoirOptions, EngineSelection, Seed, SpikingReservoirOptions } from "../../reservoir/index.js";
import type { SeriesBaseline, Transform, TransformPair } from "../../series/index.js";
import type { PatternType } from "../../spikes/index.js";
import type { PatternEdits } from "../../spikes/pattern/edits.js";
import type { fileTable } from "./file-table.js";
import type { FieldDescription, ForecasterDescription, ModelDescription, NvarDescription } from "./model-options.js";

/** A generated series: one of the benchmark tasks. */
export interface GeneratedData {
  readonly task: string;
  /** Rows; default what `split` and `task` need. */
  readonly length?: number | undefined;
  /** The generator's own options; `spillway tasks` lists them. */
  readonly options: Readonly<Record<string, unknown>>;
  /** Draw the series anew for every seed. */
  readonly redraw: boolean;
}

/** A series or a set of cases from a file. */
export interface FileData extends InputOf<typeof fileTable> {
  readonly missing: NonNullable<InputOf<typeof fileTable>["missing"]>;
}

/** Files of a folder whose names tell their classes. */
export interface NamedFiles {
  /** How a file's name tells its class and more, such as "{label}_{group}_{index}". */
  readonly names: string;
  /**
   * The files that test, by what their names tell: `{index: [0, 1, 2]}`. Left out, `split` chooses
   * them.
   */
  readonly test?: Readonly<Record<string, readonly (string | number)[]>> | undefined;
}

/** A folder of recordings: WAV files. */
export interface SoundData extends NamedFiles {
  readonly sounds: string;
}

/** A folder of series: CSV, Parquet or NPY files, one case each. */
export interface SeriesFolderData extends NamedFiles {
  readonly cases: string;
}

/** What is done to spike patterns, and how they become counts of spikes in bins. */
export interface SpikeBins extends PatternEdits {
  /** Width of a bin; default the liquid's time step, or 1 ms. */
  readonly binMs?: number | undefined;
}

/**
 * A folder of spike patterns, JSON, CSV or NPZ files, or an HDF5 file of event lists, which has the
 * labels itself.
 */
export interface SpikeData extends NamedFiles, SpikeBins {
  readonly spikes: string;
  /** Neurons and duration of each pattern, if the files do not say. */
  readonly neuronCount?: number | undefined;
  readonly durationMs?: number | undefined;
}

/** Spike patterns that are generated: `count` of each type, whose name is the class. */
export interface PatternData extends SpikeBins {
  readonly patterns: {
    readonly types: readonly PatternName[];
    readonly count: number;
    readonly neuronCount?: number | undefined;
    readonly durationMs?: number | undefined;
    readonly rateHz?: number | undefined;
    /** What the patterns are drawn from, beside their type and number. */
    readonly seed: Seed;
  };
}

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
export interface PredictTask {
  readonly type: "predict";
  /**
   * Default 1 for a series, and 0, the target row of this input row, if inputs drive the reservoir.
   */
  readonly ahead?: number | undefined;
}

/** Forecasts from several starts in the test part. */
export interface ForecastTask {
  readonly type: "forecast";
  readonly horizon: number;
  /** "auto": as many as fit into the test part, at most 50. */
  readonly starts: number | "auto";
  /** Rows the reservoir is driven with before each start. */
  readonly warmup: number;
  /** Rows from start to start; default equal distances over the test part. */
  readonly stride?: number | undefined;
  /** Every start on a generated series of its own. */
  readonly independent: boolean;
  /** The share of values that the bands of forecasts are to hold. */
  readonly level: number;
  /** Bands that follow what the forecasts from earlier starts missed. */
  readonly adaptive: boolean;
  /**
   * Rows of a season, or of each of several. Left out, those that `baselines` names and those of
   * the step in time; of a file without time stamps, if lambda is chosen, the one that its rows
   * show.
   */
  readonly season?: number | readonly number[] | undefined;
  /**
   * Rows of the series that the readout sees beside the state. Left out, they are chosen by season.
   */
  readonly lags?: number | "season" | undefined;
  /**
   * Names of members, whose weighted mean is the forecast: each forecast is made from all rows
   * before it, at most `warmup` of them. Or reservoirs of a closed loop alone, whose median is the
   * forecast: 5 if settings are chosen, else 1. Left out, all names, unless the file describes a
   * loop (`model`, `reservoir`, `liquid`, `readout`, `transforms`, `washout`, `lags`) or asks for
   * what only a loop has (`adaptive`, `outputs.states`, `gaps: "split"`).
   */
  readonly members?: number | readonly MemberName[] | undefined;
  /** How the members of a combination are weighed. */
  readonly weights?: "validation" | "equal" | undefined;
  /** Levels of quantiles that forecasts.csv has beside the forecast. */
  readonly quantiles?: readonly number[] | undefined;
}

/** A forecast whose warm-up may be left to the rows: "auto". */
export type OpenForecastTask = Omit<ForecastTask, "warmup"> & { readonly warmup: number | "auto" };

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
export interface DetectTask {
  readonly type: "detect";
  /** The state at the end of a sequence, or the mean of its states. */
  readonly state: "last" | "mean";
  /** The smallest cosine that is a match. */
  readonly threshold: number;
  /** Also look for the eight types of pattern in what the neurons of a spiking reservoir fire. */
  readonly types: boolean;
}

/** Incidents in a series, at an asked rate of alarms. */
export interface AnomaliesTask extends Omit<AnomalySettings, "columns" | "seed"> {
  readonly type: "anomalies";
  /** The anomalies that are known, or a file of them; they score incidents. */
  readonly labels?: readonly AnomalyLabel[] | LabelsFile | undefined;
}

/**
 * First and last row, or time stamp, of an anomaly. A single row or stamp begins one of `mergeRows`
 * rows.
 */
export type AnomalyLabel = string | number | readonly [from: string | number, to: string | number];

/** A CSV file with a line for each anomaly, and its columns of first and last rows or time stamps. */
export interface LabelsFile {
  readonly file: string;
  readonly start?: string | number | undefined;
  readonly end?: string | number | undefined;
}

/** What is to be learnt. */
export type TaskDescription = PredictTask | ForecastTask | ClassifyTask | DetectTask | AnomaliesTask;

/** A task before its data are known. */
export type OpenTask = Exclude<TaskDescription, ForecastTask> | OpenForecastTask;

/** What needs no reservoir. "majority": the most frequent class, of cases. */
export type BaselineDescription = SeriesBaseline | "majority";

/** A metric by name: one of this package or a registered one. */
export type MetricName = string;

/** A figure from the literature to stand beside a score. */
export interface PublishedFigure {
  readonly score: MetricName;
  readonly value: number;
  readonly source: string;
}

/** How scores are made. */
export interface ScoringDescription {
  readonly norm: NrmseNorm;
  /** Error that ends the valid prediction time. */
  readonly threshold: number;
  /**
   * Time between two rows, and the largest Lyapunov exponent: for valid prediction times in
   * Lyapunov times. Known for most generated series.
   */
  readonly dt?: number | undefined;
  readonly lyapunovExponent?: number | undefined;
  /** Options of metrics, by their names. */
  readonly options?: Readonly<Record<string, object>> | undefined;
  /** How several seeds become one figure. */
  readonly statistic: "median" | "mean";
}

/** What a run writes beside its scores. */
export interface OutputsDescription {
  readonly states: "none" | "npy";
  /** Keep every k-th state. */
  readonly every: number;
  readonly report: boolean;
  readonly model: boolean;
  /** Train the model that is saved on all rows, those of the test part included. */
  readonly refit: boolean;
}

/** Rows or shares of the series for training and test; `train: 1` is all rows. */
export interface SplitDescription {
  readonly train?: number | undefined;
  readonly test?: number | undefined;
}

/** An axis of a map: a number of the reservoir's description, and its values or their range. */
export interface MapAxisDescription {
  readonly parameter: string;
  readonly values:
    | readonly number[]
    | { readonly from: number; readonly to: number; readonly count: number; readonly scale: "linear" | "log" };
}

/** A map that `spillway analyse` draws of the reservoir. */
export interface MapDescription {
  readonly x?: MapAxisDescription | undefined;
  readonly y?: MapAxisDescription | undefined;
  readonly measures?: readonly string[] | undefined;
  /** Of storage and transfer; "gaussian" if left out. */
  readonly estimator?: "gaussian" | "nearestNeighbours" | undefined;
}

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
    | WithDefaults<GeneratedData, "task">
    | WithDefaults<FileData, "file">
    | WithDefaults<SoundData, "sounds">
    | WithDefaults<SeriesFolderData, "cases">
    | WithDefaults<SpikeData, "spikes">
    | (SpikeBins & { readonly patterns: WithDefaults<PatternData["patterns"], "types" | "count"> });
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
  readonly task:
    | "predict"
    | "classify"
    | "detect"
    | "anomalies"
    | PredictTask
    | WithDefaults<OpenForecastTask, "type" | "horizon">
    | WithDefaults<ClassifyTask, "type">
    | WithDefaults<DetectTask, "type">
    | WithDefaults<AnomaliesTask, "type">;
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
