// The style sheet and the script of a report page. What the page holds is report.ts's.

export const reportStyle = `
:root { --paper: #ffffff; --ink: #14202b; --soft: #55636f; --rule: #d8dfe5; --panel: #f6f8fa; --accent: #0072b2; --good: #00664a; --bad: #a63f00; }
@media (prefers-color-scheme: dark) {
  :root { --paper: #12181e; --ink: #e6ecf1; --soft: #a3b1bd; --rule: #2d3944; --panel: #1a222a; --accent: #56b4e9; --good: #4fd0a5; --bad: #f0955a; }
}
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; }
body { margin: 0 auto; max-width: 76rem; padding: 1.5rem clamp(.9rem, 3vw, 2.5rem) 3rem; background: var(--paper); color: var(--ink);
  font: 16px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif; }
h1 { font-size: 1.7rem; line-height: 1.2; margin: 0 0 .3rem; overflow-wrap: anywhere; }
h2 { font-size: 1.3rem; margin: 2.6rem 0 .3rem; padding-top: 1.4rem; border-top: 1px solid var(--rule); overflow-wrap: anywhere; }
a { color: var(--accent); }
nav ul { display: flex; flex-wrap: wrap; gap: .3rem 1.4rem; margin: .8rem 0 0; padding: 0; list-style: none; }
.unseen { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
.lead { color: var(--soft); margin: 0 0 .6rem; max-width: 60rem; }
.warning { border-left: 4px solid var(--bad); background: var(--panel); padding: .6rem .9rem; margin: .8rem 0; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th { text-align: left; font-weight: 600; }
td, th { padding: .5rem 1.4rem .5rem 0; border-bottom: 1px solid var(--rule); vertical-align: baseline; }
thead th { color: var(--soft); font-weight: 500; font-size: .85rem; }
.scores { margin: 1rem 0 1.2rem; }
.score { font-size: 1.45rem; font-weight: 650; }
.source { display: block; color: var(--soft); font-size: .85rem; font-weight: 400; }
.beside { display: block; color: var(--soft); }
.beside b { color: var(--ink); }
.verdict { display: inline-block; font-size: .8rem; font-weight: 600; }
.verdict.reached { color: var(--good); } .verdict.reached::before { content: "\\2713\\00a0"; }
.verdict.missed { color: var(--bad); } .verdict.missed::before { content: "\\2717\\00a0"; }
.facts { display: grid; grid-template-columns: repeat(auto-fill, minmax(17rem, 1fr)); gap: .7rem 1.6rem; margin: 1rem 0 1.6rem; padding: 1rem; background: var(--panel); border-radius: 8px; }
.facts dt { color: var(--soft); font-size: .85rem; }
.facts dd { margin: 0; overflow-wrap: anywhere; }
.figures { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 30rem), 1fr)); gap: 1.4rem 1.8rem; }
figure { margin: 0; min-width: 0; }
figcaption { font-weight: 600; }
.description { color: var(--soft); font-size: .85rem; margin: .2rem 0 0; }
.wide { overflow-x: auto; }
caption { text-align: left; font-weight: 600; padding: 1.4rem 0 .2rem; }
details { margin: 1.2rem 0 0; border-top: 1px solid var(--rule); padding-top: .8rem; }
summary { cursor: pointer; font-weight: 600; }
pre { overflow-x: auto; background: var(--panel); border-radius: 8px; padding: 1rem; font-size: .85rem; line-height: 1.45; }
footer { color: var(--soft); font-size: .85rem; margin-top: 2.4rem; }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
@media (max-width: 640px) {
  .scores, .scores tbody, .scores tr, .scores td, .scores tbody th { display: block; border: 0; padding: .1rem 0; }
  .scores thead { display: none; }
  .scores tr { border-bottom: 1px solid var(--rule); padding: .6rem 0; }
  .scores td:not([data-label="this run"]):not(:empty)::before { content: attr(data-label) ": "; color: var(--soft); font-size: .85rem; }
}
`;

export const reportScript = `
globalThis.figuresDrawn = (async () => {
  const packed = document.getElementById("plotly");
  if (packed) {
    const bytes = Uint8Array.from(atob(packed.textContent), (sign) => sign.charCodeAt(0));
    const script = document.createElement("script");
    script.textContent = await new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).text();
    document.head.append(script);
  }
  const pointer = matchMedia("(hover: hover) and (min-width: 641px)");
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const figures = JSON.parse(document.getElementById("figures").textContent);
  const narrow = matchMedia("(max-width: 640px)");
  // Stamps that are no ISO dates are words to Plotly, which would set as many as fit upright.
  const isStamp = (x) => typeof x === "string" && /\\d\\D+\\d+\\D+\\d/.test(x) && !/^\\d{4}-/.test(x);
  const themed = ({ data, layout }) => {
    const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
    const ink = colour("--ink"), rule = colour("--rule");
    const out = {
      ...layout, autosize: true, paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)",
      margin: { l: 8, r: 8, t: 30, b: 8, ...layout.margin },
      font: { family: getComputedStyle(document.body).fontFamily, size: 12, color: ink },
      legend: { orientation: "h", x: 0, y: 1, yanchor: "bottom", maxheight: 60, bgcolor: "rgba(0,0,0,0)" },
      modebar: { bgcolor: "rgba(0,0,0,0)", color: colour("--soft"), activecolor: colour("--accent") },
      hoverlabel: { bgcolor: colour("--panel"), bordercolor: rule, font: { color: ink } },
    };
    if (layout.scene) {
      out.scene = { ...layout.scene };
      for (const name of ["xaxis", "yaxis", "zaxis"]) out.scene[name] = { gridcolor: rule, color: ink, backgroundcolor: "rgba(0,0,0,0)", ...layout.scene[name] };
    }
    const stamped = new Set(data.filter(({ x }) => isStamp(x?.[0])).map(({ xaxis = "x" }) => xaxis.replace("x", "xaxis")));
    const few = { nticks: narrow.matches ? 3 : 6 };
    for (const name of Object.keys(layout)) {
      if (/^[xy]axis/.test(name)) out[name] = { ...(stamped.has(name) && few), gridcolor: rule, zerolinecolor: rule, linecolor: rule, tickcolor: rule, ...layout[name] };
    }
    return out;
  };
  const draw = (figure, k) => {
    const element = document.getElementById("figure-" + k);
    Plotly.react(element, figure.data, themed(figure), { responsive: true, displaylogo: false, displayModeBar: pointer.matches ? "hover" : false,
      modeBarButtonsToRemove: ["zoomIn2d", "zoomOut2d", "autoScale2d", "select2d", "lasso2d"] });
  };
  const numbers = ({ dtype, bdata }) => {
    const bytes = Uint8Array.from(atob(bdata), (sign) => sign.charCodeAt(0));
    return new ({ f4: Float32Array, f8: Float64Array, i4: Int32Array, u2: Uint16Array, u1: Uint8Array })[dtype](bytes.buffer);
  };
  // An image with single points behind it: they are drawn while few enough of them are in view.
  const zoomable = (figure, k) => {
    const { maxPoints, ...trace } = figure.detail;
    const element = document.getElementById("figure-" + k);
    let xs, ys;
    element.on("plotly_relayout", () => {
      xs ??= numbers(trace.x);
      ys ??= numbers(trace.y);
      const { xaxis: { range: [x0, x1] }, yaxis: { range: [y0, y1] } } = element._fullLayout;
      const x = [], y = [];
      for (let i = 0; i < xs.length && x.length <= maxPoints; i++) {
        if (xs[i] >= x0 && xs[i] <= x1 && ys[i] >= y0 && ys[i] <= y1) { x.push(xs[i]); y.push(ys[i]); }
      }
      const few = x.length <= maxPoints;
      const shown = element.data.length > figure.data.length;
      if (!few && !shown) return;
      const data = few ? [...figure.data.map((image) => ({ ...image, opacity: 0.35 })), { ...trace, x, y }] : figure.data;
      Plotly.react(element, data, element.layout, { responsive: true });
    });
  };
  figures.forEach(draw);
  figures.forEach((figure, k) => figure.detail && zoomable(figure, k));
  for (const query of [dark, narrow]) query.addEventListener("change", () => figures.forEach(draw));
})();
figuresDrawn.catch((error) => {
  const note = document.createElement("p");
  note.className = "warning";
  note.textContent = "The figures could not be drawn: " + error.message + ". They need a browser of 2023 or newer.";
  document.querySelector("main").prepend(note);
});
`;
