// Runs on the machine that serves the page, over its WebSocket: for reservoirs that are too large for a browser, on its GPU where it has one.
import type { RunRequest, ServerMessage } from "../../src/lab/messages.js";
import type { LabSettings } from "../../src/lab/settings.js";

const element = <T extends HTMLElement>(id: string) => document.getElementById(id) as T;

/** Shows the panel once the server has answered. `settings` gives what the sliders say. */
export function connect(settings: () => LabSettings): void {
  const token = new URLSearchParams(location.search).get("token");
  if (!token) return;
  const socket = new WebSocket(`ws://${location.host}/?token=${encodeURIComponent(token)}`);
  const result = element<HTMLParagraphElement>("remote-result");
  const progress = element<HTMLProgressElement>("remote-progress");
  const button = element<HTMLButtonElement>("remote-run");
  let id = 0;
  const idle = () => {
    progress.hidden = true;
    button.disabled = false;
  };
  socket.addEventListener("message", ({ data }) => {
    const message = JSON.parse(String(data)) as ServerMessage;
    if (message.type === "hello") {
      element("remote").hidden = false;
      result.textContent = `${message.engine} engine (${message.reason})`;
    } else if (message.type === "progress") {
      progress.value = message.done / message.total;
    } else if (message.type === "error") {
      idle();
      result.textContent = message.message;
    } else {
      idle();
      const rate = Math.round(message.stepsPerSecond).toLocaleString("en-US");
      result.textContent = `${message.engine}: ${rate} steps a second (${message.plan}); first 1000 states ${message.hash.slice(0, 16)}…`;
    }
  });
  socket.addEventListener("close", () => {
    idle();
    button.disabled = true;
    result.textContent = "The server has gone; open the lab again.";
  });
  button.addEventListener("click", () => {
    const size = Number(element<HTMLInputElement>("remote-size").value);
    const steps = Number(element<HTMLInputElement>("remote-steps").value);
    const request: RunRequest = { type: "run", id: ++id, settings: { ...settings(), size }, steps };
    progress.hidden = false;
    progress.value = 0;
    button.disabled = true;
    result.textContent = "Running…";
    socket.send(JSON.stringify(request));
  });
}
