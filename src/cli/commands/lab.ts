// `spillway lab`: serves the page until it is stopped.
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import "../../index.js";
import { openLab } from "../../lab/index.js";

export interface LabCommandOptions {
  readonly port: number;
  readonly open: boolean;
  readonly engine: string;
  readonly signal: AbortSignal;
  readonly print: (text: string) => void;
}

/** Opens the lab, prints where it is, and ends when the signal says so. */
export async function lab({ port, open, engine, signal, print }: LabCommandOptions): Promise<void> {
  const running = await openLab({ page: pageFolder(), port, engine });
  print(`The lab is open at ${running.url}\nCtrl-C closes it.`);
  if (open) openBrowser(running.url);
  if (!signal.aborted) await new Promise((stopped) => signal.addEventListener("abort", stopped, { once: true }));
  await running.close();
}

/** The built page: beside the package's code, or in dist/ where the code runs from its source. */
function pageFolder(): string {
  const beside = ["./lab-page", "../lab-page", "../../lab-page", "../../../dist/lab-page"].map((path) =>
    fileURLToPath(new URL(path, import.meta.url)),
  );
  return beside.find((folder) => existsSync(`${folder}/index.html`)) ?? beside[0]!;
}

function openBrowser(url: string): void {
  const [program, ...before] = { darwin: ["open"], win32: ["cmd", "/c", "start", ""] }[process.platform as string] ?? ["xdg-open"];
  const opened = spawn(program!, [...before, url], { stdio: "ignore", detached: true });
  // No browser to open is no error: the address was printed.
  opened.on("error", () => {});
  opened.unref();
}
