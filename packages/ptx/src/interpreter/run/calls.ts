// Calls of device functions: frames, arguments, calls through pointers, and the few functions that
// the system provides.
import { popcount } from "../arithmetic/integer.js";
import type { CompiledFunction } from "../compile/function.js";
import type { PtxInstruction, PtxOperand } from "../types.js";
import { firstLane, forEachLane } from "./lanes.js";
import { mostRegisterBytes } from "./launch-state.js";
import { windows } from "./memory.js";
import { SystemCall, systemCalls } from "./system-calls.js";
import { Frame, type Group, type Warp } from "./warp.js";

interface CallShape {
  target: PtxOperand;
  /** Results first, then arguments. */
  variables: PtxOperand[];
  results: number;
}

/** The operands of a call: results, target, arguments, prototype; all but the target optional. */
function shapeOf(instruction: PtxInstruction): CallShape {
  const { operands } = instruction;
  const at = operands.findIndex((operand) => operand.kind === "function" || operand.kind === "register");
  const list = (operand: PtxOperand | undefined): PtxOperand[] => (operand?.kind === "list" ? operand.elements : []);
  const results = at > 0 ? list(operands[0]) : [];
  return { target: operands[at]!, variables: [...results, ...list(operands[at + 1])], results: results.length };
}

/** Local offsets of a call's results and arguments in the caller's frame. */
function frameOffsets(warp: Warp, group: Group, shape: CallShape, instruction: PtxInstruction): number[] {
  return shape.variables.map((operand) => {
    if (operand.kind === "variable") {
      const own = group.frame.fn.offsets.get(operand.variable);
      if (own !== undefined) return group.frame.base + own;
      const { returns, parameters } = group.frame.fn.source;
      const formal = [...returns, ...parameters].indexOf(operand.variable);
      if (formal >= 0 && group.frame.parent !== undefined) return group.frame.parameters[formal]!;
    }
    throw warp.error("illegalInstruction", "call arguments must be .param variables", firstLane(group.mask), instruction);
  });
}

/** Enters a function, or several if a pointer differs between lanes. Always continues. */
export function callFunction(warp: Warp, group: Group, instruction: PtxInstruction): boolean {
  const shape = shapeOf(instruction);
  const { target } = shape;
  if (target.kind === "function") {
    enter(warp, group, target.name, shape, instruction);
    return true;
  }
  const lanes = target.kind === "register" ? group.frame.fn.lanesOf(target.register) : undefined;
  if (lanes === undefined) throw warp.error("illegalInstruction", "call takes a function or a pointer", firstLane(group.mask), instruction);
  const byName = new Map<string, number>();
  forEachLane(group.mask, (lane) => {
    const low = group.frame.registers.words[lanes + 2 * lane]!;
    const high = group.frame.registers.words[lanes + 1 + 2 * lane]!;
    const name = high === windows.function && low % 16 === 0 ? warp.launch.setting.functionNames[low / 16 - 1] : undefined;
    if (name === undefined) throw warp.error("illegalInstruction", "call through a pointer that is no function", lane, instruction);
    byName.set(name, (byName.get(name) ?? 0) | (1 << lane));
  });
  const whole = group.mask;
  for (const [name, mask] of byName) {
    let caller = group;
    if (mask !== whole && mask !== group.mask) {
      caller = warp.split(group, mask, group.segment);
    }
    enter(warp, caller, name, shape, instruction);
  }
  return true;
}

const agreed = new WeakMap<PtxInstruction, CompiledFunction>();

/** @throws SimulationError if a call passes other variables than the function takes */
function checkPassed(warp: Warp, group: Group, found: CompiledFunction, shape: CallShape, instruction: PtxInstruction): void {
  if (agreed.get(instruction) === found) return;
  const { name, returns, parameters } = found.source;
  const formal = [...returns, ...parameters];
  const bytes = (operand: PtxOperand): number => (operand.kind === "variable" ? operand.variable.bytes : 0);
  const fit = shape.variables.every((operand, k) => bytes(operand) === formal[k]?.bytes);
  if (shape.results !== returns.length || shape.variables.length !== formal.length || !fit) {
    const passed = `${shape.results} results and ${shape.variables.length - shape.results} arguments`;
    const what = `${name} is called with ${passed} that it does not take: it has ${returns.length} and ${parameters.length}`;
    throw warp.error("illegalInstruction", what, firstLane(group.mask), instruction);
  }
  agreed.set(instruction, found);
}

function enter(warp: Warp, group: Group, name: string, shape: CallShape, instruction: PtxInstruction): void {
  const found: CompiledFunction | undefined = warp.launch.kernel.functions.get(name);
  const { frame } = group;
  const passed = frameOffsets(warp, group, shape, instruction);
  if (found === undefined) {
    const system = systemCalls.get(name);
    if (system === undefined)
      throw warp.error("illegalInstruction", `"${name}" is declared but not defined in the module`, firstLane(group.mask), instruction);
    const [results, args] = [passed.slice(0, shape.results), passed.slice(shape.results)];
    if (results.length > system.results || args.length !== system.args)
      throw warp.error("illegalInstruction", `${name} takes ${system.args} arguments`, firstLane(group.mask), instruction);
    forEachLane(group.mask, (lane) => system.run(new SystemCall(warp, lane, instruction, results, args)));
    group.segment++;
    return;
  }
  checkPassed(warp, group, found, shape, instruction);
  const base = frame.topOfAll(group.mask);
  if (base + found.frameBytes > warp.localBytes) {
    const what = `calling ${name} takes ${base + found.frameBytes} bytes of local memory of ${warp.localBytes}; limits.stackBytes sets how many there are`;
    throw warp.error("stackOverflow", what, firstLane(group.mask), instruction);
  }
  if (!warp.launch.keepRegisters(found.registerBytes)) {
    const what = `calling ${name}: the registers of all calls under way would take more than ${mostRegisterBytes} bytes`;
    throw warp.error("stackOverflow", what, firstLane(group.mask), instruction);
  }
  group.frame = new Frame(found, frame, group.segment + 1, base, passed, popcount(group.mask));
  group.segment = 0;
}

export function leaveFrame(warp: Warp, group: Group): void {
  const { frame } = group;
  letGo(warp, frame, popcount(group.mask));
  group.segment = frame.returnTo;
  group.frame = frame.parent!;
}

/** Takes a group's lanes out of all calls that they are in. */
export function leaveFrames(warp: Warp, group: Group): void {
  const lanes = popcount(group.mask);
  for (let frame: Frame | undefined = group.frame; frame !== undefined; frame = frame.parent) letGo(warp, frame, lanes);
}

function letGo(warp: Warp, frame: Frame, lanes: number): void {
  frame.lanes -= lanes;
  if (frame.lanes !== 0) return;
  warp.launch.keepRegisters(-frame.fn.registerBytes);
  // Products under way may still write to them.
  if (warp.products === undefined) frame.giveBack();
}
