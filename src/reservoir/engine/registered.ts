// The capability of an engine that runs registered kinds of reservoir.
import type { EngineOptions, EnginePlan, EngineSession } from "../engine.js";
import type { RegisteredModel } from "../registered/model.js";

/** Runs models of registered kinds. Without it such a reservoir is refused. */
export interface RunsRegisteredKinds {
  /** As `Engine.plan`. */
  planRegistered?(model: RegisteredModel, options?: EngineOptions): EnginePlan;
  /** As `Engine.open`. */
  openRegistered?(model: RegisteredModel, options?: EngineOptions): Promise<EngineSession>;
}
