// `spillway tasks`: the benchmark series there are, and their options.
import { nearest } from "../../core/near-names.js";
import { type Task, tasks } from "../../tasks/index.js";
import { UsageError } from "../exit.js";
import { formatTable } from "../table.js";

/**
 * The text (or JSON) of `spillway tasks [name]`. @throws UsageError for a task that there is not.
 */
export function listTasks(name: string | undefined, options: { readonly json?: boolean | undefined }): string {
  const chosen = name === undefined ? tasks : [taskNamed(name)];
  if (options.json)
    return JSON.stringify(
      chosen.map(({ generate: _, ...description }) => description),
      undefined,
      2,
    );
  if (name !== undefined) return details(chosen[0]!);
  const lines = tasks.map((task) => [task.name, task.kind === "driven" ? "inputs and targets" : "series", task.description]);
  return `${formatTable(["task", "gives", "what it is"], lines)}\n\nspillway tasks NAME lists the options of one of them; an experiment file has them under data.options.`;
}

function taskNamed(name: string): Task {
  const found = tasks.find((task) => task.name === name);
  if (found) return found;
  const names = tasks.map((task) => task.name);
  const near = nearest(name, names);
  throw new UsageError(`there is no task "${name}"${near ? `; did you mean "${near}"?` : `; the tasks are ${names.join(", ")}`}`);
}

function details(task: Task): string {
  const lines = task.options.map((option) => [option.name, JSON.stringify(option.default), option.takes, option.description]);
  const exponents = task.lyapunovExponents.map(({ value, parameters, source }) => {
    const at = Object.entries(parameters).map(([parameter, setting]) => `${parameter} ${setting}`);
    return `  ${value} at ${at.join(", ")}: ${source}`;
  });
  return [
    `${task.name}: ${task.description}`,
    "",
    formatTable(["option", "default", "takes", "what it is"], lines),
    ...(exponents.length > 0 ? ["", "largest Lyapunov exponent (natural logarithm, per unit of time or iteration)", ...exponents] : []),
  ].join("\n");
}
