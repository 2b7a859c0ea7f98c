// The lab's page: puts sliders, running reservoirs, own data and links together.
import { experimentDataOf, type OwnSeries } from "../../src/lab/own-data.js";
import { comparisonToLink, experimentOf, type LabSettings, secondFromLink, settingsFromLink, whatIsHere } from "../../src/lab/settings.js";
import { closeSecond, openSecond, type Second, showComparison } from "./comparison.js";
import { makeControls } from "./controls.js";
import { onDrop } from "./drop.js";
import type { MapView } from "./map.js";
import { makeDataPanel } from "./own-data.js";
import { element, say } from "./page.js";
import { connect } from "./remote.js";
import { addSaveButtons, saveText } from "./save.js";
import { Side } from "./side.js";

// What `bench/page/lab.ts` reads.
performance.mark("program");

const link = location.hash;
/** The last series that was read, and whether it drives the reservoirs. */
let series: OwnSeries | undefined;
let usesOwn = false;
let paused = matchMedia("(prefers-reduced-motion: reduce)").matches;
/** The pictures that stand on the screen. */
const visible = new Set<Element>();
/** The setting beside the first, if two are compared. */
let second: Second | undefined;

const own = () => (usesOwn ? series : undefined);
const shared = { own, paused: () => paused, changed: showState };
const first = new Side("", settingsFromLink(link), shared);
const sides = () => (second ? [first, second.side] : [first]);

/** Says whether something is still to be computed, and the results once nothing is. */
function showState(): void {
  const busy = sides().some((side) => side.busy);
  element("pictures").ariaBusy = String(busy);
  if (second) showComparison(first, second.side);
  if (busy) return;
  say("results", second ? `A: ${first.inWords()}. B: ${second.side.inWords()}` : first.inWords());
  if (performance.getEntriesByName("measured").length === 0) performance.mark("measured");
}

const linkNow = () => comparisonToLink(first.settings, second?.side.settings);

async function describe(): Promise<void> {
  history.replaceState(undefined, "", `${location.pathname}${location.search}#${linkNow()}`);
  const { stringify } = await import("yaml");
  const data = own();
  say("yaml", stringify(experimentOf(first.settings, data && experimentDataOf(data))));
}

function changed(next: LabSettings, withOwn: boolean): void {
  const otherData = withOwn || usesOwn || next.signal !== first.settings.signal;
  usesOwn = withOwn;
  remote.setOwn(usesOwn);
  first.change(next);
  if (second && otherData) second.controls.offer({ topologies: [], signals: [] }, { ...second.side.settings, signal: next.signal });
  void describe();
}

function compareWith(settings: LabSettings): void {
  second = openSecond(settings, shared, (next) => {
    second!.side.change(next);
    void describe();
  });
  second.pictures.forEach(watch);
  showCompare();
  showState();
  void second.side.build();
}

function stopComparing(): void {
  second!.pictures.forEach(unwatch);
  closeSecond(second!);
  second = undefined;
  showCompare();
  showState();
}

const compare = element<HTMLButtonElement>("compare");
function showCompare(): void {
  compare.ariaPressed = String(second !== undefined);
  element("swap").hidden = second === undefined;
}
compare.addEventListener("click", () => {
  if (second) stopComparing();
  else compareWith(first.settings);
  void describe();
});
element("swap").addEventListener("click", () => {
  const [a, b] = [first.settings, second!.side.settings];
  second!.controls.offer({ topologies: [], signals: [] }, a);
  controls.offer({ topologies: [], signals: [] }, b);
});

let frames = 0;
let since = performance.now();
let begun = false;
function frame(now: number): void {
  for (const side of sides()) side.frame((view) => visible.has(view));
  frames++;
  if (!begun && visible.size > 0) {
    begun = true;
    performance.mark("first picture");
    begin();
  }
  if (now - since >= 1000) {
    say("frames", String(Math.round((1000 * frames) / (now - since))));
    frames = 0;
    since = now;
  }
  requestAnimationFrame(frame);
}

async function copy(text: string, what: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    say("copied", `${what} copied`);
  } catch {
    say("copied", `the browser does not let a page copy; mark the text of the ${what}`);
  }
}

const controls = makeControls(element<HTMLFormElement>("controls"), first.settings, changed);
const remote = connect(
  () => first.settings,
  (offered) => {
    const here = whatIsHere();
    const topologies = offered.topologies.filter((name) => !here.topologies.includes(name));
    const signals = offered.signals.filter((name) => !here.signals.includes(name));
    if (topologies.length + signals.length === 0) return;
    const linked = settingsFromLink(link, offered);
    const isLinked = topologies.includes(linked.topology) || signals.includes(linked.signal);
    controls.offer({ topologies, signals }, isLinked ? linked : first.settings);
  },
);
const takeData = makeDataPanel((read) => {
  series = read;
  controls.offerOwn(read && `your data: ${read.name}`);
});
onDrop((file) => (/\.json$/i.test(file.name) ? void takeMap(file) : takeData(file)));
element("copy-yaml").addEventListener("click", () => void copy(element("yaml").textContent ?? "", "YAML"));
element("save-yaml").addEventListener("click", () => saveText("lab.yaml", element("yaml").textContent ?? ""));
addSaveButtons(document.querySelectorAll("figure canvas"));
element("copy-link").addEventListener(
  "click",
  () => void copy(`${location.origin}${location.pathname}#${linkNow()}`, usesOwn ? "link (without your data)" : "link"),
);
const pause = element<HTMLButtonElement>("pause");
const showPause = () => {
  pause.textContent = paused ? "Go on" : "Pause";
  pause.setAttribute("aria-pressed", String(paused));
};
pause.addEventListener("click", () => {
  paused = !paused;
  showPause();
});
showPause();
const drawer = element<HTMLButtonElement>("drawer");
drawer.addEventListener("click", () => {
  const open = element("panel").classList.toggle("open");
  drawer.setAttribute("aria-expanded", String(open));
});
const redraw = () => {
  for (const side of sides()) side.redraw();
};
const sizes = new ResizeObserver(redraw);
const visibility = new IntersectionObserver((entries) => {
  for (const { target, isIntersecting } of entries) isIntersecting ? visible.add(target) : visible.delete(target);
});
function watch(view: HTMLCanvasElement): void {
  sizes.observe(view);
  visibility.observe(view);
}
function unwatch(view: HTMLCanvasElement): void {
  sizes.unobserve(view);
  visibility.unobserve(view);
  visible.delete(view);
}
document.querySelectorAll("canvas").forEach(watch);
addEventListener("resize", redraw);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => setTimeout(redraw, 0));
// Not awaited at the top: a chunk that is loaded late and imports this file would wait for its end.
void first.build().then(() => {
  performance.mark("weights");
  requestAnimationFrame(frame);
});

/** What can wait until there is something to see. */
function begin(): void {
  const linked = secondFromLink(link);
  if (linked) compareWith(linked);
  void describe();
  void openMapView();
}

let mapView: Promise<MapView> | undefined;
/** A map's view takes much code: it comes when something is visible, or wanted. */
function openMapView(): Promise<MapView> {
  mapView ??= import("./map.js").then(({ makeMapView }) => {
    const made = makeMapView(
      () => first.settings,
      (next) => controls.offer({ topologies: [], signals: [] }, next),
    );
    document.querySelector(".below")!.append(made.section);
    return made;
  });
  return mapView;
}

/** Opens a map, and scrolls it into view. */
async function takeMap(file: File): Promise<void> {
  const { section, open } = await openMapView();
  await open(file);
  section.scrollIntoView();
}
