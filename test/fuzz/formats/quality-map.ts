// Maps that are dropped on the lab: read, drawn as SVG by every measure, and every point taken.

import { ArgumentError } from "../../../packages/core/src/errors.js";
import { Matrix } from "../../../packages/numerics/src/index.js";
import { qualityMapToJson } from "../../../src/analysis/map/json.js";
import { type MapMeasure, mapMeasures, type QualityMap } from "../../../src/analysis/map/options.js";
import { readMap, settingsAt } from "../../../src/lab/map.js";
import { defaultSettings } from "../../../src/lab/settings.js";
import { plotQualityMap } from "../../../src/plot/quality-map.js";
import { toSvg } from "../../../src/plot/svg/index.js";
import type { FuzzFormat } from "../format.js";
import { mutateJson } from "../mutate.js";
import { bytesOf } from "../text.js";

const table = (factor: number) => Matrix.from([-1, 0.5, 2].map((row) => [row * factor, row + factor, row === 2 ? Number.NaN : row]));

const map = (measures: readonly MapMeasure[]): QualityMap => ({
  reservoir: { size: 20, leakRate: 0.5 },
  x: { parameter: "spectralRadius", values: [0.5, 1, 1.5] },
  y: { parameter: "inputScaling", values: [0.1, 1, 10] },
  values: Object.fromEntries(measures.map((measure, k) => [measure, table(k + 1)])),
  interrupted: false,
  engine: { name: "cpu", reason: "the only one" },
});

/** What is never in a picture: elements and attributes that run something. */
const runs = /<script|<foreignObject|<iframe|<a[\s>]|\son\w+\s*=|javascript:/i;

export default {
  corpus: () => [
    bytesOf(JSON.stringify(qualityMapToJson(map(mapMeasures)))),
    bytesOf(JSON.stringify({ measures: {}, map: qualityMapToJson(map(["lyapunovExponent"])) })),
  ],
  read(input) {
    const map = readMap(new TextDecoder().decode(input), "map.json");
    for (const measure of Object.keys(map.values)) {
      const svg = toSvg(plotQualityMap(map, measure), { width: 300 });
      const outside = svg.replaceAll(/>[^<]*</g, "><").replaceAll(/"[^"<]*"/g, '""');
      if (runs.test(outside)) throw new Error(`the picture holds ${runs.exec(outside)}`);
    }
    for (const [column] of map.x.values.slice(0, 5).entries())
      for (const [row] of map.y.values.slice(0, 5).entries()) {
        const settings = settingsAt(map, column, row, defaultSettings);
        if (Object.keys(settings).some((name) => !Object.hasOwn(defaultSettings, name))) throw new Error("a setting that is none");
      }
  },
  errors: [ArgumentError],
  mutate: (input, random) => bytesOf(JSON.stringify(mutateJson(JSON.parse(new TextDecoder().decode(input)), random)) ?? ""),
  tokens: ['"map"', '"values"', '"parameter"', '"data"', "null", "[", "]", "{", "}", ",", ":", "lyapunovExponent", "-1e308", "1e308"],
} satisfies FuzzFormat;
