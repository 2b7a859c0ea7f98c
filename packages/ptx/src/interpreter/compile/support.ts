// Everything compiled code calls by name: arithmetic, the heap's views, and the runtime's slow
// paths. One object, made once a device.
import * as approximate from "../arithmetic/approximate.js";
import * as bits from "../arithmetic/bits.js";
import * as convert from "../arithmetic/convert.js";
import * as exact from "../arithmetic/exact.js";
import * as float from "../arithmetic/float.js";
import * as float8 from "../arithmetic/float8.js";
import * as half from "../arithmetic/half.js";
import * as integer from "../arithmetic/integer.js";
import * as integer64 from "../arithmetic/integer64.js";
import type { Access } from "../run/access.js";
import type { BarrierObjects } from "../run/barrier-object.js";
import { type DeviceMemory, shadow } from "../run/memory.js";
import type { Warp } from "../run/warp.js";
import type { Heap } from "./fragment.js";

export type Support = Readonly<Record<string, unknown>> & Heap;

export function makeSupport(memory: DeviceMemory, access: Access, objects: BarrierObjects): Support {
  const eight = (mark: number): number => new Float64Array(new Uint8Array(8).fill(mark).buffer)[0]!;
  return {
    ...approximate,
    ...bits,
    ...convert,
    ...exact,
    ...float,
    ...float8,
    ...half,
    ...integer,
    ...integer64,
    ...memory.views,
    written8: eight(shadow.written),
    constant8: eight(shadow.constant),
    resolve: access.resolve,
    outside: access.outside,
    copyOut: access.copyOut,
    copyLater: access.copyLater,
    copyBulk: access.copyBulk(objects),
    noteStore: (warp: Warp, lane: number, site: number, offset: number): void => warp.launch.values.noteStore(warp, lane, site, offset),
    isReadOnly: (offset: number): boolean => memory.shadowBytes[offset] === shadow.constant,
    raceRead: (warp: Warp, lane: number, site: number, word: number): void => warp.launch.races.read(warp, lane, site, word),
    raceReads: (warp: Warp, lane: number, site: number, word: number, count: number): void =>
      warp.launch.races.readAll(warp, lane, site, word, count),
    raceWrite: (warp: Warp, lane: number, site: number, word: number): void => warp.launch.races.write(warp, lane, site, word),
    raceBytes: (warp: Warp, lane: number, site: number, address: number, bytes: number, stores: boolean): void =>
      warp.launch.races.narrow(warp, lane, site, address, bytes, stores),
    raceStrong: (warp: Warp, lane: number, site: number, address: number, bytes: number, stores: boolean): void =>
      warp.launch.races.touchStrong(warp, lane, site, address, bytes, stores),
    globalStrong: (warp: Warp, lane: number, site: number, offset: number, bytes: number, stores: boolean): void =>
      warp.launch.globalRaces!.touchStrong(warp, lane, site, offset, bytes, stores),
    globalTouch: (warp: Warp, lane: number, site: number, offset: number, bytes: number, stores: boolean): void =>
      warp.launch.globalRaces!.touch(warp, lane, site, offset, bytes, stores),
    mbarrierInit: objects.init,
    mbarrierInvalidate: objects.invalidate,
    mbarrierArrive: objects.arrive,
    mbarrierExpect: objects.expect,
    mbarrierComplete: objects.complete,
    mbarrierParity: objects.parityOf,
    mbarrierDone: objects.done,
  };
}
