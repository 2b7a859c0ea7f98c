// Programs in the pages of docs/ that need a Chromium.
import { expect, it } from "vitest";
import { programs, runPrograms } from "../docs-programs.js";

it("run to their end", async () => {
  const needing = programs.filter(({ kind }) => kind === "chromium");
  const done = await runPrograms(needing);
  expect(Object.keys(done)).toEqual(needing.map(({ name }) => name));
  for (const { error } of Object.values(done)) expect(error).toBeUndefined();
});
