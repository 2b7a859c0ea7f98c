// The panel for a series of the user's own: its file is read in a worker of this page, and never
// sent anywhere.
import type { CsvColumn } from "../../packages/io/src/index.js";
import { defaultChoices, mostBytes, type OwnChoices, type OwnSeries } from "../../src/lab/own-data.js";
import { element, fillSelect, say } from "./page.js";
import type { ReadingAnswer } from "./reading.js";

/** A file that takes longer to read is left. */
const longestReading = 30_000;

/**
 * Wires the panel; `read` is called with every series that was read, and without one if a file could
 * not be read. Returns what takes a file.
 */
export function makeDataPanel(read: (series: OwnSeries | undefined) => void): (file: File) => void {
  const input = element<HTMLSelectElement>("own-input");
  const target = element<HTMLSelectElement>("own-target");
  const header = element<HTMLSelectElement>("own-header");
  const decimal = element<HTMLSelectElement>("own-decimal");
  const missing = element<HTMLSelectElement>("own-missing");
  const standardise = element<HTMLInputElement>("own-standardise");
  const train = element<HTMLInputElement>("own-train");
  let file: File | undefined;
  let reading: Worker | undefined;

  const choicesNow = (): OwnChoices => ({
    ...(header.value === "auto" ? {} : { header: header.value === "names" }),
    decimal: decimal.value as OwnChoices["decimal"],
    missing: missing.value as OwnChoices["missing"],
    ...(input.value === "" ? {} : { input: Number(input.value) }),
    ...(target.value === "" || target.value === input.value ? {} : { target: Number(target.value) }),
    standardise: standardise.checked,
    train: Number(train.value) / 100,
  });

  const offer = (columns: readonly CsvColumn[], chosen: OwnChoices | undefined) => {
    const named = columns.flatMap(({ name, numeric }, index) => (numeric ? [[String(index), name] as const] : []));
    fillSelect(input, named);
    fillSelect(target, [["", "the same column, going on by itself"], ...named]);
    input.value = String(chosen?.input ?? named[0]?.[0] ?? "");
    target.value = String(chosen?.target ?? "");
    for (const select of [input, target]) select.disabled = named.length === 0;
  };

  const answered = (answer: ReadingAnswer) => {
    reading?.terminate();
    reading = undefined;
    if ("problem" in answer) {
      say("own-summary", "");
      say("own-problem", answer.problem);
      read(undefined);
      if (input.options.length === 0) offer(answer.columns, undefined);
      return;
    }
    offer(answer.columns, answer.choices);
    decimal.value = answer.choices.decimal;
    say("own-problem", "");
    say("own-summary", summaryOf(answer));
    read(answer);
  };

  const start = () => {
    if (!file) return;
    element("own-choices").hidden = false;
    if (file.size > mostBytes)
      return answered({ problem: `${file.name} is larger than ${mostBytes / 2 ** 20} MiB, the most the lab reads`, columns: [] });
    reading?.terminate();
    const worker = new Worker(new URL("./reading.ts", import.meta.url), { type: "module" });
    reading = worker;
    say("own-summary", "Reading…");
    const problem = (text: string) => answered({ problem: text, columns: [] });
    const late = setTimeout(() => {
      if (reading === worker) problem(`reading ${file?.name} took more than ${longestReading / 1000} s`);
    }, longestReading);
    worker.addEventListener("message", ({ data }: MessageEvent<ReadingAnswer>) => {
      clearTimeout(late);
      if (reading === worker) answered(data);
    });
    worker.addEventListener("error", ({ message }) => {
      clearTimeout(late);
      if (reading === worker) problem(message || "the file could not be read");
    });
    worker.postMessage({ file, choices: choicesNow() });
  };

  const take = (next: File) => {
    file = next;
    element<HTMLDetailsElement>("own").open = true;
    fillSelect(input, []);
    fillSelect(target, []);
    start();
  };

  train.value = String(100 * defaultChoices.train);
  standardise.checked = defaultChoices.standardise;
  const showTrain = () => say("own-train-value", `${train.value} %`);
  showTrain();
  train.addEventListener("input", showTrain);
  for (const control of [input, target, header, decimal, missing, standardise, train]) control.addEventListener("change", start);
  // Another header or decimal mark gives other columns.
  for (const control of [header, decimal]) {
    control.addEventListener("change", () => {
      fillSelect(input, []);
      fillSelect(target, []);
      start();
    });
  }
  const chooser = element<HTMLInputElement>("own-file");
  chooser.addEventListener("change", () => {
    const [chosen] = chooser.files ?? [];
    if (chosen) take(chosen);
  });
  return take;
}

function summaryOf({ name, columns, choices, used, rows, missing, drive }: OwnSeries): string {
  const count = (value: number) => value.toLocaleString("en-US");
  const column = (index: number) => columns[index]!.name;
  const goal = choices.target === undefined ? column(choices.input) : `${column(choices.target)} from ${column(choices.input)}`;
  const first = rows > used ? `the first ${count(used)} of ${count(rows)} rows` : `${count(used)} rows`;
  const filled = missing > 0 ? `; ${count(missing)} missing values: ${choices.missing}` : "";
  return `${name}: ${goal}, ${first}, ${count(drive.trainingRows)} of them train${filled}.`;
}
