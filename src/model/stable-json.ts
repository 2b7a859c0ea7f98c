// JSON that depends only on the content: the order in which fields were set does not matter.

import { ArgumentError } from "@spillway/core/errors.js";
/**
 * JSON with sorted fields and no spaces. Fields that are undefined are left out; infinities are
 * written as 1e999, which reads back as such.
 */
export function stableJson(value: unknown): string {
  if (typeof value === "number" && !Number.isFinite(value)) {
    if (Number.isNaN(value)) throw ArgumentError.because("NaN has no JSON");
    return value > 0 ? "1e999" : "-1e999";
  }
  if (Array.isArray(value)) return `[${value.map(stableJson).join(",")}]`;
  if (value !== null && typeof value === "object") {
    const entries = Object.entries(value).filter(([, field]) => field !== undefined);
    entries.sort(([a], [b]) => (a < b ? -1 : 1));
    return `{${entries.map(([key, field]) => `${JSON.stringify(key)}:${stableJson(field)}`).join(",")}}`;
  }
  return JSON.stringify(value);
}
