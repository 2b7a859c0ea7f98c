// The sliders and choices, made from the settings' own ranges.
import {
  cutToRange,
  defaultSettings,
  hasEffect,
  type LabSettings,
  type NumericSetting,
  ranges,
  signalNames,
  topologyNames,
} from "../../src/lab/settings.js";

/** Makes the controls in a form; `changed` is called with every movement. Sliders that a topology does not have are hidden. */
export function makeControls(form: HTMLFormElement, settings: LabSettings, changed: (settings: LabSettings) => void): void {
  let current = settings;
  const shows: (() => void)[] = [];
  const change = (name: keyof LabSettings, value: number | string) => {
    current = cutToRange({ ...current, [name]: value });
    for (const show of shows) show();
    changed(current);
  };
  const choice = (name: "signal" | "topology", values: readonly string[]) => {
    const select = document.createElement("select");
    select.name = name;
    for (const value of values) select.add(new Option(spaced(value), value));
    select.addEventListener("change", () => change(name, select.value));
    shows.push(() => {
      select.value = current[name];
    });
    form.append(labelled(name, select));
  };
  choice("signal", signalNames);
  choice("topology", topologyNames);
  for (const [name, { label, minimum, maximum, step }] of Object.entries(ranges)) {
    const key = name as NumericSetting;
    const slider = document.createElement("input");
    const value = document.createElement("output");
    Object.assign(slider, { type: "range", name, min: String(minimum), max: String(maximum), step: String(step) });
    slider.addEventListener("input", () => change(key, Number(slider.value)));
    const whole = labelled(label, slider, value);
    shows.push(() => {
      slider.value = String(current[key]);
      value.textContent = String(current[key]);
      whole.hidden = !hasEffect(key, current.topology);
    });
    form.append(whole);
  }
  const reset = document.createElement("button");
  reset.type = "button";
  reset.textContent = "Defaults";
  reset.addEventListener("click", () => {
    current = defaultSettings;
    for (const show of shows) show();
    changed(current);
  });
  form.append(reset);
  for (const show of shows) show();
}

function labelled(text: string, control: HTMLElement, value?: HTMLElement): HTMLLabelElement {
  const label = document.createElement("label");
  const row = document.createElement("span");
  row.className = "row";
  row.append(text);
  if (value) row.append(value);
  label.append(row, control);
  return label;
}

/** "erdosRenyi" for people: "erdos renyi". */
function spaced(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
}
