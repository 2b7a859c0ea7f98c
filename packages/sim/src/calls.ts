// The shape of a table of simulated driver functions. The tables themselves stand by what they are
// about.
import type { DriverCall, DriverFunction } from "@spillway/gpu";

/**
 * A driver function that throws a Refusal if it fails. A number that it returns is the status;
 * anything else is success.
 */
export type SimulatedFunction<Name extends DriverCall> = (...values: Parameters<DriverFunction<Name>>) => unknown;

/** Some of the driver's functions. */
export type Calls<Names extends DriverCall> = { readonly [Name in Names]: SimulatedFunction<Name> };
