// Stops a program at its n-th change to files beneath a folder, as kill -9 would: in a test, where
// the program stands still for ever from there on, or in a command that imports this file first,
// which is killed or computes for ever without a turn of the event loop. A write is left half done,
// and so is the removal of a folder.
import { promises } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { join, resolve } from "node:path";

const changes = ["open", "rename", "unlink", "rm", "mkdir", "utimes"];
const handleChanges = ["write", "sync", "chmod"];
const original = Object.fromEntries([...changes, "readdir"].map((name) => [name, promises[name]]));

/** What is done of a change before the program stops. */
const halves = {
  write: (handle, write, [bytes, offset, length, position]) => write.call(handle, bytes, offset, length >> 1, position),
  rm: async (_, __, [path]) => {
    const [first] = await original.readdir(path).catch(() => []);
    if (first !== undefined) await original.rm(join(path, first), { recursive: true });
  },
};

/**
 * Counts the changes beneath `folder`. The n-th (from 1) is done by half and then `stop` is called,
 * which gives what the caller is to wait for, if it returns. `restore` ends it; `calls` names the
 * changes.
 */
export async function stopAt(folder, n, stop) {
  const root = resolve(folder);
  const calls = [];
  let isStopped = false;
  const meet = async (name, path, self, method, args) => {
    if (isStopped) return stop();
    if (typeof path === "string" && !resolve(path).startsWith(root)) return method.apply(self, args);
    calls.push(name);
    if (calls.length !== n) return method.apply(self, args);
    isStopped = true;
    await halves[name]?.(self, method, args);
    return stop();
  };
  const probe = await promises.open(process.execPath, "r");
  const prototype = Object.getPrototypeOf(probe);
  await probe.close();
  const ofHandle = Object.fromEntries(handleChanges.map((name) => [name, prototype[name]]));
  const watched = new Set();
  for (const name of changes)
    promises[name] = async (...args) => {
      // Opening to look is no change.
      if (name === "open" && !String(args[1] ?? "r").startsWith("w")) return original.open(...args);
      const result = await meet(name, String(args[0]), promises, original[name], args);
      if (name === "open" && resolve(String(args[0])).startsWith(root)) watched.add(result);
      return result;
    };
  for (const name of handleChanges)
    prototype[name] = function (...args) {
      return watched.has(this) ? meet(name, undefined, this, ofHandle[name], args) : ofHandle[name].apply(this, args);
    };
  syncBuiltinESMExports();
  const restore = async () => {
    Object.assign(promises, Object.fromEntries(changes.map((name) => [name, original[name]])));
    Object.assign(prototype, ofHandle);
    syncBuiltinESMExports();
    await Promise.all([...watched].map((handle) => handle.close()));
  };
  return { restore, calls };
}

const { KILL_AT, HANG_AT, FAULTS_IN } = process.env;
// The process that supervises a command is spared: it has no one to send to.
if (FAULTS_IN !== undefined && process.send !== undefined)
  await stopAt(FAULTS_IN, Number(KILL_AT ?? HANG_AT), () => {
    if (KILL_AT !== undefined) process.kill(process.pid, "SIGKILL");
    for (;;);
  });
