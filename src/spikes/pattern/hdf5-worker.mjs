// Reads and writes event lists and trees of datasets in HDF5 with h5wasm, in a thread of its own: a
// damaged file can keep that library busy for ever, and a thread can be ended. This is the only
// file that loads it. What the numbers mean is the matter of hdf5.ts and of ../nir. A damaged file
// can also spoil the library's memory, so that memory is put back after each file to what it was
// before the first.
import { parentPort } from "node:worker_threads";

/** Why a file is refused, in a sentence. */
class Refusal extends Error {}

const rowsAtOnce = 1024;
const eventFile = "events.h5";
/** Bytes that the library's memory may have grown by and be kept, for it never shrinks. */
const mostGrowth = 2 ** 26;

/** How far the library's memory may grow, in bytes; it sizes it by what a file says of itself. */
let memoryLimit = Number.POSITIVE_INFINITY;

function limitMemory() {
  const { grow } = WebAssembly.Memory.prototype;
  WebAssembly.Memory.prototype.grow = function (pages) {
    if (this.buffer.byteLength + pages * 65536 > memoryLimit) throw new RangeError("the file asks for more memory than it may have");
    return grow.call(this, pages);
  };
}

/** Gives the instance that is made while `load` runs. */
async function withInstance(load) {
  const { instantiate } = WebAssembly;
  let instance;
  WebAssembly.instantiate = async (...parts) => {
    const made = await instantiate.apply(WebAssembly, parts);
    instance ??= made.instance ?? made;
    return made;
  };
  const loaded = await load();
  WebAssembly.instantiate = instantiate;
  return { ...loaded, instance };
}

async function loadLibrary() {
  // It prints a page for every thing that is wrong.
  for (const print of ["log", "info", "warn", "error"]) console[print] = () => undefined;
  limitMemory();
  try {
    return await withInstance(async () => {
      const library = await import("h5wasm");
      return { library, module: await library.ready };
    });
  } catch (error) {
    return { missing: String(error) };
  }
}

/**
 * Remembers all that a file can change: the memory of the library, its mutable globals (the stack
 * pointer) and its files. Gives what puts this back, which is false if it cannot; then the thread
 * is not to be used again.
 */
function remember({ module, instance }) {
  const { memory, ...others } = instance?.exports ?? {};
  if (!memory) return () => false;
  const before = new Uint8Array(memory.buffer).slice();
  const globals = Object.values(others).flatMap((global) => {
    if (!(global instanceof WebAssembly.Global)) return [];
    const value = global.value;
    try {
      global.value = value;
    } catch {
      return []; // It cannot change.
    }
    return [{ global, value }];
  });
  const { FS } = module;
  const filesNow = () => JSON.stringify([FS.readdir("/"), FS.readdir("/tmp"), FS.streams.map((stream) => stream?.path)]);
  const files = filesNow();
  const streams = FS.streams.length;
  return () => {
    if (memory.buffer.byteLength - before.length > mostGrowth) return false;
    for (const stream of FS.streams.slice(streams)) if (stream) FS.close(stream);
    FS.streams.length = streams;
    FS.unlink(eventFile);
    const now = new Uint8Array(memory.buffer);
    now.set(before);
    now.fill(0, before.length);
    for (const { global, value } of globals) global.value = value;
    return filesNow() === files;
  };
}

/** The filters of HDF5 that are read: deflate (gzip), shuffle and checksums. */
const readFilters = [1, 2, 3];

/** @throws Refusal for a dataset that is compressed by something else */
function checkFilters({ filters }, path) {
  const unread = filters.find(({ id }) => !readFilters.includes(id));
  if (unread) throw new Refusal(`${path} is compressed by the filter ${unread.name || unread.id}, which is not read; write it with gzip`);
}

function datasetAt(file, path) {
  const found = file.get(path);
  if (!found || !("metadata" in found)) return undefined;
  checkFilters(found, path);
  return found;
}

/**
 * Rows of variable length one after the other: their bytes, where each begins, and the type of
 * their numbers.
 */
function readRows(module, file, path, count, fileBytes) {
  const type = datasetAt(file, path).metadata.vlen_type;
  const offsets = new Float64Array(count + 1);
  const parts = [];
  let total = 0;
  for (let first = 0; first < count; first += rowsAtOnce) {
    const rows = Math.min(rowsAtOnce, count - first);
    const pointer = module._malloc(8 * rows);
    if (pointer === 0) throw new Refusal("it asks for more memory than it may have");
    try {
      const status = module.get_dataset_data(file.file_id, path, [BigInt(rows)], [BigInt(first)], [1n], BigInt(pointer));
      if (status < 0) throw new Refusal(`${path} cannot be read: the file is damaged`);
      const pairs = new Uint32Array(module.HEAPU8.buffer, pointer, 2 * rows).slice();
      for (let r = 0; r < rows; r++) {
        const [length, data] = [pairs[2 * r], pairs[2 * r + 1]];
        const size = length * type.size;
        total += size;
        // Rows lie in the file as they are, so that together they cannot be larger than it.
        if (data + size > module.HEAPU8.length || total > fileBytes)
          throw new Refusal(`row ${first + r} of ${path} is said to hold ${length} numbers, more than the file has: it is damaged`);
        parts.push(module.HEAPU8.slice(data, data + size));
        offsets[first + r + 1] = offsets[first + r] + length;
      }
      module.reclaim_vlen_memory_count(file.file_id, path, "", BigInt(pointer), [BigInt(rows)]);
    } finally {
      module._free(pointer);
    }
  }
  const bytes = new Uint8Array(total);
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  // The library turns numbers into those of this machine, little-endian, whatever the file has.
  const { type: kind, size, signed } = type;
  return { bytes, offsets, type: { type: kind, size, signed } };
}

/**
 * The numbers of a dataset of one dimension, of a length that is known; undefined if there is no
 * such dataset.
 */
function readNumbers(file, path, length, what) {
  const dataset = datasetAt(file, path);
  if (!dataset) return undefined;
  const value = dataset.shape?.length === 1 && dataset.shape[0] === length ? dataset.value : undefined;
  if (!ArrayBuffer.isView(value)) throw new Refusal(`${path} is not one number ${what}`);
  return Float64Array.from(value, Number);
}

function readNames(file, fileBytes) {
  const dataset = datasetAt(file, "extra/keys");
  if (!dataset) return undefined;
  const { shape, metadata } = dataset;
  if (!((shape ?? []).reduce((product, size) => product * size, 1) * metadata.size <= 16 * fileBytes))
    throw new Refusal("extra/keys is said to be larger than the file: it is damaged");
  return Array.isArray(dataset.value) ? dataset.value.map(String) : undefined;
}

function read({ library, module }, { bytes }) {
  module.FS.writeFile(eventFile, bytes);
  const file = new library.File(eventFile, "r");
  if (file.file_id < 0n) throw new Refusal("it is no HDF5 file");
  const [times, units] = ["spikes/times", "spikes/units"].map((path) => datasetAt(file, path));
  if (!times || !units) throw new Refusal('it has no datasets "spikes/times" and "spikes/units"');
  const counts = [times, units].map(({ shape, metadata }) => (metadata.vlen_type && shape?.length === 1 ? shape[0] : -1));
  if (counts[0] !== counts[1] || counts[0] === -1)
    throw new Refusal("spikes/times and spikes/units are not one row of variable length for each of the same number of patterns");
  const count = counts[0];
  if (!(count <= bytes.length)) throw new Refusal(`it is said to hold ${count} patterns, more than it has bytes: it is damaged`);
  const timeRows = readRows(module, file, "spikes/times", count, bytes.length);
  const unitRows = readRows(module, file, "spikes/units", count, bytes.length);
  const uneven = timeRows.offsets.findIndex((offset, i) => offset !== unitRows.offsets[i]);
  if (uneven >= 0) throw new Refusal(`pattern ${uneven - 1} has another number of times than of units`);
  const [labels, speakers] = ["labels", "extra/speaker"].map((path) => readNumbers(file, path, count, "a pattern"));
  const amplitudes = readNumbers(file, "extra/amplitudes", timeRows.offsets[count], "a spike");
  return { count, times: timeRows, units: unitRows, labels, speakers, amplitudes, classNames: readNames(file, bytes.length) };
}

/** Writes one row of variable length: HDF5 takes its length and its address. */
function writeRow(module, file, path, i, row) {
  const bytes = new Uint8Array(row.buffer, row.byteOffset, row.byteLength);
  const pair = module._malloc(8);
  const data = module._malloc(Math.max(1, bytes.length));
  try {
    module.HEAPU8.set(bytes, data);
    new Uint32Array(module.HEAPU8.buffer, pair, 2).set([row.length, data]);
    module.set_dataset_data(file.file_id, path, [1n], [BigInt(i)], [1n], BigInt(pair));
  } finally {
    module._free(data);
    module._free(pair);
  }
}

function write({ library, module }, { template, times, units, labels, classNames, amplitudes }) {
  module.FS.writeFile(eventFile, template);
  const file = new library.File(eventFile, "a");
  for (const path of ["spikes/times", "spikes/units"]) file.get(path).resize([times.length]);
  for (let i = 0; i < times.length; i++) {
    writeRow(module, file, "spikes/times", i, times[i]);
    writeRow(module, file, "spikes/units", i, units[i]);
  }
  if (labels) file.create_dataset({ name: "labels", data: labels });
  if (labels || amplitudes) file.create_group("extra");
  if (classNames) file.get("extra").create_dataset({ name: "keys", data: classNames });
  if (amplitudes) file.get("extra").create_dataset({ name: "amplitudes", data: amplitudes });
  file.close();
  return module.FS.readFile(eventFile);
}

/** Groups within groups at most: links may go round. */
const mostDepth = 16;
/**
 * Bytes of a tree's numbers and texts, as they are read: no more than the file can hold, as its
 * compression saves a factor of 1032 at most, and 32 MiB that it may leave to a fill value.
 */
const mostBytes = (fileBytes) => Math.min(2 ** 28, 2 ** 25 + 1032 * fileBytes);

/** HDF5's class of whole numbers. */
const integerClass = 0;

/** A dataset as numbers or texts with their shape; undefined for what is neither. */
function readDataset(dataset, path, left) {
  const { shape, metadata } = dataset;
  if (!shape) return undefined;
  // Nothing else is compressed, and every question takes the library a tenth of a millisecond.
  if (metadata.chunks) checkFilters(dataset, path);
  const count = shape.reduce((product, size) => product * size, 1);
  // Texts of variable length are 16 bytes of address each.
  const bytes = count * Math.max(8, metadata.size);
  if (!(bytes <= left.bytes)) throw new Refusal(`${path} is said to hold ${count} values, more than is read`);
  left.bytes -= bytes;
  const { value } = dataset;
  const list = ArrayBuffer.isView(value) || Array.isArray(value) ? value : [value];
  if (list.length !== count) throw new Refusal(`${path} cannot be read: the file is damaged`);
  if (typeof list[0] === "string") return { shape, texts: Array.from(list, String) };
  const isNumber = (each) => typeof each === "number" || typeof each === "bigint" || typeof each === "boolean";
  if (!Array.prototype.every.call(list, isNumber)) return undefined;
  const numbers = Float64Array.from(list, Number);
  if (metadata.type !== integerClass) return { shape, numbers };
  const inexact = numbers.find((each) => !Number.isSafeInteger(each));
  if (inexact !== undefined) throw new Refusal(`${path} holds ${inexact}, a whole number beyond 2^53`);
  return { shape, numbers, whole: true };
}

/**
 * The groups and datasets in a group, by name: all are counted before the first dataset is read.
 * Links by name are none.
 */
function listGroup(library, module, group, depth, left) {
  const names = group.keys();
  left.members -= names.length;
  if (left.members < 0) throw new Refusal(`it holds more than ${left.mostMembers} groups and datasets, which is the most that are read`);
  if (depth > mostDepth) throw new Refusal(`its groups are more than ${mostDepth} within each other`);
  return names.map((name) => {
    const path = group.path === "/" ? `/${name}` : `${group.path}/${name}`;
    // One by one: the library finds the types of all in a time that grows with their square.
    const type = module.get_type(group.file_id, path);
    if (type === module.H5G_DATASET) return { name, dataset: new library.Dataset(group.file_id, path) };
    if (type !== module.H5G_GROUP) return { name };
    return { name, members: listGroup(library, module, new library.Group(group.file_id, path), depth + 1, left) };
  });
}

function readMembers(list, left) {
  const members = {};
  for (const { name, members: inside, dataset } of list) {
    const value = inside ? { members: readMembers(inside, left) } : dataset && readDataset(dataset, dataset.path.slice(1), left);
    // A name such as __proto__ is a member like any other.
    if (value) Object.defineProperty(members, name, { value, enumerable: true });
  }
  return members;
}

function readTree({ library, module }, { bytes, mostMembers }) {
  module.FS.writeFile(eventFile, bytes);
  const file = new library.File(eventFile, "r");
  if (file.file_id < 0n) throw new Refusal("it is no HDF5 file");
  const left = { members: mostMembers, mostMembers, bytes: mostBytes(bytes.length) };
  return readMembers(listGroup(library, module, file, 0, left), left);
}

function writeGroup(group, members) {
  for (const [name, value] of Object.entries(members)) {
    if (value.members) writeGroup(group.create_group(name), value.members);
    else if (value.whole) group.create_dataset({ name, data: BigInt64Array.from(value.numbers, BigInt), shape: value.shape });
    else if (value.numbers) group.create_dataset({ name, data: value.numbers, shape: value.shape });
    else if (value.shape.length === 0) group.create_dataset({ name, data: value.texts[0] });
    else group.create_dataset({ name, data: value.texts, shape: value.shape });
  }
}

function writeTree({ library, module }, { members }) {
  const file = new library.File(eventFile, "w");
  writeGroup(file, members);
  file.close();
  return module.FS.readFile(eventFile);
}

const tasks = { read, write, readTree, writeTree };

/** Does a task; `again`: the thread can be given another. */
function answer(loaded, task, putBack) {
  memoryLimit = task.memoryBytes ?? Number.POSITIVE_INFINITY;
  let outcome;
  try {
    outcome = { value: tasks[task.task](loaded, task) };
  } catch (error) {
    // What else is thrown may have left the library's own JavaScript half way.
    if (!(error instanceof Refusal)) return { broken: String(error), again: false };
    outcome = { refused: error.message };
  }
  try {
    return { ...outcome, again: putBack() };
  } catch {
    return { ...outcome, again: false };
  }
}

const loaded = await loadLibrary();
const putBack = loaded.missing === undefined ? remember(loaded) : undefined;
parentPort.on("message", (task) => {
  parentPort.postMessage(putBack ? answer(loaded, task, putBack) : { missing: loaded.missing, again: false });
});
