// Forecasters of 200 neurons and classifiers of 100 as C on a Cortex-M: flash, memory and
// instructions a step, with what they say held against the package's bits. Needs arm-none-eabi-gcc
// and qemu-system-arm.
//   node bench/cpu/cortex-m.mjs
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Matrix } from "spillway";
import { Classifier, Forecaster, saveC } from "spillway/model";
import { mackeyGlass } from "spillway/series";

const beside = (name) => fileURLToPath(new URL(`../../test/model/cortex-m/${name}`, import.meta.url));
const steps = 100;
const integers = { arithmetic: "integer" };
const bytes = { arithmetic: "integer", weightPrecision: "int8" };
const hours = { calendar: [{ cycle: "hour" }] };
const cases = [
  ["a tenth of the connections, binary32", forecaster({})],
  ["a tenth of the connections, W in 16 bits", forecaster({ weightPrecision: "bfloat16" })],
  ["all connections, binary32", forecaster({ connectionProbability: 1 })],
  ["all connections, W in 16 bits", forecaster({ connectionProbability: 1, weightPrecision: "bfloat16" })],
  ["a tenth of the connections, integers of 16 bits", forecaster(integers)],
  ["a tenth of the connections, integers, W in 8 bits", forecaster(bytes)],
  ["all connections, integers, W in 8 bits", forecaster({ connectionProbability: 1, ...bytes })],
  ["three members with 4 lags, binary32", forecaster({}, { members: 3, lags: 4 })],
  ["three members with 4 lags, integers, W in 8 bits", forecaster(bytes, { members: 3, lags: 4 })],
  ["calendar of the hour, binary32", forecaster({}, hours)],
  ["calendar of the hour, integers, W in 8 bits", forecaster(bytes, hours)],
  ["classifier by statistics, binary32", classifier({})],
  ["classifier by statistics, integers, W in 8 bits", classifier(bytes)],
];
const machines = [
  ["Cortex-M4F", "mps2-an386", ["-mcpu=cortex-m4", "-mfloat-abi=hard", "-mfpu=fpv4-sp-d16"]],
  ["Cortex-M3, no FPU", "mps2-an385", ["-mcpu=cortex-m3", "-mfloat-abi=soft"]],
];
const qemu = "-icount shift=0 -display none -monitor none -serial none -chardev stdio,id=console".split(" ");
qemu.push("-semihosting-config", "enable=on,target=native,chardev=console", "-kernel", "program");

const folder = mkdtempSync(join(tmpdir(), "spillway-cortex-m-"));
const shell = (command, args) => execFileSync(command, args, { cwd: folder, encoding: "utf8" });

const list = (type, name, values) => `static const ${type} ${name}[${values.length}] = { ${[...values].join(", ")} };`;

/** A program that times `timed`, after `begin`, and shows what it says by `show()`, then what `after` says. */
const program = ({ declarations, begin = "", timed, after = "", count, value, kept }) => `#include <stdint.h>
#include "model.h"
void print_bits(uint32_t high, uint32_t low);
uint32_t ticks_left(void);
${declarations.join("\n")}
static void show(void)
{
  union { double value; uint64_t bits; } each;
  int i;
  for (i = 0; i < ${count}; i++) {
    ${value}
    print_bits((uint32_t)(each.bits >> 32), (uint32_t)each.bits);
  }
}
int main(void)
{
  uint32_t from;
  int t;
  ${begin}
  from = ticks_left();
  for (t = 0; t < ${steps}; t++) ${timed}
  from -= ticks_left();
  show();
  ${after}
  print_bits(sizeof ${kept}, from & 0xffffff);
  return 0;
}
`;

/** A forecaster: one-step predictions, or with the calendar rows alone, and then a closed loop. */
function forecaster(reservoir, options = {}) {
  return async () => {
    const series = Matrix.from(mackeyGlass(2000 + steps, { seed: 3 }));
    const train = series.subarray(0, 2000);
    const times = Array.from({ length: 2000 }, (_, t) => new Date(3_600_000 * t).toISOString());
    const model = await Forecaster.fit(options.calendar ? { series: train, times } : train, {
      reservoir: { size: 200, seed: 1, ...reservoir },
      ...options,
    });
    await saveC(folder, model);
    const next = series.subarray(2000);
    const shape = { count: steps, kept: "state", begin: "model_begin(&state);" };
    if (options.calendar) {
      const warm = { series: next, times: Array.from({ length: steps }, (_, t) => new Date(3_600_000 * (2000 + t)).toISOString()) };
      await model.warmUp(warm);
      const made = await model.forecast(steps);
      const main = program({
        ...shape,
        begin: "model_reset(&state);",
        declarations: [
          ...[list("double", "rows", next.data), `static double out[${steps}], known[${steps} * 4];`, "static model_state state;"],
          `static void take(int t)
{
  model_calendar(INT64_C(3600000) * (2000 + t), known);
  model_observe(&state, rows + t, known);
}`,
        ],
        timed: "take(t);",
        value: "each.value = out[i];",
        after: `for (t = 0; t < ${steps}; t++) model_calendar(INT64_C(3600000) * (${2000 + steps} + t), known + 4 * t);
  if (model_forecast(&state, ${steps}, known, out) != ${steps}) return 1;
  show();`,
      });
      return { model, main, expected: [...new Array(steps).fill(0), ...made.data] };
    }
    const expected = [...(await model.predict(next)).data, ...(await model.forecast(steps)).data];
    const timed = "model_predict(&state, rows + t, out + t);";
    const after = `model_forecast(&state, ${steps}, out);\n  show();`;
    if (reservoir.arithmetic !== "integer" || options.members) {
      const declarations = [list("double", "rows", next.data), `static double out[${steps}];`, "static model_state state;"];
      return { model, main: program({ ...shape, declarations, timed, after, value: "each.value = out[i];" }), expected };
    }
    const [scores, mean, deviation] = scoresOf(series);
    const main = program({
      ...{ ...shape, timed, after },
      declarations: [list("int16_t", "rows", scores), `static int64_t out[${steps}];`, "static model_state state;"],
      value: `volatile double scaled = (double)out[i] / (double)(UINT64_C(1) << MODEL_OUTPUT_FRACTION);
    scaled = scaled * ${deviation};
    each.value = scaled + ${mean};`,
    });
    return { model, main, expected };
  };
}

/** A classifier of three rates of a wave, 100 neurons: one case of 100 rows. */
function classifier(reservoir) {
  return async () => {
    const wave = (rate, phase) => Matrix.from(Array.from({ length: steps }, (_, t) => Math.sin(rate * t + phase)));
    const labels = Array.from({ length: 24 }, (_, b) => `rate ${b % 3}`);
    const model = await Classifier.fit(
      labels.map((_, b) => wave(0.3 + 0.1 * (b % 3), b)),
      labels,
      { reservoir: { size: 100, seed: 1, ...reservoir } },
    );
    await saveC(folder, model);
    const one = wave(0.4, 0.5);
    const shares = await model.predictProba([one]);
    const main = program({
      declarations: [list("double", "rows", one.data), "static double out[3];", "static model_work work;"],
      timed: `if (t == 0) model_classify(&work, rows, ${steps}, out);`,
      ...{ count: 3, kept: "work", value: "each.value = out[i];" },
    });
    return { model, main, expected: [...shares.data] };
  };
}

/** Scores in steps of 2^-12 of the series, by the mean and the deviation of its training rows. */
function scoresOf(series) {
  const train = series.data.subarray(0, 2000);
  const mean = train.reduce((sum, v) => sum + v, 0) / train.length;
  const deviation = Math.sqrt(train.reduce((sum, v) => sum + (v - mean) ** 2, 0) / train.length);
  const scores = [...series.data.subarray(2000)].map((v) => Math.floor(Math.fround((v - mean) / deviation) * 4096 + 0.5));
  return [scores, mean, deviation];
}

console.log("| model | machine | flash, kB | state, kB | most stack, bytes | instructions a step | bits |");
console.log("|---|---|---|---|---|---|---|");
try {
  for (const [name, make] of cases) {
    const { model, main, expected } = await make();
    writeFileSync(join(folder, "main.c"), main);
    for (const [machine, board, target] of machines) {
      const flags = ["-std=gnu11", "-O2", "-mthumb", ...target];
      shell("arm-none-eabi-gcc", [...flags, "-fstack-usage", "-c", "model.c", "-o", "model.o"]);
      const linked = ["-nostartfiles", "--specs=nosys.specs", "-T", beside("board.ld"), "-o", "program"];
      shell("arm-none-eabi-gcc", [...flags, ...linked, "main.c", "model.o", beside("board.c")]);
      const flash = Number(shell("arm-none-eabi-size", ["model.o"]).split("\n")[1].trim().split(/\s+/)[0]);
      const stack = shell("sh", ["-c", "cut -f2 model.su"]).trim().split("\n").map(Number);
      const words = shell("qemu-system-arm", ["-M", board, ...qemu])
        .trim()
        .split("\n");
      const [size, ticks] = [parseInt(words.at(-1).slice(0, 8), 16), parseInt(words.at(-1).slice(8), 16)];
      const numbers = words.slice(0, -1).map((word) => Buffer.from(word, "hex").readDoubleBE());
      const same = numbers.length === expected.length && numbers.every((each, i) => Object.is(each, expected[i]));
      // SysTick counts at 25 MHz and -icount makes every instruction 1 ns.
      const instructions = (ticks * 40) / steps;
      const cells = [name, machine, (flash / 1000).toFixed(1), (size / 1000).toFixed(2), `${Math.max(...stack)}`];
      cells.push(Math.round(instructions / 1000) * 1000, same ? "equal" : "DIFFER");
      console.log(`| ${cells.join(" | ")} |`);
    }
    await model.dispose();
  }
} finally {
  rmSync(folder, { recursive: true });
}
