// `spillway ptx` and `spillway ptx run`. The work is loaded when it is called.
import { option, whole } from "@spillway/core/options.js";
import { launchTable } from "@spillway/gpu/launch-config.js";
import { targetOption } from "@spillway/ptx/builder/targets.js";
import type { PtxFlags } from "./commands/ptx.js";
import { kernelNumbers, kernelSwitches, kernelWords } from "./commands/ptx-options.js";
import type { PtxRunFlags } from "./commands/ptx-run.js";
import { longOf } from "./flag.js";
import type { FlagCommand } from "./flag-command.js";

const ownTable = {
  target: targetOption,
  show: option(whole({ atLeast: 0 }), 16, "Elements of a buffer that are printed."),
};

/** Adds the flags of both commands. `print` gets their messages. */
export function describePtx(command: FlagCommand, { print }: { readonly print: (text: string) => void }): void {
  command
    .description("the PTX of a kernel that Spillway makes itself, for given sizes; ptx run FILE launches PTX")
    .argument(
      "<kernel>",
      "its kind: gemmTiled, gemmTensorCore, softmax, layerNorm, rmsNorm, attention, quantizedGemm, ...; or a preset: llamaAttention, ffnGemm, ...",
    )
    .flags(ownTable, { target: { value: "sm", fallback: "sm_80" } })
    .option("--no-affine", "norms: no gamma and beta")
    .option("--json", "as JSON, with grid, block, shared memory and parameters")
    .action(async (name: string, flags: PtxFlags) => print((await import("./commands/ptx.js")).ptxOfKernel(name, flags)));
  for (const [field, words] of Object.entries(kernelSwitches)) command.option(longOf(field), words);
  for (const [field, words] of Object.entries({ ...kernelNumbers, ...kernelWords })) command.option(`${longOf(field)} <${field}>`, words);
  command
    .command("run")
    .description("launch a kernel of a PTX file on the simulated device or a GPU, and print its buffers afterwards")
    .argument("<file>", "PTX")
    .option("--entry <name>", "the kernel; may be left out if the file has one")
    .option(
      "--args <argument...>",
      'in order: numbers, buffers such as "f32[64]", "f32[64]=1.5", "f32[3]=1,2,3", "f32[64]=range", and structs such as "{f32=2; i32[3]=4,5,6; *f32[8]=range}"',
    )
    .option("--grid <blocks>", "as 4 or 4x2x1", "1")
    .option("--block <threads>", "as 128 or 16x16", "32")
    .flags(launchTable, { shared: { value: "bytes" }, cooperative: {} })
    .option("--device <name>", "sim, which finds faults; cuda; or cuda:1", "sim")
    .flags(ownTable, "show")
    .option("--json", "as JSON, all elements")
    .action(async (file: string, flags: PtxRunFlags) => print(await (await import("./commands/ptx-run.js")).runPtxFile(file, flags)));
}
