// What launches and graphs cost from TypeScript on a GPU, beside PyTorch's in the same run (if
// python3 has torch). Usage: npm run bench:gpu
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { openDevice, simulatedDriver } from "spillway/gpu";

const context = openDevice(0);
const module = context.load(readFileSync(new URL("../../test/gpu/fixtures/kernels.ptx", import.meta.url), "utf8"));
const stream = context.stream();
const median = (values) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];

/**
 * Median microseconds of one of `count` pieces of work over a second of rounds, the wait for all of
 * them included.
 */
function cost(count, work) {
  const rounds = [];
  for (const begin = performance.now(); performance.now() - begin < 1000; ) {
    const start = performance.now();
    work();
    stream.sync();
    rounds.push(((performance.now() - start) * 1000) / count);
  }
  return median(rounds);
}

const empty = module.kernel("empty", []);
const config = { grid: 1, block: 32 };
const bare = cost(20_000, () => {
  for (let i = 0; i < 20_000; i++) stream.launch(empty, config);
});
const add = module.kernel("vector_add", ["const f32*", "const f32*", "f32*", "i32"]);
const x = context.zeros("f32", 32);
const full = cost(20_000, () => {
  for (let i = 0; i < 20_000; i++) stream.launch(add, config, x, x, x, 32);
});

/** As `cost`, of 1000 launches in a graph that is launched 20 times. */
function costInGraph(kernel, launch) {
  const graph = stream.capture((s) => {
    for (let i = 0; i < 1000; i++) s.launch(kernel, launch);
  });
  const each = cost(20_000, () => {
    for (let i = 0; i < 20; i++) graph.launch(stream);
  });
  graph.dispose();
  return each;
}

const captured = costInGraph(empty, config);
const entry = (target, body) =>
  context.load(`.version 7.8\n.target ${target}\n.address_size 64\n.visible .entry k() { ${body} ret; }`).kernel("k", []);
const alone = costInGraph(entry("sm_70", ""), config);

console.log(
  `launch of an empty kernel: ${bare.toFixed(2)} us, ${Math.round(1e6 / bare).toLocaleString("en")} a second; of vector_add with 4 arguments: ${full.toFixed(2)} us`,
);
console.log(`one of 1000 launches in a graph: ${captured.toFixed(3)} us; of a kernel that is alone in its module: ${alone.toFixed(3)} us`);
if (context.info.computeCapability[0] >= 9) {
  const waits = entry("sm_90", "griddepcontrol.launch_dependents; griddepcontrol.wait;");
  const overlap = { ...config, overlap: true };
  const single = cost(20_000, () => {
    for (let i = 0; i < 20_000; i++) stream.launch(waits, overlap);
  });
  const inGraph = costInGraph(waits, overlap);
  console.log(
    `launches that overlap, each waiting for the one before: ${single.toFixed(2)} us; one of 1000 in a graph: ${inGraph.toFixed(3)} us`,
  );
}
for (const owned of [x, stream, module, context]) owned.dispose();

/**
 * Nanoseconds of a launch of vector_add beside its driver call: by a driver whose launches return
 * at once.
 */
function ownCost() {
  const inner = simulatedDriver();
  const resolve = (name) => (name === "cuLaunchKernelEx" ? () => 0 : inner.resolve(name));
  const bound = (name) => (typeof inner[name] === "function" ? inner[name].bind(inner) : inner[name]);
  const driver = new Proxy(inner, { get: (_, name) => (name === "resolve" ? resolve : bound(name)) });
  const idle = openDevice({ driver });
  const source = readFileSync(new URL("../../test/gpu/fixtures/kernels.ptx", import.meta.url), "utf8");
  const kernel = idle.load(source).kernel("vector_add", ["const f32*", "const f32*", "f32*", "i32"]);
  const [to, values] = [idle.stream(), idle.zeros("f32", 32)];
  const rounds = Array.from({ length: 20 }, () => {
    const start = performance.now();
    for (let i = 0; i < 100_000; i++) to.launch(kernel, config, values, values, values, 32);
    return (performance.now() - start) * 10;
  });
  idle.dispose();
  return median(rounds);
}
console.log(`a launch of vector_add beside its driver call: ${ownCost().toFixed(0)} ns, of 400`);

const { stdout, status } = spawnSync("python3", [new URL("launch.py", import.meta.url).pathname], { encoding: "utf8" });
console.log(status === 0 ? stdout.trim() : "no PyTorch beside it: python3 has no torch here");
