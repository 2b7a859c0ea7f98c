// How far the clock of a zone is ahead of UTC, by the table of zones of Intl.DateTimeFormat.
import { getOrMake } from "@spillway/core/maps.js";
import { checked } from "@spillway/core/options.js";
import { dayMs, minuteMs } from "./civil.js";

/** The clock of a zone. */
interface ZoneClock {
  readonly format: Intl.DateTimeFormat;
  /** Minutes ahead of UTC at the start of days counted from 1970-01-01. */
  readonly atDay: Map<number, number>;
}

const clocks = new Map<string, ZoneClock>();

function clockOf(zone: string): ZoneClock {
  return getOrMake(clocks, zone, () => ({
    format: new Intl.DateTimeFormat("en-US", { timeZone: zone, timeZoneName: "longOffset" }),
    atDay: new Map<number, number>(),
  }));
}

/** The name of a time zone. */
export const zoneKind = checked<string>(
  'the name of a time zone, such as "Europe/Berlin"',
  (value) => {
    try {
      return typeof value === "string" && clockOf(value) !== undefined;
    } catch {
      return false;
    }
  },
  { type: "string" },
);

/** Minutes by which the clock of a zone is ahead of UTC at an instant. */
export function offsetAt(zone: string, instant: number): number {
  const clock = clockOf(zone);
  const day = Math.floor(instant / dayMs);
  const atDay = (each: number) => getOrMake(clock.atDay, each, () => askedOffset(clock, each * dayMs));
  const offset = atDay(day);
  return offset === atDay(day + 1) ? offset : askedOffset(clock, instant);
}

function askedOffset({ format }: ZoneClock, instant: number): number {
  const [, sign, hours, minutes] = /GMT(?:([+-])(\d\d):(\d\d))?/.exec(format.format(instant))!;
  return sign === undefined ? 0 : (sign === "-" ? -1 : 1) * (Number(hours) * 60 + Number(minutes)) + 0;
}

/**
 * The offsets that a clock can have when it shows `wall`, the one of the earlier instant first: two
 * in an hour that is repeated, none in one that is left out.
 */
export function offsetsShowing(zone: string, wall: number): number[] {
  const near = [offsetAt(zone, wall - dayMs), offsetAt(zone, wall + dayMs)];
  const found = [...new Set(near)].filter((offset) => offsetAt(zone, wall - offset * minuteMs) === offset);
  return found.sort((a, b) => b - a);
}
