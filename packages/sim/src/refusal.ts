// How a simulated driver call fails: with a CUDA status and, if it knows more, an error that
// says what was wrong.
import { SpillwayError } from "@spillway/core/errors.js";
import { statusName } from "@spillway/gpu";
import { SimulationError } from "@spillway/ptx/interpreter/index.js";

/** The statuses that the simulated driver gives (CUresult, cuda.h). */
export const code = {
  success: 0,
  invalidValue: 1,
  outOfMemory: 2,
  notInitialized: 3,
  invalidDevice: 101,
  invalidImage: 200,
  invalidContext: 201,
  noBinaryForGpu: 209,
  peerAccessUnsupported: 217,
  invalidPtx: 218,
  unsupportedPtxVersion: 222,
  invalidHandle: 400,
  illegalState: 401,
  notFound: 500,
  notReady: 600,
  illegalAddress: 700,
  launchOutOfResources: 701,
  launchTimeout: 702,
  peerAccessAlreadyEnabled: 704,
  peerAccessNotEnabled: 705,
  assertion: 710,
  hostMemoryAlreadyRegistered: 712,
  hostMemoryNotRegistered: 713,
  hardwareStackError: 714,
  illegalInstruction: 715,
  misalignedAddress: 716,
  launchFailed: 719,
  cooperativeLaunchTooLarge: 720,
  notSupported: 801,
  captureUnsupported: 900,
  captureInvalidated: 901,
  captureMerge: 902,
  captureUnmatched: 903,
  captureUnjoined: 904,
  captureIsolation: 905,
  capturedEvent: 907,
  graphExecUpdateFailure: 910,
  invalidClusterSize: 912,
} as const;

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
  assertion: code.assertion,
  illegalInstruction: code.illegalInstruction,
  stackOverflow: code.hardwareStackError,
};

export function faultStatus(error: unknown): number {
  if (error instanceof Refusal) return error.status;
  return (error instanceof SimulationError ? kinds[error.kind] : undefined) ?? code.launchFailed;
}
