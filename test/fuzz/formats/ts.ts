// Archives of time series: parseUea, with missing values refused and filled.

import { decodeText } from "../../../packages/io/src/files.js";
import { FormatError, parseUea } from "../../../packages/io/src/index.js";
import type { FuzzFormat } from "../format.js";
import { bytesOf } from "../text.js";

export default {
  corpus: () => [
    bytesOf(
      "# two channels\n@problemName Toy\n@timeStamps false\n@missing true\n@univariate false\n@dimensions 2\n@equalLength false\n@classLabel true a b\n@data\n1,?,3.5:4,5,-6e-1:a\n7,8:9,10:b\n",
    ),
    bytesOf("@problemName Flat\n@univariate true\n@equalLength true\n@seriesLength 3\n@classLabel true\n@data\n1,2,3:1\n4,5,6:2\n"),
    bytesOf("@problemName Numbers\n@targetLabel true\n@data\n1,2:0.5\n3,4:-2\n"),
    bytesOf("%no classes\n@classLabel false\n@data\n1,NaN,2\n3,4,5\n"),
  ],
  read: (input) => {
    const text = decodeText(input, "a.ts", ".ts");
    try {
      parseUea(text, { missing: "interpolate", source: "a.ts" });
    } catch (error) {
      if (!(error instanceof FormatError)) throw error;
    }
    parseUea(text, { source: "a.ts" });
  },
  errors: [FormatError],
  tokens: [
    "@data",
    "@classLabel",
    "@targetLabel",
    "@dimensions",
    "@dimension",
    "@missing",
    "@univariate",
    "@seriesLength",
    "@equalLength",
    "true",
    "false",
    ":",
    ",",
    "?",
    "NaN",
    "@x",
    "#",
    "a",
    "b",
    "\n",
  ],
} satisfies FuzzFormat;
