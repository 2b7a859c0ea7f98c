// A forecaster of 200 neurons as C on a Cortex-M: flash, memory and instructions a step, with the
// forecast held against the package's bits. Needs arm-none-eabi-gcc and qemu-system-arm.
//   node bench/cpu/cortex-m.mjs
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Matrix } from "spillway";
import { Forecaster, saveC } from "spillway/model";
import { mackeyGlass } from "spillway/tasks";

const beside = (name) => fileURLToPath(new URL(`../../test/model/cortex-m/${name}`, import.meta.url));
const steps = 100;
const settings = [
  ["a tenth of the connections, binary32", {}],
  ["a tenth of the connections, W in 16 bits", { weightPrecision: "bfloat16" }],
  ["all connections, binary32", { connectionProbability: 1 }],
  ["all connections, W in 16 bits", { connectionProbability: 1, weightPrecision: "bfloat16" }],
  ["a tenth of the connections, integers of 16 bits", { arithmetic: "integer" }],
  ["a tenth of the connections, integers, W in 8 bits", { arithmetic: "integer", weightPrecision: "int8" }],
  ["all connections, integers, W in 8 bits", { connectionProbability: 1, arithmetic: "integer", weightPrecision: "int8" }],
];
const machines = [
  ["Cortex-M4F", "mps2-an386", ["-mcpu=cortex-m4", "-mfloat-abi=hard", "-mfpu=fpv4-sp-d16"]],
  ["Cortex-M3, no FPU", "mps2-an385", ["-mcpu=cortex-m3", "-mfloat-abi=soft"]],
];

const series = Matrix.from(mackeyGlass(2000 + steps, { seed: 3 }));
const folder = mkdtempSync(join(tmpdir(), "spillway-cortex-m-"));
const shell = (command, args) => execFileSync(command, args, { cwd: folder, encoding: "utf8" });

/** Predictions of `steps` rows, then as many of a closed loop, then the ticks of the predictions. */
const main = `#include <stdint.h>
#include "model.h"
void print_bits(uint32_t high, uint32_t low);
uint32_t ticks_left(void);
static const double rows[${steps}] = { ${[...series.subarray(2000).data].join(", ")} };
static double out[${steps}];
static model_state state;
static void show(void)
{
  union { double value; uint64_t bits; } each;
  int i;
  for (i = 0; i < ${steps}; i++) {
    each.value = out[i];
    print_bits((uint32_t)(each.bits >> 32), (uint32_t)each.bits);
  }
}
int main(void)
{
  uint32_t from;
  int t;
  model_begin(&state);
  from = ticks_left();
  for (t = 0; t < ${steps}; t++) model_predict(&state, rows + t, out + t);
  from -= ticks_left();
  show();
  if (model_forecast(&state, ${steps}, out) != ${steps}) return 1;
  show();
  print_bits(sizeof state, from & 0xffffff);
  return 0;
}
`;

/** The same of a model in integers, whose rows are scores and whose outputs are made values here. */
const integerMain = (scores, mean, deviation) => `#include <stdint.h>
#include "model.h"
void print_bits(uint32_t high, uint32_t low);
uint32_t ticks_left(void);
static const int16_t rows[${steps}] = { ${scores.join(", ")} };
static int64_t out[${steps}];
static model_state state;
static void show(void)
{
  union { double value; uint64_t bits; } each;
  int i;
  for (i = 0; i < ${steps}; i++) {
    volatile double scaled = (double)out[i] / (double)(UINT64_C(1) << MODEL_OUTPUT_FRACTION);
    scaled = scaled * ${deviation};
    each.value = scaled + ${mean};
    print_bits((uint32_t)(each.bits >> 32), (uint32_t)each.bits);
  }
}
int main(void)
{
  uint32_t from;
  int t;
  model_begin(&state);
  from = ticks_left();
  for (t = 0; t < ${steps}; t++) model_predict(&state, rows + t, out + t);
  from -= ticks_left();
  show();
  model_forecast(&state, ${steps}, out);
  show();
  print_bits(sizeof state, from & 0xffffff);
  return 0;
}
`;

/** Scores in steps of 2^-12 of the series, by the mean and the deviation of its training rows. */
function scoresOf(series) {
  const train = series.data.subarray(0, 2000);
  const mean = train.reduce((sum, v) => sum + v, 0) / train.length;
  const deviation = Math.sqrt(train.reduce((sum, v) => sum + (v - mean) ** 2, 0) / train.length);
  const scores = [...series.data.subarray(2000)].map((v) => Math.floor(Math.fround((v - mean) / deviation) * 4096 + 0.5));
  return [scores, mean, deviation];
}

console.log("| W | machine | flash, kB | state, kB | most stack, bytes | instructions a step | bits |");
console.log("|---|---|---|---|---|---|---|");
try {
  for (const [name, reservoir] of settings) {
    const model = await Forecaster.fit(series.subarray(0, 2000), { reservoir: { size: 200, seed: 1, ...reservoir } });
    await saveC(folder, model);
    writeFileSync(join(folder, "main.c"), reservoir.arithmetic === "integer" ? integerMain(...scoresOf(series)) : main);
    const predicted = await model.predict(series.subarray(2000));
    const forecast = await model.forecast(steps);
    const expected = Float64Array.of(...predicted.data, ...forecast.data);
    for (const [machine, board, target] of machines) {
      const flags = ["-std=gnu11", "-O2", "-mthumb", ...target];
      shell("arm-none-eabi-gcc", [...flags, "-fstack-usage", "-c", "model.c", "-o", "model.o"]);
      const linked = [
        "-nostartfiles",
        "--specs=nosys.specs",
        "-T",
        beside("board.ld"),
        "-o",
        "program",
        "main.c",
        "model.o",
        beside("board.c"),
      ];
      shell("arm-none-eabi-gcc", [...flags, ...linked]);
      const flash = Number(shell("arm-none-eabi-size", ["model.o"]).split("\n")[1].trim().split(/\s+/)[0]);
      const stack = shell("sh", ["-c", "cut -f2 model.su"]).trim().split("\n").map(Number);
      const qemu = [
        "-M",
        board,
        "-icount",
        "shift=0",
        "-display",
        "none",
        "-monitor",
        "none",
        "-serial",
        "none",
        "-chardev",
        "stdio,id=console",
      ];
      qemu.push("-semihosting-config", "enable=on,target=native,chardev=console", "-kernel", "program");
      const words = shell("qemu-system-arm", qemu).trim().split("\n");
      const [size, ticks] = [parseInt(words.at(-1).slice(0, 8), 16), parseInt(words.at(-1).slice(8), 16)];
      const same = words.slice(0, -1).every((word, i) => Object.is(Buffer.from(word, "hex").readDoubleBE(), expected[i]));
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
