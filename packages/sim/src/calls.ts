// The type of a table of simulated driver functions.
import type { DriverCall, DriverFunction } from "@spillway/gpu";

/** A driver function: throws a Refusal, returns a status, or anything else for success. */
export type SimulatedFunction<Name extends DriverCall> = (...values: Parameters<DriverFunction<Name>>) => unknown;

export type Calls = { readonly [Name in DriverCall]: SimulatedFunction<Name> };
