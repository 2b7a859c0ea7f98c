/**
 * A saved model behind HTTP, and the server of the lab.
 * @module spillway/serve
 */
export {
  defaultSettings,
  experimentOf,
  type Lab,
  type LabOptions,
  type LabSettings,
  type NumericSetting,
  openLab,
  ranges,
  reservoirOf,
  settingsFromLink,
  settingsToLink,
  signalOf,
  stateHash,
} from "../lab/index.js";
export {
  type HandlerOptions,
  handler,
  type ModelHandler,
  type ModelServer,
  type ServableModel,
  type ServeOptions,
  serveModel,
} from "../serve/index.js";
