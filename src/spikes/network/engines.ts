// The engines that run networks, by the names of the engines of reservoirs. The package's index
// registers them.
import { suggestion } from "@spillway/core/near-names.js";
import { EngineUnavailableError } from "../../reservoir/engine/errors.js";
import type { NetworkPlan } from "./plan.js";
import type { NetworkSession } from "./session.js";

/** Settings of an engine of networks that do not change a single bit of what it gives. */
export interface NetworkEngineOptions {
  /** Threads of the CPU engine at most. */
  readonly threads: number;
}

/** A place that runs networks. */
export interface NetworkEngine {
  readonly name: string;
  /** Why it cannot run here, or undefined if it can. */
  missing(): Promise<string | undefined>;
  /** Draws the network of a plan, and loads it. */
  open(plan: NetworkPlan, options: NetworkEngineOptions): Promise<NetworkSession>;
}

interface Registration {
  readonly load: () => Promise<NetworkEngine>;
  /** Whether "auto" takes it, if it can run here: for a plan, the last that is worth it. */
  readonly worth: (plan: NetworkPlan) => boolean;
}

const registrations = new Map<string, Registration>();

/**
 * Makes an engine known under a name. "auto" takes the last that was registered, is worth it for
 * the plan and can run here.
 */
export function registerNetworkEngine(
  name: string,
  load: () => Promise<NetworkEngine>,
  worth: (plan: NetworkPlan) => boolean = () => false,
): void {
  registrations.set(name, { load, worth });
}

/** @throws EngineUnavailableError if there is no such engine, or it cannot run here */
export async function networkEngine(name: string, plan: NetworkPlan): Promise<NetworkEngine> {
  if (name === "auto") {
    for (const each of [...registrations.values()].reverse()) {
      if (!each.worth(plan)) continue;
      const engine = await each.load();
      if ((await engine.missing()) === undefined) return engine;
    }
    throw new EngineUnavailableError(name, 'no engine is registered; import "spillway" itself, not only a part of it');
  }
  const names = [...registrations.keys()];
  const registered = registrations.get(name);
  if (!registered) throw new EngineUnavailableError(name, `networks run on ${names.join(", ")}${suggestion(name, names)}`);
  const engine = await registered.load();
  const missing = await engine.missing();
  if (missing !== undefined) throw new EngineUnavailableError(name, missing);
  return engine;
}
