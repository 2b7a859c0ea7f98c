// The sliders and choices, made from the settings' own ranges.
import { defaultSettings, type LabSettings, ranges, signalNames, topologyNames } from "../../src/lab/settings.js";

/** Makes the controls in a form; `changed` is called with every movement. */
export function makeControls(form: HTMLFormElement, settings: LabSettings, changed: (settings: LabSettings) => void): void {
  let current = settings;
  const change = (name: keyof LabSettings, value: number | string) => {
    current = { ...current, [name]: value };
    changed(current);
  };
  const choice = (name: "signal" | "topology", label: string, values: readonly string[]) => {
    const select = document.createElement("select");
    select.name = name;
    for (const value of values) select.add(new Option(spaced(value), value, false, value === current[name]));
    select.addEventListener("change", () => change(name, select.value));
    form.append(labelled(label, select));
  };
  choice("signal", "signal", signalNames);
  choice("topology", "topology", topologyNames);
  for (const [name, { label, minimum, maximum, step }] of Object.entries(ranges)) {
    const key = name as keyof typeof ranges;
    const slider = document.createElement("input");
    const shown = document.createElement("output");
    Object.assign(slider, { type: "range", name, min: String(minimum), max: String(maximum), step: String(step) });
    slider.value = String(current[key]);
    shown.textContent = String(current[key]);
    slider.addEventListener("input", () => {
      shown.textContent = slider.value;
      change(key, Number(slider.value));
    });
    form.append(labelled(label, slider, shown));
  }
  const reset = document.createElement("button");
  reset.type = "button";
  reset.textContent = "Defaults";
  reset.addEventListener("click", () => {
    form.replaceChildren();
    makeControls(form, defaultSettings, changed);
    changed(defaultSettings);
  });
  form.append(reset);
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
