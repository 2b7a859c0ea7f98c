// Graphs: work captured from streams, in an order that all its dependencies allow, launched as one.

import type { SimulatedKernel } from "./module.js";
import { code, Refusal } from "./refusal.js";
import type { Work, WorkStream } from "./stream.js";

export class Capture {
  readonly origin: WorkStream;
  readonly works: Work[] = [];
  /** Streams that came in by an event, and how much of their work was joined back. */
  readonly joined = new Map<WorkStream, number>();
  /** Why its end will fail. */
  spoiled: Refusal | undefined;

  constructor(origin: WorkStream) {
    this.origin = origin;
  }

  /** Takes in a stream that waits for captured work. @throws Refusal if another captures it. */
  take(stream: WorkStream): void {
    if (stream.capture !== undefined && stream.capture !== this) throw new Refusal(code.streamCaptureMerge);
    if (stream.capture === this) return;
    stream.capture = this;
    stream.captured = 0;
    this.joined.set(stream, 0);
  }

  /** Notes that work of a stream, up to a count, comes before what another does next. */
  join(from: WorkStream, upTo: number): void {
    const before = this.joined.get(from);
    if (before !== undefined) this.joined.set(from, Math.max(before, upTo));
  }

  /** Ends it. @throws Refusal if it was spoiled, or work of a stream was never joined back. */
  end(): Work[] {
    const streams = [...this.joined].map(([stream, upTo]) => ({ open: stream.captured > upTo, stream }));
    this.origin.capture = undefined;
    for (const { stream } of streams) stream.capture = undefined;
    if (this.spoiled) throw this.spoiled;
    if (streams.some(({ open }) => open))
      throw new Refusal(
        code.streamCaptureUnjoined,
        "a stream that came into the capture by an event was not waited for by the one that began it",
      );
    return this.works;
  }
}

/** Kernel work knows its kernel: an update can tell whether it changed. */
export interface KernelWork extends Work {
  readonly kind: "kernel";
  readonly kernel: SimulatedKernel;
}

export class SimulatedGraph {
  readonly works: readonly Work[];

  constructor(works: readonly Work[]) {
    this.works = works;
  }
}

// CUgraphExecUpdateResult, cuda.h.
const updateResult = { success: 0, topology: 2, nodeType: 3, functionChanged: 4 } as const;

export class ExecutableGraph {
  works: readonly Work[];

  constructor(works: readonly Work[]) {
    this.works = works;
  }

  /** Takes over work of a graph of the same parts: gives a CUgraphExecUpdateResult. */
  update({ works }: SimulatedGraph): number {
    if (works.length !== this.works.length) return updateResult.topology;
    for (const [index, work] of works.entries()) {
      const old = this.works[index]!;
      if (old.kind !== work.kind) return updateResult.nodeType;
      if (work.kind === "kernel" && (work as KernelWork).kernel.module.context !== (old as KernelWork).kernel.module.context)
        return updateResult.functionChanged;
    }
    this.works = works;
    return updateResult.success;
  }
}
