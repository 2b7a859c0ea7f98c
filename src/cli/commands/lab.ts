// `spillway lab`: serves the page until it is stopped.
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import "../../index.js";
import { openLab } from "../../lab/index.js";
import { openInBrowser } from "../../plot/open-in-browser.js";

export interface LabCommandOptions {
  readonly port: number;
  readonly open: boolean;
  readonly engine?: string | undefined;
  readonly signal: AbortSignal;
  readonly print: (text: string) => void;
}

/** Opens the lab, prints where it is, and ends when the signal says so. */
export async function lab({ port, open, engine, signal, print }: LabCommandOptions): Promise<void> {
  const running = await openLab({ page: pageFolder(), port, engine });
  print(`The lab is open at ${running.url}\nCtrl-C closes it.`);
  if (open) openInBrowser(running.url);
  if (!signal.aborted) await new Promise((stopped) => signal.addEventListener("abort", stopped, { once: true }));
  await running.close();
}

/** The built page: beside the package's code, or in dist/ if the code runs from its source. */
function pageFolder(): string {
  const beside = ["./lab-page", "../lab-page", "../../lab-page", "../../../dist/lab-page"].map((path) =>
    fileURLToPath(new URL(path, import.meta.url)),
  );
  return beside.find((folder) => existsSync(`${folder}/index.html`)) ?? beside[0]!;
}
