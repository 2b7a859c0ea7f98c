// Counts what is given to streams: kernels, graphs, and bytes between host and device. It times
// nothing.

/** Counts of what was given to the streams that have it as their `meter`. */
export class StreamMeter {
  /** Kernels that were launched one by one. */
  launches = 0;
  graphLaunches = 0;
  bytesToDevice = 0;
  bytesToHost = 0;
  /** How often each kernel ran, those in graphs included. */
  readonly kernels: Map<string, number> = new Map();

  /** @internal */
  noteLaunch(kernel: string): void {
    this.launches++;
    this.#ran(kernel, 1);
  }

  /** @internal */
  noteCopy(toDevice: number, toHost: number): void {
    this.bytesToDevice += toDevice;
    this.bytesToHost += toHost;
  }

  /** @internal A launch of a graph in which `inside` was captured. */
  noteGraph(inside: StreamMeter): void {
    this.graphLaunches++;
    this.bytesToDevice += inside.bytesToDevice;
    this.bytesToHost += inside.bytesToHost;
    for (const [kernel, times] of inside.kernels) this.#ran(kernel, times);
  }

  #ran(kernel: string, times: number): void {
    this.kernels.set(kernel, (this.kernels.get(kernel) ?? 0) + times);
  }
}
