// Tables: parseCsv, told nothing, and with columns named and values missing.

import { decodeText } from "../../../packages/io/src/files.js";
import { FileError, formatCsv, parseCsv } from "../../../packages/io/src/index.js";
import type { FuzzFormat } from "../format.js";
import { bytesOf } from "../text.js";

export default {
  corpus: () => [
    bytesOf(
      formatCsv(
        [
          [1, 2.5],
          [3, -4e-7],
          [5, 6],
        ],
        { columns: ["time", "x"] },
      ),
    ),
    bytesOf("1;2\n3;4\n5;6\n"),
    bytesOf('date,"a ""b""",c\n2020-01-01,1,?\n2020-01-02,2,"3"\n2020-01-03,,4\n'),
    bytesOf("# a comment\nx\n1\n\n2\nNA\n3\n"),
    bytesOf("\ufeffa\tb\r\n1\t2\r\n3\tinf\r\n"),
    Uint8Array.from([0xff, 0xfe, ..."a,b\n1,2\n".split("").flatMap((character) => [character.charCodeAt(0), 0])]),
  ],
  read: async (input) => {
    const text = decodeText(input, "a.csv", "CSV");
    const outcomes = await Promise.allSettled([
      parseCsv(text, { source: "a.csv" }),
      parseCsv(text, { source: "a.csv", header: true, text: ["date"], columns: ["x", "c"], missing: "interpolate" }),
      parseCsv(text, { source: "a.csv", header: false, delimiter: ",", text: [0], comment: "#", missing: "drop" }),
    ]);
    // The first that is no error of ours has the word; a table that is read in one of the ways
    // counts as read.
    const errors = outcomes.flatMap((outcome) => (outcome.status === "rejected" ? [outcome.reason as unknown] : []));
    const strange = errors.find((error) => !(error instanceof FileError));
    if (strange !== undefined || errors.length === outcomes.length) throw strange ?? errors[0];
  },
  errors: [FileError],
  tokens: ['"', ",", ";", "\t", "\n", "\r\n", "#", "NA", "?", "date", "x", '""', "1,2", '"a\nb"'],
} satisfies FuzzFormat;
