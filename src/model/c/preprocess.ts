// The conditions in the runtime's C, which hold or not for a model.

/**
 * The lines of a file of the runtime for which the conditions around them hold. A line `#if NAME`,
 * with `!`, `&&` and `||`, asks for a name of the model; all other directives stay.
 */
export function preprocess(text: string, has: (name: string) => boolean): string {
  /** For each `#if` around a line whether it holds; undefined if the directive stays. */
  const open: (boolean | undefined)[] = [];
  const kept = text.split("\n").filter((line) => {
    const condition = /^#if ([A-Z0-9_ !&|]+)$/.exec(line)?.[1];
    if (condition !== undefined) {
      open.push(
        condition.split("||").some((any) => any.split("&&").every((name) => has(name.replace(/[! ]/g, "")) !== name.includes("!"))),
      );
      return false;
    }
    const isOurs = open.length > 0 && open.at(-1) !== undefined;
    if (isOurs && line === "#else") {
      open.push(!open.pop());
      return false;
    }
    if (line === "#endif") {
      open.pop();
      return !isOurs && !open.includes(false);
    }
    if (line.startsWith("#if")) open.push(undefined);
    return !open.includes(false);
  });
  return kept.join("\n").replace(/\n{3,}/g, "\n\n");
}
