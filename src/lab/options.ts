// What the lab's server takes: apart from the server, which loads much more.
import { given, option, type TableOf, text, whole } from "@spillway/core/options.js";
import { engineTable } from "../reservoir/options.js";

/** The page that is served, and where runs that it asks for are made. */
export interface LabOptions {
  /** The folder of the built page. */
  readonly page: string;
  /** Default 0: one that is free. */
  readonly port?: number | undefined;
  /** The engine of runs that the page asks for; default "auto". */
  readonly engine?: string | undefined;
}

/** The options of `openLab`. */
export const labTable = {
  page: given(text("the path of a folder"), "The folder of the built page."),
  port: option(whole({ atLeast: 0, atMost: 65535 }), 0, "The port on 127.0.0.1; 0 takes one that is free."),
  ...engineTable,
} satisfies TableOf<LabOptions>;
