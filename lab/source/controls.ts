// The sliders and choices, made from the settings' own ranges.
import {
  cutToRange,
  defaultSettings,
  hasEffect,
  type LabSettings,
  type NumericSetting,
  type Offered,
  ranges,
  type signalNames,
  topologyNames,
  transforms,
} from "../../src/lab/settings.js";
import { checkable, fillSelect, labelled } from "./page.js";

const signals: Readonly<Record<(typeof signalNames)[number], string>> = {
  mackeyGlass: "Mackey-Glass",
  lorenz: "Lorenz, x",
  rossler: "Rössler, x",
  mso: "sum of sines (MSO)",
  narma: "NARMA-10",
  logistic: "logistic map",
};

/** The value of the signal that stands for the user's own data. */
const own = "own";

/** The controls that were made. */
export interface Controls {
  /** Offers own data among the signals by a name, and chooses it; without one takes it away. */
  offerOwn(name: string | undefined): void;
  /** Offers these too, and takes what the settings say now. */
  offer(more: Offered, settings: LabSettings): void;
}

/**
 * Makes the controls in a form. `changed` is called with every movement, and with whether the
 * user's own data is the signal. Sliders that a topology does not have are hidden. With a `suffix`,
 * which ends their ids, they are those of a second setting, whose signal is the first's.
 */
export function makeControls(
  form: HTMLFormElement,
  settings: LabSettings,
  changed: (settings: LabSettings, usesOwn: boolean) => void,
  suffix = "",
): Controls {
  let current = settings;
  let usesOwn = false;
  const shows: (() => void)[] = [];
  const change = (part: Partial<LabSettings>) => {
    current = cutToRange({ ...current, ...part });
    for (const show of shows) show();
    changed(current, usesOwn);
  };
  /** Puts a control into the form, under its label. */
  const put = (label: string, control: HTMLInputElement | HTMLSelectElement, value?: HTMLOutputElement) => {
    control.id = `control-${control.name}${suffix}`;
    const whole = labelled(label, control, value);
    form.append(whole);
    return whole;
  };
  const choice = (name: "signal" | "topology" | "transform", words: Readonly<Record<string, string>>, label: string = name) => {
    const select = document.createElement("select");
    select.name = name;
    fillSelect(select, Object.entries(words));
    select.addEventListener("change", () => {
      if (name === "signal") usesOwn = select.value === own;
      change(usesOwn && name === "signal" ? {} : { [name]: select.value });
    });
    shows.push(() => {
      select.value = name === "signal" && usesOwn ? own : current[name];
    });
    put(label, select);
    return select;
  };
  const signal = suffix === "" ? choice("signal", signals) : undefined;
  const topology = choice("topology", inWords(topologyNames()));
  for (const [name, { label, minimum, maximum, step }] of Object.entries(ranges)) {
    const key = name as NumericSetting;
    const slider = document.createElement("input");
    const value = document.createElement("output");
    Object.assign(slider, { type: "range", name, min: String(minimum), max: String(maximum), step: String(step) });
    // A screen reader says a slider's value itself.
    value.ariaLive = "off";
    slider.addEventListener("input", () => change({ [key]: Number(slider.value) }));
    const whole = put(label, slider, value);
    shows.push(() => {
      slider.value = String(current[key]);
      value.textContent = String(current[key]);
      whole.hidden = !hasEffect(key, current.topology);
    });
  }
  choice("transform", transforms, "the readout sees");
  const readInput = document.createElement("input");
  Object.assign(readInput, { type: "checkbox", name: "readInput" });
  readInput.addEventListener("change", () => change({ readInput: readInput.checked }));
  shows.push(() => {
    readInput.checked = current.readInput;
  });
  form.append(checkable("the readout sees the input too", readInput));
  const reset = document.createElement("button");
  reset.type = "button";
  reset.textContent = "Defaults";
  reset.addEventListener("click", () => {
    usesOwn = false;
    change(suffix === "" ? defaultSettings : { ...defaultSettings, signal: current.signal });
  });
  form.append(reset);
  for (const show of shows) show();
  return {
    offer(more, settings) {
      topology.append(...optionsOf(more.topologies));
      signal?.append(...optionsOf(more.signals));
      change(settings);
    },
    offerOwn(name) {
      if (name === undefined) {
        signal?.querySelector(`option[value="${own}"]`)?.remove();
        if (!usesOwn) return;
        usesOwn = false;
        return change({});
      }
      const option = signal?.querySelector<HTMLOptionElement>(`option[value="${own}"]`) ?? new Option("", own);
      option.textContent = name;
      signal?.append(option);
      usesOwn = true;
      change({});
    },
  };
}

function optionsOf(names: readonly string[]): HTMLOptionElement[] {
  return Object.entries(inWords(names)).map(([name, words]) => new Option(words, name));
}

/** Names, and as people write them: "small world". */
function inWords(names: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(names.map((name) => [name, name.replace(/(?<=[a-z])[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)]));
}
