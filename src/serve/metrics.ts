// What a server counts, as Prometheus reads it (text exposition format 0.0.4).

/** Upper bounds of the histogram of seconds. */
const bounds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

/** A gauge that is read when it is asked for. */
export interface Gauge {
  readonly name: string;
  readonly help: string;
  readonly read: () => number;
}

/**
 * Counts of requests and their seconds by path. Paths are those of routes: there are only so many.
 */
export class Metrics {
  readonly #answers = new Map<string, number>();
  readonly #seconds = new Map<string, { readonly counts: number[]; sum: number; all: number }>();
  readonly #gauges: readonly Gauge[];

  constructor(gauges: readonly Gauge[]) {
    this.#gauges = gauges;
  }

  /** Counts one answer. */
  add(path: string, status: number, seconds: number): void {
    const key = `path="${path}",status="${status}"`;
    this.#answers.set(key, (this.#answers.get(key) ?? 0) + 1);
    const found = this.#seconds.get(path) ?? { counts: bounds.map(() => 0), sum: 0, all: 0 };
    this.#seconds.set(path, found);
    found.all++;
    found.sum += seconds;
    for (const [i, bound] of bounds.entries()) if (seconds <= bound) found.counts[i]!++;
  }

  /** All of it as text. */
  text(): string {
    const lines: string[] = [];
    const head = (name: string, type: string, help: string) => lines.push(`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`);
    head("spillway_requests_total", "counter", "Requests that were answered.");
    for (const [key, count] of this.#answers) lines.push(`spillway_requests_total{${key}} ${count}`);
    head("spillway_request_seconds", "histogram", "Seconds from the head of a request to the end of its answer.");
    for (const [path, { counts, sum, all }] of this.#seconds) {
      for (const [i, bound] of bounds.entries()) lines.push(`spillway_request_seconds_bucket{path="${path}",le="${bound}"} ${counts[i]}`);
      lines.push(`spillway_request_seconds_bucket{path="${path}",le="+Inf"} ${all}`);
      lines.push(`spillway_request_seconds_sum{path="${path}"} ${sum}`, `spillway_request_seconds_count{path="${path}"} ${all}`);
    }
    for (const { name, help, read } of this.#gauges) {
      head(name, name.endsWith("_total") ? "counter" : "gauge", help);
      lines.push(`${name} ${read()}`);
    }
    return `${lines.join("\n")}\n`;
  }
}
