// The device of an engine: opened when it is first needed, kept for what comes after, and opened
// anew if it was lost; or one that the caller owns.
import { DisposedError } from "@spillway/core/errors.js";
import { type Context, ContextLostError } from "@spillway/gpu";

export interface EngineDevice {
  /** The open device. @throws what opening it throws */
  context(): Context;
  /** Gives the device back with all that is open on it. It opens again when it is next needed. */
  close(): void;
}

/** A device that opens when it is first needed. */
export function ownDevice(open: () => Context): EngineDevice {
  let context: Context | undefined;
  const close = () => {
    context?.dispose();
    context = undefined;
  };
  return {
    context() {
      if (context && (context.loss || context.disposed)) close();
      context ??= open();
      return context;
    },
    close,
  };
}

/** A device that was opened elsewhere, and is given back there. */
export function givenDevice(context: Context): EngineDevice {
  return {
    context() {
      if (context.loss) throw new ContextLostError(context.loss, "what the engine does");
      if (context.disposed) throw new DisposedError(`the context of device ${context.info.ordinal}`);
      return context;
    },
    close: () => undefined,
  };
}

/** Whether a device is simulated, on the host. */
export const isSimulated = ({ core }: Context): boolean => core.driver.takesPtxOnly === true;

/** What errors call a device among several: "cuda:1", "sim:0". */
export const deviceName = (context: Context): string => `${isSimulated(context) ? "sim" : "cuda"}:${context.info.ordinal}`;
