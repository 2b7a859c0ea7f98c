// What is refused before any text is made: undefined values, barriers and full-mask instructions
// that not every thread reaches, and what the target cannot do. A pass is no proof that the kernel
// computes the right thing; running it in the interpreter is for that.
import { registerPressure, undefinedRead, uniformity } from "./analysis.js";
import { controlFlow } from "./control-flow.js";
import { PtxBuildError, PtxTargetError } from "./errors.js";
import { type Instruction, instructionText, levels } from "./instruction.js";
import type { PtxKernel } from "./kernel.js";
import { laterVersion, type PtxVersion, type Target, targetFacts } from "./targets.js";

/** What a kernel takes of a device. */
export interface BuiltKernelResources {
  /** An estimate: values alive at once, in 32-bit registers. */
  readonly registers: number;
  readonly staticSharedBytes: number;
  readonly dynamicSharedBytes: number;
  /** The least PTX version with all that the kernel uses. */
  readonly version: PtxVersion;
}

const staticLimit = 48 * 1024;
const constantLimit = 64 * 1024;
const show = (instruction: Instruction): string => JSON.stringify(instructionText(instruction).trim());

/** Checks a kernel for a target and says what it uses. @throws PtxBuildError, PtxTargetError */
export function validateKernel(kernel: PtxKernel, target: Target): BuiltKernelResources {
  const facts = targetFacts(target);
  const flow = controlFlow(kernel.statements);
  const found = undefinedRead(flow, kernel.registers);
  if (found !== undefined)
    throw new PtxBuildError(`${found.value.name} may be read before it is given a value, by ${show(found.instruction)}`, kernel.name);
  checkTogether(kernel, flow);
  let version = facts.version;
  for (const statement of kernel.statements) {
    if (statement.kind === "label" || statement.needs === undefined) continue;
    const { sm = 0, only } = statement.needs;
    if (facts.sm < sm) throw new PtxTargetError(`${show(statement)} takes sm_${sm} or later; the target is ${target}`, kernel.name);
    if (only !== undefined && only !== target)
      throw new PtxTargetError(`${show(statement)} takes ${only}; the target is ${target}`, kernel.name);
    if (statement.needs.version) version = laterVersion(version, statement.needs.version);
  }
  const registers = registerPressure(flow, kernel.registers);
  checkLimits(kernel, target, registers);
  if (kernel.bounds.cluster !== undefined) {
    if (facts.sm < 90) throw new PtxTargetError(`a cluster takes sm_90 or later; the target is ${target}`, kernel.name);
    version = laterVersion(version, [7, 8]);
  }
  return { registers, staticSharedBytes: kernel.staticSharedBytes, dynamicSharedBytes: kernel.dynamicSharedBytes, version };
}

/** All threads of a block must reach its barriers, all lanes its full-mask instructions. */
function checkTogether(kernel: PtxKernel, flow: ReturnType<typeof controlFlow>): void {
  const { blockLevels, valueLevels } = uniformity(flow, kernel.registers.length);
  for (const [k, block] of flow.blocks.entries()) {
    for (const { instruction } of block.steps) {
      if (instruction.together === undefined) continue;
      const guardLevel = instruction.guard ? valueLevels[instruction.guard.value.id]! : levels.block;
      const level = Math.max(blockLevels[k]!, guardLevel);
      if (level <= levels[instruction.together]) continue;
      const decider = [...flow.deciders[k]!].find(
        (at) => valueLevels[flow.blocks[at]!.branch!.guard!.value.id]! > levels[instruction.together!],
      );
      const because = decider === undefined ? "" : `: ${show(flow.blocks[decider]!.branch!)} sends threads different ways or ends some`;
      const whom = { block: "thread of the block", group: "warp of the warp group", warp: "lane of the warp" }[instruction.together];
      throw new PtxBuildError(`not every ${whom} comes to ${show(instruction)}${because}`, kernel.name);
    }
  }
}

function checkLimits(kernel: PtxKernel, target: Target, registers: number): void {
  const facts = targetFacts(target);
  const { staticSharedBytes, dynamicSharedBytes, threads } = kernel;
  const refuseAbove = (most: number, value: number, what: string): void => {
    if (value > most) throw new PtxTargetError(what, kernel.name);
  };
  const tooMuch = `${staticSharedBytes} bytes of static shared memory; it takes at most ${staticLimit} (dynamicShared gives more)`;
  refuseAbove(staticLimit, staticSharedBytes, tooMuch);
  const constants = kernel.bytesIn("const");
  refuseAbove(constantLimit, constants, `${constants} bytes of constant memory; it takes at most ${constantLimit}`);
  const [shared, sharedLimit] = [staticSharedBytes + dynamicSharedBytes, facts.sharedBytesPerBlock];
  refuseAbove(sharedLimit, shared, `${shared} bytes of shared memory; a block of ${target} has ${sharedLimit}`);
  const fair = threads === undefined ? facts.registersPerThread : Math.floor(facts.registersPerBlock / (Math.ceil(threads / 32) * 32));
  const most = Math.min(facts.registersPerThread, fair);
  refuseAbove(most, registers, `about ${registers} registers a thread are alive at once; ${target} has ${most} for blocks of this size`);
}
