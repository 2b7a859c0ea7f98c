// Spectral radii of drawn weights that were measured before in this process. Seeds and settings
// that share their W, as most of a search or a grid do, measure it once.
import type { SpectralRadius } from "@spillway/numerics";
import type { ReservoirConfig } from "./config.js";

/** The most radii that are kept. */
const most = 4096;

/** A description longer than this many characters is measured each time. */
const longest = 1000;

/** What of a description W depends on as it is drawn, and how its radius is measured. */
const measuredBy = ["seed", "size", "topology", "connectionProbability", "weightDistribution", "selfConnections", "radiusMethod"] as const;

/** The same, and how W is stored. */
export type DrawnConfig = Pick<ReservoirConfig, (typeof measuredBy)[number] | "storage">;

/** The same of a whole description. */
export const drawnConfig = (config: ReservoirConfig): DrawnConfig =>
  Object.fromEntries([...measuredBy, "storage" as const].map((field) => [field, config[field]])) as DrawnConfig;

const known = new Map<string, SpectralRadius>();

const keyOf = (config: DrawnConfig): string =>
  JSON.stringify(measuredBy.map((field) => (field === "seed" ? String(config.seed) : config[field])));

/** Whether `knownRadius` would measure nothing. */
export const isKnownRadius = (config: DrawnConfig): boolean => known.has(keyOf(config));

/** As `knownRadius`, of a device that measures. */
export async function knownRadiusBy(config: DrawnConfig, measure: () => Promise<SpectralRadius>): Promise<SpectralRadius> {
  const found = known.get(keyOf(config)) ?? (await measure());
  return knownRadius(config, () => found);
}

/** The radius of W as a description draws it: the one that is known, or what `measure` finds. */
export function knownRadius(config: DrawnConfig, measure: () => SpectralRadius): SpectralRadius {
  const key = keyOf(config);
  if (key.length > longest) return measure();
  let found = known.get(key);
  if (found) known.delete(key);
  else found = measure();
  known.set(key, found);
  if (known.size > most) known.delete(known.keys().next().value!);
  return found;
}
