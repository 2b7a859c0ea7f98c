// A compiler in place of NVRTC for simulated devices: PTX that nvcc made of the same request, kept
// beside the tests, in files named by the request's hash. What is not there is made, which takes an
// nvcc. After a change of the kernels: remove the folder ptx, run the tests, commit what is there.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { gunzipSync, gzipSync } from "node:zlib";
import type { CompileOptions, Nvrtc } from "../../../packages/gpu/src/index.js";

const folder = fileURLToPath(new URL("./ptx/", import.meta.url));

function ptxOf(source: string, { headers = {}, defines = {}, options = [] }: CompileOptions): string {
  const request = JSON.stringify([source, headers, defines, options]);
  const [, entry = "kernel"] = /"[A-Z]+_(?:CLOSED_)?NAME":"(\w+)"/.exec(JSON.stringify(defines)) ?? [];
  const path = `${folder}${entry}-${createHash("sha256").update(request).digest("hex").slice(0, 12)}.ptx.gz`;
  if (existsSync(path)) return gunzipSync(readFileSync(path)).toString("utf8");
  const scratch = mkdtempSync(join(tmpdir(), "nvcc-"));
  try {
    for (const [name, text] of Object.entries({ ...headers, "kernel.cu": source })) writeFileSync(join(scratch, name), text);
    const macros = Object.entries(defines).map(([name, value]) => `-D${name}=${value === true ? 1 : value}`);
    const flags = options.filter((option) => /^-+(fmad|prec|ftz)/.test(option));
    execFileSync(
      "nvcc",
      ["-ptx", "-arch=compute_90", "-std=c++17", "-w", "-I", scratch, ...flags, ...macros, "kernel.cu", "-o", "out.ptx"],
      {
        cwd: scratch,
      },
    );
    const lines = readFileSync(join(scratch, "out.ptx"), "utf8").split("\n");
    const kept = lines.map((line) => line.replace(/\/\/.*$/, "").trim()).filter((line) => line !== "");
    const ptx = `${kept.join("\n")}\n`;
    mkdirSync(folder, { recursive: true });
    writeFileSync(path, gzipSync(ptx, { level: 9 }));
    return ptx;
  } finally {
    rmSync(scratch, { recursive: true });
  }
}

const compiled = (source: string, options: CompileOptions = {}) => {
  const ptx = ptxOf(source, options);
  return { image: new TextEncoder().encode(ptx), ptx, loweredNames: {} };
};

/** What `openDevices` takes as its compiler. */
export const nvcc = {
  compile: compiled,
  compileAsync: async (...given: Parameters<typeof compiled>) => compiled(...given),
} as unknown as Nvrtc;
