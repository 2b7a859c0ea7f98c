// Work of other devices beside that of a stream: behind all that the stream was given, and before
// all that it is given afterwards.
import type { Context, DeviceEvent, Stream } from "@spillway/gpu";
import { namedFailure } from "../../reservoir/engine/shares.js";
import { deviceName } from "./device.js";

/** A stream of another device, and an event after its work. */
export interface OtherStream {
  readonly context: Context;
  readonly stream: Stream;
  readonly done: DeviceEvent;
}

/**
 * Gives other devices their work, and the stream its own beside it. `ready` is an event of the
 * stream's device. @throws what failed, with the device's name, once the others are done: their work
 * is on memory that the caller may now give back
 */
export function workBeside<Other extends OtherStream>(
  [home, stream, ready]: readonly [Context, Stream, DeviceEvent],
  others: readonly Other[],
  other: (each: Other, index: number) => void,
  own?: () => void,
): void {
  let where = home;
  try {
    ready.record(stream);
    for (const [index, each] of others.entries()) {
      where = each.context;
      each.stream.wait(ready);
      other(each, index);
      each.done.record(each.stream);
    }
    where = home;
    own?.();
    for (const { context, done } of others) {
      where = context;
      stream.wait(done);
    }
  } catch (error) {
    syncAll(others);
    throw namedFailure(error, deviceName(where));
  }
}

/**
 * Waits for streams, whatever came of their work: what failed was told when it did, or is thrown
 * now.
 */
export function syncAll(all: readonly Pick<OtherStream, "stream">[]): void {
  for (const { stream } of all)
    try {
      stream.sync();
    } catch {
      // It was told, or an error under way says what happened.
    }
}
