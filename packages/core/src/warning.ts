// A sentence that a user sees without an error: on stderr in Node, in the console elsewhere.

const given = new Set<string>();

/** Warns, once a process for each type, such as "SpillwaySaturationWarning". */
export function warnOnce(type: string, message: string): void {
  if (given.has(type)) return;
  given.add(type);
  if (globalThis.process?.versions?.node) process.emitWarning(message, type);
  else console.warn(message);
}
