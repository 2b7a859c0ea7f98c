// The device of these tests. Asking for the GPU suite forbids skipping: where none opens, every test fails with the reason.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type Context, type OpenOptions, openDevice, probe } from "../../../src/gpu/index.js";

/** Opens device 0. @throws Error with what the probe found where there is none. */
export function openHardware(options: Omit<OpenOptions, "device" | "driver"> = {}): Context {
  const found = probe();
  if (!found.available) throw new Error(`these tests need an NVIDIA GPU: ${found.reason}`);
  return openDevice(options);
}

/** A committed PTX file beside its source. */
export function fixture(name: string): string {
  return readFileSync(join(import.meta.dirname, "..", "fixtures", name), "utf8");
}
