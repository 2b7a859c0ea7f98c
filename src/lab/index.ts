/**
 * The lab: a page on which a reservoir can be turned by hand, and the server that shows it. The
 * page itself is in lab/.
 */
export type { LabOptions } from "./options.js";
export { type Lab, openLab } from "./server.js";
export {
  defaultSettings,
  experimentOf,
  type LabSettings,
  type NumericSetting,
  ranges,
  reservoirOf,
  settingsFromLink,
  settingsToLink,
} from "./settings.js";
export { signalOf, stateHash } from "./signal.js";
