// The sizes that plans on a device depend on.
import type { Precision } from "@spillway/numerics";

export { type ModelShape, shapeOf } from "../../reservoir/shape.js";

/** Bytes of a state value. */
export function elementBytes(precision: Precision): 4 | 8 {
  return precision === "float32" ? 4 : 8;
}
