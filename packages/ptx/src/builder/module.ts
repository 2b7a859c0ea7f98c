// A PTX module: kernels for one target, checked and printed. The same program gives the same bytes,
// always.
import { checked, type InputOf, option, optional, resolve } from "@spillway/core/options.js";
import { PtxBuildError } from "./errors.js";
import { type Instruction, type Item, instructionText, registersRead, registersWritten, type Statement } from "./instruction.js";
import { type LaunchBounds, PtxKernel } from "./kernel.js";
import { arrayText, type DeclaredArray } from "./storage.js";
import { laterVersion, type PtxVersion, type Target, targetFacts, targetOption } from "./targets.js";
import { type RegisterType, registerTypes, typeBytes, wordOf } from "./types.js";
import { type BuiltKernelResources, validateKernel } from "./validate.js";

const isVersion = (value: unknown): boolean => Array.isArray(value) && value.length === 2 && value.every(Number.isInteger) && value[0] >= 6;

export const moduleTable = {
  /** Default "sm_75". */
  target: targetOption,
  /** PTX version; by default the least that has everything used. */
  version: optional(
    checked<PtxVersion>("[major, minor], [6, 0] or later", isVersion),
    "PTX version; left out, the least that has everything used.",
  ),
  /** Bits of an address; only 64 is made. */
  addressSize: option(
    checked<64>("64", (value) => value === 64, { const: 64 }),
    64,
    "Bits of an address.",
  ),
};

/** The target and PTX version of a module. */
export interface ModuleOptions extends InputOf<typeof moduleTable> {}

/** A module for one target: kernels are added by `kernel`, checked and printed by `emit`. */
export class PtxModule {
  readonly target: Target;
  readonly version: PtxVersion | undefined;
  readonly addressSize = 64;
  private readonly kernels: PtxKernel[] = [];

  /** @throws ArgumentError for an unknown option or target, or a PTX version before 6.0 */
  constructor(options: ModuleOptions = {}) {
    const { target, version } = resolve(moduleTable, options, "PtxModule");
    this.target = target;
    this.version = version;
  }

  /** Makes a kernel by running `body` on its builder. */
  kernel(name: string, bounds: LaunchBounds, body: (k: PtxKernel) => void): PtxKernel {
    if (this.kernels.some((each) => each.name === name)) throw new PtxBuildError(`kernel ${name} is there twice`);
    const kernel = new PtxKernel(name, bounds);
    body(kernel);
    kernel.exit();
    this.kernels.push(kernel);
    return kernel;
  }

  /** Checks every kernel and says what each uses. @throws PtxBuildError, PtxTargetError */
  validate(): Map<string, BuiltKernelResources> {
    const all = new Map(this.kernels.map((kernel) => [kernel.name, validateKernel(kernel, this.target)]));
    const { version } = this;
    for (const [name, resources] of version === undefined ? [] : all)
      if (laterVersion(version!, resources.version) !== version)
        throw new PtxBuildError(`the module's version is ${version!.join(".")}; it takes ${resources.version.join(".")}`, name);
    return all;
  }

  /** The module as PTX. @throws PtxBuildError, PtxTargetError */
  emit(): string {
    return this.compile().ptx;
  }

  /** The module as PTX, and what each kernel uses. @throws PtxBuildError, PtxTargetError */
  compile(): { ptx: string; resources: Map<string, BuiltKernelResources> } {
    const resources = this.validate();
    const versions = [...resources.values()].map((each) => each.version);
    const version = this.version ?? versions.reduce(laterVersion, targetFacts(this.target).version);
    const head = [`.version ${version.join(".")}`, `.target ${this.target}`, `.address_size ${this.addressSize}`, ""];
    const dynamic = this.kernels.filter((each) => each.dynamicSharedBytes > 0);
    const shared = dynamic.map((each) => `.extern .shared .align ${each.dynamicAlignment} .b8 ${each.dynamicName}[];`);
    const constants = this.kernels.flatMap((each) => arraysOf(each, (space) => space === "const"));
    return { ptx: [...head, ...shared, ...constants, ...this.kernels.flatMap(kernelText)].join("\n"), resources };
  }
}

function arraysOf({ arrays }: PtxKernel, wanted: (space: DeclaredArray["space"]) => boolean): string[] {
  return arrays.filter(({ space }) => wanted(space)).map(arrayText);
}

function kernelText(kernel: PtxKernel): string[] {
  const { name, bounds, parameters } = kernel;
  const declared = parameters.map(({ name: parameter, type, element }) => {
    const pointer = element === undefined ? "" : ` .ptr .global .align ${typeBytes(element)}`;
    return `\t.param .${wordOf(type)}${pointer} ${name}_${parameter}`;
  });
  const head = declared.length === 0 ? [`.visible .entry ${name}()`] : [`.visible .entry ${name}(`, declared.join(",\n"), ")"];
  const arrays = arraysOf(kernel, (space) => space !== "const").map((each) => `\t${each}`);
  const registers = Object.keys(registerTypes) as RegisterType[];
  const declarations = registers.flatMap((type) => {
    const count = kernel.registerCounts.get(type);
    const { declared: word, prefix } = registerTypes[type];
    return count === undefined ? [] : [`\t.reg .${word} %${prefix}<${count}>;`];
  });
  return ["", ...head, ...directives(bounds), "{", ...declarations, ...arrays, ...statementTexts(kernel), "}", ""];
}

function directives({ block, maxThreads, minBlocks, cluster }: LaunchBounds): string[] {
  const size = block && [block[0], block[1] ?? 1, block[2] ?? 1].join(", ");
  return [
    ...(size === undefined ? [] : [`.reqntid ${size}`]),
    ...(size === undefined && maxThreads !== undefined ? [`.maxntid ${maxThreads}, 1, 1`] : []),
    ...(minBlocks === undefined ? [] : [`.minnctapersm ${minBlocks}`]),
    ...(cluster === undefined ? [] : [".explicitcluster", `.reqnctapercluster ${cluster}, 1, 1`]),
  ];
}

/** The statements as text. `op t; mov v, t` with no other use of t becomes `op v`. */
function statementTexts({ statements, registers }: PtxKernel): string[] {
  const uses = new Uint32Array(registers.length);
  for (const each of statements) {
    if (each.kind === "label") continue;
    for (const id of registersRead(each)) uses[id]!++;
    for (const id of registersWritten(each)) uses[id]!++;
  }
  const texts: string[] = [];
  for (let at = 0; at < statements.length; at++) {
    const each = statements[at]!;
    if (each.kind === "label") {
      texts.push(`${each.name}:`);
      continue;
    }
    let { result } = each;
    for (let next = statements[at + 1]; next !== undefined && passesOn(each, result, next, uses); next = statements[at + 1]) {
      result = next.result;
      at++;
    }
    texts.push(instructionText(each, result));
  }
  return texts;
}

/** Whether a statement only moves what the one before puts into `result`, used nowhere else. */
function passesOn({ guard }: Instruction, result: Item | undefined, next: Statement, uses: Uint32Array): next is Instruction {
  if (next.kind === "label" || guard !== undefined || next.guard !== undefined || !next.opcode.startsWith("mov.")) return false;
  const [source] = next.operands;
  if (typeof source !== "object" || !("id" in source) || result !== source || uses[source.id] !== 2) return false;
  return typeof next.result === "object" && "id" in next.result && next.result.type === source.type;
}
