// What the builder refuses, as errors with the kernel's name.

import { SpillwayError } from "@spillway/core/errors.js";
/** A program that is wrong on every device: an undefined value, a divergent barrier. */
export class PtxBuildError extends SpillwayError {
  override readonly name: string = "PtxBuildError";
  /** The kernel that is being built, if there is one. */
  readonly kernel: string | undefined;

  constructor(message: string, kernel?: string, code: "value" | "unavailable" = "value") {
    super(code, kernel === undefined ? message : `kernel ${kernel}: ${message}`);
    this.kernel = kernel;
  }
}

/** A program that this target cannot run: it lacks an instruction, memory or registers. */
export class PtxTargetError extends PtxBuildError {
  override readonly name = "PtxTargetError";

  constructor(message: string, kernel?: string) {
    super(message, kernel, "unavailable");
  }
}
