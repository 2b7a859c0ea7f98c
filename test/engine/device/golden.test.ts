// The golden cases on the device: states, readout and closed loop have the hashes of the independent C program. On the simulated device, and under a
// checker, those of up to 130 neurons.
import { describe, it } from "vitest";
import { size } from "../../gpu/device/device.js";
import { cases } from "../golden-suite.js";
import { runGolden } from "../golden-suite.js";
import { device, name } from "./engines.js";

describe.each(cases.filter(({ config }) => config.size <= size(1000, 130, 130)).map((golden) => [golden.name, golden] as const))(
  "golden case %s",
  (_name, golden) => {
    it.each(["streamed", "named", "auto"])(`has the C program's states, readout and closed loop on ${name} by the plan "%s"`, (plan) =>
      runGolden(golden, device, { plan }),
    );
  },
);
