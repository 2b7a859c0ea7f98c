// How a simulated driver call fails: with a CUDA status and, if it knows more, an error that
// says what was wrong.
import { SpillwayError } from "@spillway/core/errors.js";
import { status as code, statusName } from "@spillway/gpu/status.js";
import { SimulationError } from "@spillway/ptx/interpreter/index.js";

export { code };

/** What CUDA's driver says of some statuses; for others it gives the name in words. */
const sentences: Readonly<Record<number, string>> = {
  0: "no error",
  1: "invalid argument",
  2: "out of memory",
  400: "invalid resource handle",
  600: "device not ready",
  700: "an illegal memory access was encountered",
  702: "the launch timed out and was terminated",
  710: "device-side assert triggered",
  714: "hardware stack error",
  715: "an illegal instruction was encountered",
  716: "misaligned address",
  719: "unspecified launch failure",
  720: "too many blocks in cooperative launch",
};

export function sentenceOf(status: number): string {
  return sentences[status] ?? statusName(status).replace("CUDA_ERROR_", "").replaceAll("_", " ").toLowerCase();
}

export class Refusal extends SpillwayError {
  override readonly name = "Refusal";
  readonly status: number;
  /** What is known beyond the status; undefined if the status says it all. */
  readonly reason: Error | undefined;

  constructor(status: number, reason?: string | Error) {
    super("device", statusName(status));
    this.status = status;
    this.reason = typeof reason === "string" ? new SpillwayError("device", reason) : reason;
  }
}

/** What a GPU answers to an error. If a GPU would go on, the launch counts as failed. */
const kinds: Partial<Record<SimulationError["kind"], number>> = {
  outOfBounds: code.illegalAddress,
  useAfterFree: code.illegalAddress,
  foreign: code.illegalAddress,
  readOnly: code.illegalAddress,
  misaligned: code.misalignedAddress,
  spin: code.launchTimeout,
  assertion: code.assert,
  illegalInstruction: code.illegalInstruction,
  stackOverflow: code.hardwareStackError,
};

export function faultStatus(error: unknown): number {
  if (error instanceof Refusal) return error.status;
  return (error instanceof SimulationError ? kinds[error.kind] : undefined) ?? code.launchFailed;
}
