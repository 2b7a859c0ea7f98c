// Exported forecasters, compiled: their forecasts have the bits of the package's own, however they
// are compiled, and on an emulated Cortex-M. Needs gcc, clang, arm-none-eabi-gcc and
// qemu-system-arm. A seed in SPILLWAY_SAMPLE takes a quarter of the forecasters.
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import "../../src/index.js";
import { sampled } from "../exhaustive.js";
import { type CExpected, casesOfC } from "../model/c-cases.js";

const beside = (name: string) => fileURLToPath(new URL(`../model/cortex-m/${name}`, import.meta.url));

const strict = ["-std=c99", "-pedantic", "-Wall", "-Wextra", "-Wconversion", "-Werror"];
const hosts: readonly (readonly string[])[] = [
  ["gcc", ...strict, "-O0", "-fsanitize=undefined,address", "-fno-sanitize-recover=all"],
  ["gcc", ...strict, "-O3"],
  // GNU's own dialect fuses products and sums if the machine can, unless the source forbids it.
  // Of AVX-512's masked stores GCC 12 does not know that they set an array.
  ["gcc", "-std=gnu11", "-Wall", "-Wextra", "-Werror", "-Wno-maybe-uninitialized", "-O3", "-march=native"],
  ["clang", ...strict, "-O2", "-march=native"],
];

const arm = ["arm-none-eabi-gcc", "-std=gnu11", "-Wall", "-Wextra", "-Werror", "-O2", "-mthumb", "-nostartfiles", "-T", beside("board.ld")];
const boards: readonly (readonly [string, readonly string[]])[] = [
  ["mps2-an386", [...arm, "-mcpu=cortex-m4", "-mfloat-abi=hard", "-mfpu=fpv4-sp-d16", "--specs=nosys.specs"]],
  ["mps2-an385", [...arm, "-mcpu=cortex-m3", "-mfloat-abi=soft", "--specs=nosys.specs"]],
];

const console = "enable=on,target=native,chardev=console";
const emulator = [..."-display none -monitor none -serial none -chardev stdio,id=console -semihosting-config".split(" "), console];

/** What the program prints if it is compiled so and run by `run`. */
function printed(
  { source, header, main }: CExpected,
  [compiler, ...flags]: readonly string[],
  platform: string,
  run: (program: string) => readonly [string, readonly string[]],
): Float64Array {
  const folder = mkdtempSync(join(tmpdir(), "spillway-c-"));
  try {
    writeFileSync(join(folder, "model.h"), header);
    writeFileSync(join(folder, "model.c"), source);
    writeFileSync(join(folder, "main.c"), main);
    const files = ["main.c", "model.c", beside(platform)];
    execFileSync(compiler!, [...flags, "-o", "program", ...files], { cwd: folder, stdio: ["ignore", "inherit", "inherit"] });
    const [command, parameters] = run(join(folder, "program"));
    const lines = execFileSync(command, parameters, { encoding: "utf8", timeout: 60_000 }).trim().split("\n");
    return Float64Array.from(lines, (line) => Buffer.from(line, "hex").readDoubleBE());
  } finally {
    rmSync(folder, { recursive: true });
  }
}

describe.each(sampled(casesOfC, 0.25, "C").map((each) => [each.name, each] as const))("a model as C: %s", (_, each) => {
  it("gives the package's bits with every compiler and on every board", async () => {
    const expected = await each.make();
    for (const compiler of hosts)
      expect(
        printed(expected, compiler, "host.c", (program) => [program, []]),
        compiler.join(" "),
      ).toEqual(expected.numbers);
    for (const [board, compiler] of boards) {
      const emulated = (program: string) => ["qemu-system-arm", [...emulator, "-M", board, "-kernel", program]] as const;
      expect(printed(expected, compiler, "board.c", emulated), board).toEqual(expected.numbers);
    }
  });
});
