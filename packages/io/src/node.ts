// Node's own modules, fetched when a file is touched: a browser bundle of the parsers carries none
// of them.
import { ArgumentError } from "@spillway/core/errors.js";
import { FileError } from "./errors.js";

type NodeFs = typeof import("node:fs");
type NodePath = typeof import("node:path");

/** @throws FileError outside Node, ArgumentError for a path that is no text. */
export function nodeFs(path: string): NodeFs {
  return builtin("node:fs", path);
}

/** @throws FileError outside Node, ArgumentError for a path that is no text. */
export function nodePath(path: string): NodePath {
  return builtin("node:path", path);
}

function builtin<Module>(id: string, path: string): Module {
  if (typeof path !== "string") throw new ArgumentError("path", path, "a text");
  const found = globalThis.process?.getBuiltinModule?.(id);
  if (!found) {
    throw new FileError(path, "there is no file system here: files take Node 20.19 or newer; elsewhere parse bytes or text", "unavailable");
  }
  return found as Module;
}
