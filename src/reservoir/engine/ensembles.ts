// The capability of an engine that runs many reservoirs beside one another. Others run them one
// after the other (`one-by-one.ts`).
import type { Matrix } from "../../numerics/index.js";
import type { EngineOptions, EnginePlan, SequenceInput } from "../engine.js";
import type { Profiled } from "../profile.js";
import type { EngineModel } from "../spiking-model.js";
import type { WorkOptions } from "../work.js";
import type { TrainingSink } from "./training.js";

/** Runs ensembles. */
export interface RunsEnsembles {
  /** Loads R independent reservoirs. @throws as `Engine.open` */
  openEnsemble?(models: readonly EngineModel[], options?: EngineOptions): Promise<EnsembleSession>;
}

/** What the run of an ensemble keeps, and what it trains. */
export interface EnsembleOptions extends WorkOptions {
  /** "all": T x N a member; "last": 1 x N a member; "none". */
  readonly keep: "all" | "last" | "none";
  /** With targets (T x O), each member's states go to its own sink. */
  readonly training?: { readonly targets: Matrix; readonly washout: number; readonly sinks: readonly TrainingSink[] } | undefined;
}

/**
 * Independent reservoirs that are loaded. Calls may not overlap; every array is in the precision of
 * its model.
 */
export interface EnsembleSession extends Profiled {
  readonly plan: EnginePlan;
  /** Runs each from its initial state, over one shared sequence or one each. */
  run(sequences: SequenceInput | readonly SequenceInput[], options: EnsembleOptions): Promise<Matrix[]>;
  /** Gives memory back. Idempotent. */
  dispose(): Promise<void>;
}
