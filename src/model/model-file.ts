// The envelope of a model file: one safetensors file with format, version, kind and checksum. What
// is in a model of some kind is another file's matter. Reading one never executes anything.
import { ArgumentError } from "@spillway/core/errors.js";
import { type InputOf, option, text } from "@spillway/core/options.js";
import { FileError } from "@spillway/io/errors.js";
import { decodeSafetensors, encodeSafetensors } from "@spillway/io/safetensors.js";
import type { SafetensorsTensor } from "@spillway/io/safetensors-types.js";
import type { EngineSelection } from "../reservoir/index.js";
import { selectionTable } from "../reservoir/options.js";
import { sha256 } from "./checksum.js";
import { packageVersion } from "./version.js";

/** What a file can hold. */
export type ModelKind = "reservoir" | "forecaster" | "nvar" | "field" | "classifier" | "pipeline" | "detector";

const formatName = "spillway";
/** The format versions that are read; files of what the first one can say are written in it. */
const formatVersion = 2;
const kinds: readonly string[] = ["reservoir", "forecaster", "nvar", "field", "classifier", "pipeline", "detector"] satisfies ModelKind[];

/** Tensors by name and notes by name: the content of a model file. */
export interface ModelContent {
  readonly tensors: Readonly<Record<string, SafetensorsTensor>>;
  readonly metadata: Readonly<Record<string, string>>;
  /** The format version that is written; left out, 1. */
  readonly formatVersion?: number;
}

/** A decoded model file. */
export interface ModelFile extends ModelContent {
  readonly kind: ModelKind;
  /** The version of the package that wrote it. */
  readonly packageVersion: string;
}

/** A model file that cannot be used: damaged, of another kind or shape, or of a newer version. */
export class ModelFileError extends FileError {
  override readonly name = "ModelFileError";
  constructor(path: string, reason: string, cause?: unknown) {
    super(path, reason, "content", cause);
  }
}

export const loadTable = {
  ...selectionTable,
  /** What errors call the bytes by. Default "model data". */
  source: option(text(), "model data", "What errors call the bytes by."),
};

/** How a model is opened again. */
export interface LoadOptions extends EngineSelection, InputOf<typeof loadTable> {}

/** @throws ArgumentError for an engine, a plan or a device that a model without a reservoir does not run on */
export function checkHost({ engine = "auto", plan = "auto", context }: LoadOptions, model: string): void {
  const reason = `for ${model}, which runs on the host`;
  if (!["auto", "cpu", "reference"].includes(engine)) throw new ArgumentError("engine", engine, `"auto", "cpu" or "reference" ${reason}`);
  if (plan !== "auto") throw new ArgumentError("plan", plan, `"auto" ${reason}`);
  if (context) throw ArgumentError.because(`context was given ${reason}`, { field: "context" });
}

const blankDigest = "0".repeat(64);

/**
 * Writes the envelope around a model's content. The note `sha256` is the SHA-256 of the whole file
 * with these 64 digits written as zeros: it covers weights, shapes and notes. The same content
 * gives the same bytes.
 */
export async function encodeModelFile(kind: ModelKind, content: ModelContent): Promise<Uint8Array> {
  const notes = { format: formatName, formatVersion: String(content.formatVersion ?? 1), kind, packageVersion, sha256: blankDigest };
  const bytes = encodeSafetensors(content.tensors, { ...content.metadata, ...notes });
  const offset = digestOffset(bytes, blankDigest);
  bytes.set(new TextEncoder().encode(await sha256([bytes])), offset);
  return bytes;
}

/**
 * Reads the envelope and checks it: format, version, checksum, and kind if one is asked for.
 * @param source what errors call the data by: the path
 * @throws FileError (ModelFileError, or FormatError for a file that is no whole safetensors file)
 * with the reason
 */
export async function decodeModelFile(bytes: Uint8Array, source: string, expected?: ModelKind): Promise<ModelFile> {
  // A safetensors file begins with eight bytes and "{".
  if (bytes instanceof Uint8Array && bytes.length > 8 && bytes[8] !== 0x7b)
    throw new ModelFileError(source, "it is no model; a model is a folder of runs/, or the model.safetensors in it");
  const { tensors, metadata } = decodeSafetensors(bytes, { source });
  const note = (name: string): string => {
    const value = metadata[name];
    if (value === undefined) throw new ModelFileError(source, `its metadata has no "${name}"; a model file of ${formatName} has one`);
    return value;
  };
  const format = metadata["format"];
  if (format !== formatName) {
    const found = format === undefined ? "names no format" : `names the format ${JSON.stringify(format.slice(0, 60))}`;
    throw new ModelFileError(source, `it is a safetensors file but no model of ${formatName}: its metadata ${found}`);
  }
  const version = note("formatVersion");
  if (!/^[1-9][0-9]{0,8}$/.test(version))
    throw new ModelFileError(source, `its format version is ${JSON.stringify(version.slice(0, 60))}; it takes a number`);
  if (Number(version) > formatVersion) {
    const writer = `${formatName} ${metadata["packageVersion"]?.slice(0, 60) ?? "of an unknown version"}`;
    const reader = `${formatName} ${packageVersion}, which reads up to version ${formatVersion}`;
    throw new ModelFileError(source, `it was written in format version ${version}, by ${writer}; this is ${reader}: update ${formatName}`);
  }
  await checkDigest(bytes, note("sha256"), source);
  const kind = note("kind");
  if (!kinds.includes(kind))
    throw new ModelFileError(source, `its kind is ${JSON.stringify(kind.slice(0, 60))}; it takes ${kinds.join(", ")}`);
  if (expected && kind !== expected) throw new ModelFileError(source, `it holds a ${kind}, and a ${expected} was asked for`);
  return { kind: kind as ModelKind, packageVersion: note("packageVersion"), tensors, metadata };
}

async function checkDigest(bytes: Uint8Array, digest: string, source: string): Promise<void> {
  const offset = /^[0-9a-f]{64}$/.test(digest) ? digestOffset(bytes, digest) : -1;
  if (offset >= 0) {
    const found = await sha256([
      bytes.subarray(0, offset),
      new TextEncoder().encode(blankDigest),
      bytes.subarray(offset + blankDigest.length),
    ]);
    if (found === digest) return;
  }
  throw new ModelFileError(source, "it is corrupted: its bytes do not give the checksum it names; take another copy");
}

/** Where the note `sha256` stands in the header. */
function digestOffset(bytes: Uint8Array, digest: string): number {
  const headerEnd = 8 + Number(new DataView(bytes.buffer, bytes.byteOffset, 8).getBigUint64(0, true));
  const text = `"sha256":"${digest}"`;
  const wanted = new TextEncoder().encode(text);
  for (let at = 8; at + wanted.length <= headerEnd; at++) {
    if (wanted.every((byte, i) => bytes[at + i] === byte)) return at + text.indexOf(digest);
  }
  return -1;
}
