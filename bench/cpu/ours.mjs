// Our side of the CPU bench: the same requests as peer.py, answered by the built package. Times are
// process CPU time.
import { createInterface } from "node:readline";
import { Matrix, ReservoirComputer, ridge } from "spillway";

/** Uniform (-1, 1) from a linear congruential generator: inputs need no quality. */
function uniform(rows, cols, seed) {
  let s = seed >>> 0;
  const data = Float32Array.from({ length: rows * cols }, () => {
    s = (Math.imul(s, 1664525) + 1013904223) >>> 0;
    return s / 2147483648 - 1;
  });
  return new Matrix(rows, cols, data);
}

const cpuSeconds = (since) => {
  const { user, system } = process.cpuUsage(since);
  return (user + system) / 1e6;
};

let current;
for await (const line of createInterface({ input: process.stdin })) {
  const request = JSON.parse(line);
  let answer;
  if (request.kind === "about") {
    answer = { node: process.version };
  } else if (request.kind === "reservoir") {
    const { size, density, steps, threads = 1 } = request;
    const key = `${size} ${density} ${threads}`;
    if (current?.key !== key) {
      await current?.computer.dispose();
      const computer = await ReservoirComputer.create(
        // The radius does not change the time; the weights are scaled as the peer's are.
        {
          size,
          inputSize: 3,
          connectionProbability: density,
          spectralRadius: null,
          inputScaling: 1,
          storage: density < 1 ? "sparse" : "dense",
          seed: 1,
        },
        { threads },
      );
      current = { key, computer };
    }
    const inputs = uniform(steps, 3, 2);
    // Both sides write into memory they have touched before: page faults are the system's, and Node
    // gets no huge pages.
    if (current.into?.rows !== steps) current.into = Matrix.from(uniform(steps, size, 3), "float32");
    const { into } = current;
    const since = process.cpuUsage();
    await current.computer.run(inputs, { into });
    answer = { seconds: cpuSeconds(since) / steps };
  } else if (request.kind === "create") {
    const { size, density, radius, distribution, seed, steps } = request;
    const described = { size, connectionProbability: density, radiusMethod: radius, weightDistribution: distribution };
    const since = process.cpuUsage();
    for (let k = 0; k < steps; k++) {
      const computer = await ReservoirComputer.create({ ...described, seed: seed + k }, { engine: "cpu" });
      await computer.dispose();
    }
    answer = { seconds: cpuSeconds(since) / steps };
  } else if (request.kind === "ridge") {
    const { rows, size, blas } = request;
    const states = uniform(rows, size, 5);
    const targets = Matrix.from(uniform(rows, 1, 6));
    const since = process.cpuUsage();
    ridge({ lambda: 1e-6, intercept: false, ...(blas ? { blas } : {}) }).fit(states, targets);
    answer = { seconds: cpuSeconds(since) };
  }
  process.stdout.write(`${JSON.stringify(answer)}\n`);
}
