// One axis of a static figure: from values to pixels, and where its ticks stand. It draws nothing.
import type { AxisValues } from "./values.js";

export interface Tick {
  readonly at: number;
  readonly label: string;
}

/** What of a plotly axis is honoured. */
export interface AxisLayout {
  readonly title?: { readonly text?: string };
  readonly type?: string;
  readonly range?: readonly [number, number];
  readonly domain?: readonly [number, number];
  readonly anchor?: string;
  readonly autorange?: string;
  readonly tickvals?: readonly number[];
  readonly ticktext?: readonly string[];
  readonly scaleanchor?: string;
  readonly categoryarray?: readonly string[];
}

/** From a value on an axis to a pixel. */
export class Scale {
  readonly kind: "linear" | "log" | "category" | "date";
  readonly #categories = new Map<string, number>();
  #low = Infinity;
  #high = -Infinity;
  #from = 0;
  #to = 1;
  readonly #layout: AxisLayout;

  constructor(layout: AxisLayout, values: readonly AxisValues[]) {
    this.#layout = layout;
    const texts = values.some((list) => typeof list[0] === "string");
    const first = values.find((list) => typeof list[0] === "string")?.[0];
    this.kind =
      layout.type === "log" ? "log" : !texts ? "linear" : layout.type !== "category" && isDate(first as string) ? "date" : "category";
    if (this.kind === "category") for (const name of layout.categoryarray ?? []) this.#include(this.number(name));
    for (const list of values) {
      for (let i = 0; i < list.length; i++) this.#include(this.number(list[i]!));
    }
    if (!(this.#low <= this.#high)) [this.#low, this.#high] = [0, 1];
    if (layout.range) [this.#low, this.#high] = layout.range;
    else this.#pad();
  }

  /** Where on the screen the axis runs. */
  setRange(from: number, to: number): void {
    const reversed = this.#layout.autorange === "reversed";
    this.#from = reversed ? to : from;
    this.#to = reversed ? from : to;
  }

  get range(): readonly [number, number] {
    return [this.#low, this.#high];
  }

  set range([low, high]: readonly [number, number]) {
    this.#low = low;
    this.#high = high;
  }

  /** Makes sure that a value is in view, as bars need their foot. */
  include(value: number): void {
    if (!this.#layout.range) this.#include(value);
  }

  /** A value as a number on the axis: its logarithm, its index among the names, its time. */
  number(value: number | string): number {
    if (this.kind === "log") return Number(value) > 0 ? Math.log10(Number(value)) : Number.NaN;
    if (typeof value === "number") return value;
    if (this.kind === "date") return instantOf(value);
    if (this.kind === "linear") return Number(value);
    const known = this.#categories.get(value);
    if (known !== undefined) return known;
    this.#categories.set(value, this.#categories.size);
    return this.#categories.size - 1;
  }

  pixel(value: number | string): number {
    return this.pixelOf(this.number(value));
  }

  pixelOf(number: number): number {
    return this.#from + ((number - this.#low) / (this.#high - this.#low)) * (this.#to - this.#from);
  }

  ticks(): readonly Tick[] {
    const { tickvals, ticktext } = this.#layout;
    if (tickvals && ticktext) return tickvals.map((at, k) => ({ at, label: ticktext[k] ?? String(at) }));
    if (this.kind === "category") return [...this.#categories].map(([label, at]) => ({ at, label }));
    if (this.kind === "date") return dateTicks(this.#low, this.#high);
    if (this.kind === "log") return logTicks(this.#low, this.#high);
    return linearTicks(this.#low, this.#high);
  }

  #include(number: number): void {
    if (!Number.isFinite(number)) return;
    this.#low = Math.min(this.#low, number);
    this.#high = Math.max(this.#high, number);
  }

  #pad(): void {
    if (this.kind === "category") {
      this.#low = -0.5;
      this.#high = this.#categories.size - 0.5;
    } else if (this.#low === this.#high) {
      const half = Math.abs(this.#low) * 0.1 || 0.5;
      this.#low -= half;
      this.#high += half;
    }
  }
}

function isDate(text: string | undefined): boolean {
  return text !== undefined && /^\d{4}-\d\d(-\d\d)?/.test(text) && !Number.isNaN(instantOf(text));
}

/** Milliseconds of a date. Without an offset it is UTC, not the time zone of the machine. */
function instantOf(text: string): number {
  const utc = /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?$/.test(text);
  return Date.parse(utc ? `${text.replace(" ", "T")}Z` : text);
}

/** About six ticks at 1, 2 or 5 times a power of ten. */
export function linearTicks(low: number, high: number): Tick[] {
  const raw = (high - low) / 5;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = power * ([1, 2, 5, 10].find((factor) => factor * power >= raw) ?? 10);
  const digits = Math.max(0, -Math.floor(Math.log10(step)));
  // Counted from the first: above 2^53 steps, adding one to a multiple gives the same again.
  const first = Math.ceil(low / step - 1e-9);
  const more = Math.floor(high / step + 1e-9) - first;
  const all = Array.from({ length: Math.max(0, more + 1) }, (_, k) => (first + k) * step);
  // All labels of an axis are written alike.
  const isShort = step < 1e-4 || all.some((at) => Math.abs(at) >= 1e6);
  const short = (at: number) =>
    at
      .toExponential(2)
      .replace("+", "")
      .replace(/\.?0*e/, "e");
  return all.map((at) => ({ at, label: isShort ? (at === 0 ? "0" : short(at)) : at.toFixed(Math.min(digits, 8)) }));
}

/**
 * Ticks of an axis of logarithms to base 10: powers of ten; over less than two of them 1, 2 and 5
 * times a power, and over less than that as on a linear axis.
 */
export function logTicks(low: number, high: number): Tick[] {
  const every = Math.max(1, Math.round((high - low) / 6));
  const ticks: Tick[] = [];
  for (let k = Math.ceil(low - 1e-9); k <= high + 1e-9; k += every)
    ticks.push({ at: k, label: k >= -2 && k <= 4 ? String(10 ** k) : `1e${k}` });
  if (ticks.length >= 2) return ticks;
  const round: Tick[] = [];
  for (let k = Math.floor(low); k <= high; k++)
    for (const factor of [1, 2, 5]) {
      const at = k + Math.log10(factor);
      if (at >= low - 1e-9 && at <= high + 1e-9) round.push({ at, label: String(Number((factor * 10 ** k).toPrecision(1))) });
    }
  if (round.length >= 2) return round;
  return linearTicks(10 ** low, 10 ** high).map(({ at, label }) => ({ at: Math.log10(at), label }));
}

const [second, minute, hour, day] = [1000, 60_000, 3_600_000, 86_400_000] as const;
/** Steps of a clock and of days, in ms; longer ones are months and years. */
const clockSteps = [
  ...[0, 1, 2].flatMap((power) => [1, 2, 5].map((factor) => factor * 10 ** power)),
  ...[second, minute].flatMap((unit) => [1, 2, 5, 10, 15, 30].map((count) => count * unit)),
  ...[1, 2, 3, 6, 12].map((count) => count * hour),
  ...[1, 2, 5, 10].map((count) => count * day),
];
const monthSteps = [1, 2, 3, 6, ...[0, 1, 2, 3, 4].flatMap((power) => [1, 2, 5].map((factor) => 12 * factor * 10 ** power))];

/** About six ticks at round times: whole steps of a clock in UTC, days, first days of months and years. */
export function dateTicks(low: number, high: number): Tick[] {
  const raw = (high - low) / 6;
  const step = clockSteps.find((each) => each >= raw);
  if (step === undefined) return monthTicks(low, high, monthSteps.find((each) => each * 30.4 * day >= 0.75 * raw) ?? monthSteps.at(-1)!);
  // Days of a month begin at 1: a step of some days is counted from the first day of the range.
  const from = step > day ? Math.ceil(low / day) * day : Math.ceil(low / step) * step;
  return Array.from({ length: Math.max(0, Math.floor((high - from) / step) + 1) }, (_, k) => {
    const text = new Date(from + k * step).toISOString();
    const time = step < second ? text.slice(17, 23) : text.slice(11, step < minute ? 19 : 16);
    return { at: from + k * step, label: step >= day ? text.slice(0, 10) : high - low > day ? `${text.slice(5, 10)} ${time}` : time };
  });
}

function monthTicks(low: number, high: number, step: number): Tick[] {
  const first = new Date(low);
  const month = 12 * first.getUTCFullYear() + first.getUTCMonth();
  const ticks: Tick[] = [];
  for (let k = Math.floor(month / step) * step; ; k += step) {
    const at = Date.UTC(Math.floor(k / 12), k % 12);
    if (!(at <= high)) return ticks;
    const text = new Date(at).toISOString();
    if (at >= low) ticks.push({ at, label: text.slice(0, text.indexOf("-", 1) + (step < 12 ? 3 : 0)) });
  }
}
