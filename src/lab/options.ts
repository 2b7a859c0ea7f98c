// What the lab's server takes: apart from the server, which loads much more.
import { given, type InputOf, option, text, whole } from "@spillway/core/options.js";
import { engineTable } from "../reservoir/options.js";

export const labTable = {
  /** The folder of the built page. */
  page: given(text("the path of a folder"), "The folder of the built page."),
  /** Default 0: one that is free. */
  port: option(whole({ atLeast: 0, atMost: 65535 }), 0, "The port on 127.0.0.1; 0 takes one that is free."),
  /** The engine of runs that the page asks for; default "auto". */
  engine: engineTable.engine,
};

/** The page that is served, and where runs that it asks for are made. */
export interface LabOptions extends InputOf<typeof labTable> {}
