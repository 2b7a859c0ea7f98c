// Writes the JSON Schema of experiment files into dist/, from the built package. `spillway schema` prints the same.
import { writeFileSync } from "node:fs";
import { experimentJsonSchema } from "../dist/cli/commands/schema.js";

writeFileSync("dist/cli/experiment.schema.json", `${JSON.stringify(experimentJsonSchema(), undefined, 2)}\n`);
