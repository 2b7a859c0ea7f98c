// The device of the tests that run on a GPU as on the simulated device: SPILLWAY_DEVICE is "sim",
// the default, or a GPU's number. Asking for a GPU forbids skipping: if none opens, every test
// fails with the reason.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type Context, type OpenOptions, openDevice, openDevices, probe } from "../../../packages/gpu/src/index.js";
import { simulatedDriver } from "../../../packages/sim/src/index.js";

const device = process.env["SPILLWAY_DEVICE"] || "sim";

/** Whether the device is a GPU, so that sizes may be large and times are of the world. */
export const onHardware = device !== "sim";

/**
 * Whether a memory checker watches the GPU, which is then tens to thousands of times slower:
 * SPILLWAY_CHECKER, which scripts/sanitize-gpu.mjs sets.
 */
export const checked = onHardware && Boolean(process.env["SPILLWAY_CHECKER"]);

/**
 * A size for a GPU, one for the simulated device, which is thousands of times slower, and one for a
 * GPU under a checker.
 */
export const size = (hardware: number, simulated: number, underChecker = hardware): number => {
  if (!onHardware) return simulated;
  return checked ? underChecker : hardware;
};

/**
 * Opens the device of the tests; a simulated one is new each time. @throws Error with what the
 * probe found if there is no such GPU.
 */
export function openTestDevice(options: Omit<OpenOptions, "device" | "driver"> = {}): Context {
  return onHardware ? openHardware(options) : openDevice({ ...options, driver: simulatedDriver() });
}

/** Opens the GPU. @throws Error with what the probe found if there is none. */
export function openHardware(options: Omit<OpenOptions, "device" | "driver"> = {}): Context {
  const found = probe();
  if (!found.available) throw new Error(`these tests need an NVIDIA GPU: ${found.reason}`);
  return openDevice({ ...options, device: onHardware ? Number(device) : 0 });
}

/** Opens all GPUs, that of the tests first. @throws as `openHardware` */
export function openAllHardware(): readonly Context[] {
  const first = openHardware();
  const others = openDevices("cuda:all").filter((context) => {
    if (context.info.ordinal !== first.info.ordinal) return true;
    context.dispose();
    return false;
  });
  return [first, ...others];
}

/** A committed PTX file beside its source. */
export function fixture(name: string): string {
  return readFileSync(join(import.meta.dirname, "..", "fixtures", name), "utf8");
}
