// The list of engines there are. Which ones, and from where they are loaded, is said by the package's index alone.
import type { Engine, EngineStatus } from "./engine.js";
import { EngineUnavailableError } from "./engine.js";

/** A registered engine and how to load it. */
interface Registration {
  readonly name: string;
  readonly load: () => Promise<Engine>;
  /** Whether "auto" may choose it. */
  readonly automatic: boolean;
}

const registrations = new Map<string, Registration>();

/** Makes an engine known under a name. Nothing is loaded until it is asked for. */
export function registerEngine(name: string, load: () => Promise<Engine>, options: { automatic: boolean }): void {
  registrations.set(name, { name, load, automatic: options.automatic });
}

/** Names of the engines that can be asked for. */
export function engineNames(): string[] {
  return [...registrations.keys()];
}

/** An engine and why it was chosen. */
export interface EngineChoice {
  readonly engine: Engine;
  readonly reason: string;
}

/** Loads an engine by name, or the best one for "auto". @throws EngineUnavailableError */
export async function chooseEngine(name = "auto"): Promise<EngineChoice> {
  if (registrations.size === 0)
    throw new EngineUnavailableError(name, 'no engine is registered; import "spillway" itself, not only a part of it');
  if (name !== "auto") {
    const known = registrations.get(name);
    if (!known) throw new EngineUnavailableError(name, `there is no engine of that name; it takes "auto", ${quoted(engineNames())}`);
    const engine = await known.load();
    const status = await engine.probe();
    if (!status.available) throw new EngineUnavailableError(name, status.reason);
    return { engine, reason: `asked for; ${status.reason}` };
  }
  const refusals: string[] = [];
  for (const { load, automatic } of registrations.values()) {
    if (!automatic) continue;
    const engine = await load();
    const status = await engine.probe();
    if (status.available) return { engine, reason: [...refusals, `auto: ${status.reason}`].join("; ") };
    refusals.push(`${engine.name} is not available: ${status.reason}`);
  }
  throw new EngineUnavailableError("auto", refusals.join("; "));
}

/** What every registered engine says of itself. */
export async function probeEngines(): Promise<{ name: string; status: EngineStatus }[]> {
  return Promise.all([...registrations.values()].map(async ({ name, load }) => ({ name, status: await (await load()).probe() })));
}

function quoted(names: readonly string[]): string {
  return names
    .map((name) => `"${name}"`)
    .join(", ")
    .replace(/, ([^,]*)$/, " or $1");
}
