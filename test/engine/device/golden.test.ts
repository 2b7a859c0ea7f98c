// The golden cases on the device: states, readout and closed loop have the hashes of the
// independent C program. On the simulated device, and under a checker, those of up to 130 neurons.
import { it } from "vitest";
import { casesOf } from "../../exhaustive.js";
import { size } from "../../gpu/device/device.js";
import { cases, runGolden } from "../golden-suite.js";
import { device, name } from "./engines.js";

const fitting = cases.filter(({ config }) => config.size <= size(1000, 130, 130));
const plansOf = ({ config }: (typeof cases)[number]) =>
  config.arithmetic === "integer" ? (["streamed", "auto"] as const) : (["streamed", "named", "auto"] as const);
const runs = fitting.flatMap((golden) => plansOf(golden).map((plan) => ({ golden, plan })));

/** Each plan with a sixth of the cases, but for the long ones. */
const represents = ({ golden }: (typeof runs)[number], index: number) =>
  golden.steps * golden.sequences < 1000 &&
  !/^(dense-130|integers-int8-dense-130|bfloat16-100)/.test(golden.name) &&
  Math.floor(index / 3) % 6 === index % 3;

it.each(casesOf(runs, represents).map(({ golden, plan }) => [golden.name, plan, golden] as const))(
  `golden case %s has the C program's states, readout and closed loop on ${name} by the plan "%s"`,
  (_name, plan, golden) => runGolden(golden, device, { plan }),
);
