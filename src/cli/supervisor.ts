// Runs a command in a process of its own and handles signals for it: Node handles none while
// JavaScript, WebAssembly or native code computes. A command that does not stop when asked is
// ended. This does not change what it computes on.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { constants } from "node:os";
import { fileURLToPath } from "node:url";
import { exitCodes } from "./exit.js";

/**
 * Milliseconds between a signal and the end of a command that does not stop by itself, and between
 * that and the end of the wait for it.
 */
const grace = 1500;
const graceAfterKill = 300;

/**
 * What a command tells who supervises it: the folder in which runs are made; or how many
 * milliseconds more it may take to end after SIGTERM, and what is said if it is ended.
 */
export type Announcement = string | AnnouncedEnd;

interface AnnouncedEnd {
  readonly graceMs: number;
  readonly kept: string;
}

const quick = new Set(["tasks", "schema", "complete", "help"]);

/**
 * Whether a command takes no time worth a process of its own. A signal ends it as it ends any
 * program.
 */
export function isQuick(args: readonly string[]): boolean {
  const [command = "--help", kernel] = args;
  const isHelp = args.some((word) => word === "--help" || word === "-h");
  const isDebugged = process.execArgv.some((option) => option.startsWith("--inspect"));
  return command.startsWith("-") || quick.has(command) || isHelp || isDebugged || (command === "ptx" && kernel !== "run");
}

/**
 * Runs a command, by the program in `file`, and gives its exit code: 128 and the signal's number if
 * a signal stopped it.
 */
export async function supervise(file: URL, args: readonly string[]): Promise<number> {
  const child = spawn(process.execPath, [...process.execArgv, fileURLToPath(file), ...args], {
    stdio: ["inherit", "inherit", "inherit", "ipc"],
  });
  const outputs = new Set<string>();
  let announced: AnnouncedEnd | undefined;
  child.on("message", (said: Announcement) => {
    if (typeof said === "string") outputs.add(said);
    else announced = said;
  });
  process.stderr.on("error", () => undefined);
  const stopping = stopOnSignals(child, outputs, () => announced);
  const [code, signal] = await Promise.race([ended(child), stopping.isHopeless]);
  if (code !== null && code !== exitCodes.interrupted) return code;
  if (code === null && signal !== stopping.signal()) await explainEnd(signal, stopping.signal(), outputs, announced?.kept);
  return 128 + constants.signals[stopping.signal() ?? signal ?? "SIGINT"];
}

type Exit = readonly [code: number | null, signal: NodeJS.Signals | null];

async function ended(child: ChildProcess): Promise<Exit> {
  try {
    return (await once(child, "exit")) as [number | null, NodeJS.Signals | null];
  } catch (error) {
    say(`spillway: the command's process cannot be started: ${(error as Error).message}`);
    return [exitCodes.failure, null];
  }
}

/**
 * Tells the child to stop at the first SIGINT or SIGTERM, and ends it at the second or after the
 * grace. After SIGTERM it has as long as it asked for besides.
 */
function stopOnSignals(child: ChildProcess, outputs: ReadonlySet<string>, announced: () => AnnouncedEnd | undefined) {
  let first: NodeJS.Signals | undefined;
  let giveUp: (exit: Exit) => void = () => undefined;
  const isHopeless = new Promise<Exit>((resolve) => {
    giveUp = resolve;
  });
  const kill = () => {
    child.kill("SIGKILL");
    // A process in a driver's call may stay until the call is over.
    setTimeout(() => giveUp([null, "SIGKILL"]), graceAfterKill);
  };
  const onSignal = (signal: NodeJS.Signals) => {
    if (first !== undefined) return kill();
    first = signal;
    const isKept = outputs.size > 0 || announced() !== undefined;
    say(`\nstopping${isKept ? "; what is finished is kept" : ""} (Ctrl-C once more to leave at once)`);
    if (child.connected) child.send(signal, () => undefined);
    setTimeout(kill, grace + (signal === "SIGTERM" ? (announced()?.graceMs ?? 0) : 0));
  };
  process.on("SIGINT", onSignal);
  process.on("SIGTERM", onSignal);
  return { isHopeless, signal: () => first };
}

/** Says that a command was ended, and keeps what it had written. */
async function explainEnd(
  signal: NodeJS.Signals | null,
  stoppedBy: NodeJS.Signals | undefined,
  outputs: ReadonlySet<string>,
  kept: string | undefined,
): Promise<void> {
  const folders: string[] = [];
  if (outputs.size > 0) {
    const { mendOutputs } = await import("../experiment/runs/output-folder.js");
    for (const folder of outputs) folders.push(...(await mendOutputs(folder)));
  }
  const why = stoppedBy ? "the command did not stop by itself and was ended" : `the command was ended by ${signal}`;
  const memory = !stoppedBy && (signal === "SIGKILL" || signal === "SIGABRT") ? "; it may have been short of memory" : "";
  const said = [why + memory, ...folders.map((folder) => `what was finished is in ${folder}`), ...(kept === undefined ? [] : [kept])];
  say(`spillway: ${said.join("; ")}`);
}

function say(line: string): void {
  process.stderr.write(`${line}\n`);
}
