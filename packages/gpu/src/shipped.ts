// The kernels that come with the package: their PTX, sources and descriptions, found beside the
// code. It knows no kernel by name.

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { brotliDecompressSync } from "node:zlib";
import { ArgumentError, SpillwayError } from "@spillway/core/errors.js";
import { getOrMake } from "@spillway/core/maps.js";
import { type InputOf, list, optional, resolve, text, tuple, whole } from "@spillway/core/options.js";
import { entryModule } from "./entry-module.js";
import type { Nvrtc } from "./nvrtc.js";

/** A kernel of a shipped PTX file. */
export interface ShippedEntry {
  readonly name: string;
  /** PTX types, "u64" for a pointer, "b8[24]" for a struct. */
  readonly parameters: readonly string[];
  /** The most threads of a block; undefined if the device's limit is the only one. */
  readonly maxThreads?: number;
  /**
   * Blocks of a multiprocessor that the compiler limited registers for; undefined if none was given.
   */
  readonly minBlocks?: number;
  /** Blocks of a cluster that it must be launched with; undefined if it need not be. */
  readonly clusterBlocks?: number;
  /** Static shared memory in bytes. */
  readonly sharedBytes: number;
  /** Of a thread, by architecture, in the order of `assembledFor`. */
  readonly registers: readonly number[];
  /** Bytes of registers that a thread spills, likewise; undefined if none spills anywhere. */
  readonly spilledBytes?: readonly number[];
}

/** A shipped PTX file. */
export interface ShippedImage {
  /** Its name in the folder of shipped PTX; the package holds it compressed, as `${file}.gz`. */
  readonly file: string;
  /** `.version`, "6.0". */
  readonly version: string;
  /** `.target`, "sm_70". */
  readonly target: string;
  readonly sha256: string;
  /** Whether a kernel of it takes dynamic shared memory. */
  readonly dynamicShared: boolean;
  /** The architectures that it was assembled for when it was made. */
  readonly assembledFor: readonly string[];
  readonly entries: readonly ShippedEntry[];
}

/** A shipped source file and what it was compiled to, for the least architecture first. */
export interface ShippedKernels {
  /** "executor" of executor.cu. */
  readonly name: string;
  readonly source: string;
  readonly includes: readonly string[];
  readonly sourceSha256: string;
  /** "nvcc 13.0.88". */
  readonly compiler: string;
  readonly flags: readonly string[];
  readonly images: readonly ShippedImage[];
}

/** A shipped source as NVRTC takes it. */
export interface ShippedSource {
  readonly source: string;
  /** For `CompileOptions.headers`. */
  readonly headers: Readonly<Record<string, string>>;
  /** For `CompileOptions.options`: as the shipped PTX was compiled. */
  readonly options: readonly string[];
}

export const shippedTable = {
  /**
   * The device's, such as [9, 0], for a file that has a form for newer devices; default the least
   * that there is a form for.
   */
  computeCapability: optional(
    tuple<readonly [major: number, minor: number]>("[major, minor]", [whole(), whole()]),
    "The device's; left out, the least that there is a form for.",
  ),
  /** Only these kernels, with what they use; default all of the file. */
  entries: optional(list(text(), "a list of names of kernels"), "These kernels alone, with what they use; left out, all of the file."),
};

/** Which PTX of a file is meant. */
export interface ShippedPtxOptions extends InputOf<typeof shippedTable> {}

let located: string | undefined;

/** Beside a bundle in dist/ or a folder of it, or at the root of the sources. */
function folder(): string {
  located ??= ["./kernels/", "../kernels/", "../../../kernels/"]
    .map((path) => fileURLToPath(new URL(path, import.meta.url)))
    .find((path) => existsSync(`${path}ptx`));
  if (located === undefined)
    throw new SpillwayError("file", `the folder of shipped kernels is missing beside ${fileURLToPath(import.meta.url)}`);
  return located;
}

/** @throws SpillwayError of code "file" if it is not there, or not whole. */
function fromFile<T>(path: string, make: () => T): T {
  try {
    return make();
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new SpillwayError("file", `the kernels of the package are not whole: ${path} cannot be read; install it again (${why})`, {
      field: "path",
      value: path,
      cause: error,
    });
  }
}

function read(path: string): string {
  const full = folder() + path;
  return fromFile(full, () => readFileSync(full, "utf8"));
}

/** PTX as it is committed and edited, or compressed as the package holds it. */
function readPtx(file: string): string {
  const path = `${folder()}ptx/${file}`;
  return fromFile(path, () =>
    existsSync(path) ? readFileSync(path, "utf8") : brotliDecompressSync(readFileSync(`${path}.br`)).toString("utf8"),
  );
}

let manifests: ReadonlyMap<string, ShippedKernels> | undefined;

function byName(): ReadonlyMap<string, ShippedKernels> {
  manifests ??= new Map(
    readdirSync(`${folder()}ptx`)
      .filter((file) => file.endsWith(".json"))
      .map((file) => file.slice(0, -5))
      .sort()
      .map((name) => [
        name,
        { name, ...fromFile(`ptx/${name}.json`, () => JSON.parse(read(`ptx/${name}.json`)) as Omit<ShippedKernels, "name">) },
      ]),
  );
  return manifests;
}

function described(name: string): ShippedKernels {
  const found = byName().get(name);
  if (!found)
    throw ArgumentError.because(`there is no shipped kernel file ${JSON.stringify(name)}; there are ${[...byName().keys()].join(", ")}`, {
      field: "name",
      value: name,
      expected: [...byName().keys()].join(", "),
    });
  return found;
}

/**
 * What is shipped: every file with its entries, parameters, launch bounds, shared memory and
 * registers.
 */
export function shippedManifest(): readonly ShippedKernels[] {
  return [...byName().values()];
}

const capability = (target: string): number => Number(/\d+/.exec(target)![0]);

function runsOn(target: string, device: number): boolean {
  return /[af]$/.test(target) ? capability(target) === device : capability(target) <= device;
}

/**
 * PTX by its file, and what was cut of it by file and entries: executors launch one kernel by its
 * name again and again.
 */
const shippedTexts = new Map<string, string>();
const compiledTexts = new WeakMap<Nvrtc, Map<string, string>>();

function textOf(texts: Map<string, string>, file: string, entries: readonly string[] | undefined, make: () => string): string {
  const cut = () => (entries ? entryModule(textOf(texts, file, undefined, make), entries) : make());
  return getOrMake(texts, JSON.stringify([file, ...(entries ?? [])]), cut);
}

/**
 * The PTX of a shipped file, such as "executor": the form for the newest devices that the device
 * belongs to.
 *
 * @throws ArgumentError naming what is shipped, if there is no such file or entry, and if the
 * device is too old for every form.
 */
export function shippedPtx(name: string, options: ShippedPtxOptions = {}): string {
  const { computeCapability, entries } = resolve(shippedTable, options, "shippedPtx");
  const { file } = imageFor(name, computeCapability);
  return textOf(shippedTexts, file, entries, () => readPtx(file));
}

/**
 * The same compiled by NVRTC from the shipped source, which has the same bits.
 *
 * @throws as `shippedPtx`; CompileError
 */
export function compiledPtx(compiler: Nvrtc, name: string, options: ShippedPtxOptions = {}): string {
  const { computeCapability, entries } = resolve(shippedTable, options, "shippedPtx");
  const { file, target } = imageFor(name, computeCapability);
  const texts = getOrMake(compiledTexts, compiler, () => new Map<string, string>());
  return textOf(texts, file, entries, () => {
    const { source, ...how } = shippedSource(name);
    const least = Math.min(...compiler.architectures);
    const architecture = `compute_${capability(target) < least ? least : target.slice("sm_".length)}`;
    return compiler.compile(source, { name: `${name}.cu`, ...how, architecture }).ptx!;
  });
}

/** The form for the newest devices that the device belongs to. @throws ArgumentError */
function imageFor(name: string, computeCapability: ShippedPtxOptions["computeCapability"]): ShippedImage {
  const { images } = described(name);
  const device = computeCapability && computeCapability[0] * 10 + computeCapability[1];
  const image = device === undefined ? images[0] : images.findLast(({ target }) => runsOn(target, device));
  if (!image)
    throw ArgumentError.because(`the kernels of ${name} need a device of ${images[0]!.target} or later; this one is of sm_${device!}`, {
      field: "computeCapability",
      value: computeCapability,
    });
  return image;
}

/**
 * The `.version` that a driver must take to load every shipped file that the device can run;
 * without a device, the lowest there is. For `ProbeOptions.ptxVersion`.
 */
export function shippedPtxVersion(
  computeCapability: readonly [major: number, minor: number] = [7, 5],
): readonly [major: number, minor: number] {
  const device = computeCapability[0] * 10 + computeCapability[1];
  const loaded = shippedManifest().flatMap(({ images }) => images.findLast(({ target }) => runsOn(target, device)) ?? []);
  const versions = loaded.map(({ version }) => version.split(".").map(Number) as [number, number]);
  return versions.reduce((most, each) => (each[0] * 100 + each[1] > most[0] * 100 + most[1] ? each : most), [6, 0]);
}

/**
 * The CUDA C++ of a shipped file, to be changed or compiled for one device:
 * `context.compile(source, { headers, options })`. @throws ArgumentError.
 */
export function shippedSource(name: string): ShippedSource {
  const { source, includes, flags } = described(name);
  const headers = Object.fromEntries(includes.map((include) => [include, read(include)]));
  return { source: read(source), headers, options: flags.filter((flag) => /^-(fmad|prec-|ftz)/.test(flag)).map((flag) => `-${flag}`) };
}
