// What a figure of the CPU bench depends on beside the code: the processor, its caches and clock,
// memory, pages, and what else it computes.
import { existsSync, readFileSync } from "node:fs";
import os from "node:os";

const read = (path) => (existsSync(path) ? readFileSync(path, "utf8").trim() : undefined);

/** One line each: the processor, its caches, and what it does at this moment. */
export function machine() {
  const caches = [0, 2, 3].map((i) => read(`/sys/devices/system/cpu/cpu0/cache/index${i}/size`) ?? "?");
  const flags = read("/proc/cpuinfo")?.match(/^flags\s*:(.*)$/m)?.[1] ?? "";
  const vectors = ["avx2", "fma", "avx512f"].filter((flag) => flags.includes(` ${flag}`));
  const pages = read("/sys/kernel/mm/transparent_hugepage/enabled")?.match(/\[(\w+)\]/)?.[1] ?? "?";
  return [
    `${os.cpus()[0]?.model.trim()}, ${os.cpus().length} threads, ${os.type()} ${os.release()}; ${vectors.join(", ")}; caches ${caches.join(", ")}; huge pages: ${pages}`,
    `clock ${clock().toFixed(1)} GHz by a chain of multiplications; copies ${copyRate(4).toFixed(0)} GB/s in 4 MB, ${copyRate(256).toFixed(0)} GB/s in 256 MB`,
  ];
}

const seconds = (work) => {
  const since = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(since);
  return (user + system) / 1e6;
};

const best = (work) => Math.min(...Array.from({ length: 5 }, () => seconds(work)));

/**
 * By multiplications that each wait for the one before, three cycles on the processors of these
 * years.
 */
function clock() {
  const count = 1e6;
  const times = 50;
  const time = best(() => {
    for (let i = 0; i < times; i++) powers(count);
  });
  return (3 * count * times) / time / 1e9;
}

function powers(count) {
  let product = 1;
  for (let i = 0; i < count; i++) product = Math.imul(product, 0x9e3779b1);
  return product;
}

/** GB read and written a second by copies within so many megabytes. */
function copyRate(megabytes) {
  const half = (megabytes * 1e6) / 16;
  const values = new Float64Array(2 * half).fill(1);
  const times = Math.ceil(1024 / megabytes);
  return (
    (megabytes * times) /
    1e3 /
    best(() => {
      for (let i = 0; i < times; i++) values.copyWithin(0, half);
    })
  );
}

/** What the processor has done so far, in milliseconds of its threads. */
export function processorTimes() {
  return os.cpus().reduce(
    (sum, { times }) => {
      const busy = times.user + times.nice + times.sys + times.irq;
      return { busy: sum.busy + busy, total: sum.total + busy + times.idle };
    },
    { busy: 0, total: 0 },
  );
}

/** Threads that were busy on average between two readings. */
export function busyThreads(before, after) {
  return ((after.busy - before.busy) / (after.total - before.total)) * os.cpus().length;
}
