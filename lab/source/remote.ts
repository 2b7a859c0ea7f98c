// Runs on the machine that serves the page, over its WebSocket: for reservoirs that are too large
// for a browser, on its GPU if it has one.
import type { RunRequest, ServerMessage } from "../../src/lab/messages.js";
import type { LabSettings, Offered } from "../../src/lab/settings.js";
import { element, say } from "./page.js";

/** The panel for such runs. */
export interface Remote {
  /**
   * Whether the user's own data drives the reservoir: it stays in the page, so nothing can be run
   * elsewhere.
   */
  setOwn(own: boolean): void;
}

/**
 * Shows the panel once the server has answered, and hands on what it has by name. `settings` gives
 * what the sliders say.
 */
export function connect(settings: () => LabSettings, offer: (offered: Offered) => void): Remote {
  const button = element<HTMLButtonElement>("remote-run");
  const progress = element<HTMLProgressElement>("remote-progress");
  let own = false;
  let running = false;
  let open = false;
  const show = () => {
    progress.hidden = !running;
    button.disabled = running || own || !open;
    element("remote-own").hidden = !own;
  };
  const setOwn = (value: boolean) => {
    own = value;
    show();
  };
  const token = new URLSearchParams(location.search).get("token");
  if (!token) return { setOwn };
  const socket = new WebSocket(`ws://${location.host}/?token=${encodeURIComponent(token)}`);
  let id = 0;
  const end = (text: string) => {
    running = false;
    say("remote-result", text);
    show();
  };
  socket.addEventListener("message", ({ data }) => {
    const message = JSON.parse(String(data)) as ServerMessage;
    if (message.type === "hello") {
      open = true;
      element("remote").hidden = false;
      offer(message.offered);
      end(`${message.engine} engine (${message.reason})`);
    } else if (message.type === "progress") {
      progress.value = message.done / message.total;
    } else if (message.type === "error") {
      end(message.message);
    } else {
      const rate = Math.round(message.stepsPerSecond).toLocaleString("en-US");
      end(`${message.engine}: ${rate} steps a second (${message.plan}); first 1000 states ${message.hash.slice(0, 16)}…`);
    }
  });
  socket.addEventListener("close", () => {
    open = false;
    end("The server has gone; open the lab again.");
  });
  button.addEventListener("click", () => {
    const size = Number(element<HTMLInputElement>("remote-size").value);
    const steps = Number(element<HTMLInputElement>("remote-steps").value);
    const request: RunRequest = { type: "run", id: ++id, settings: { ...settings(), size }, steps };
    running = true;
    progress.value = 0;
    say("remote-result", "Running…");
    show();
    socket.send(JSON.stringify(request));
  });
  return { setOwn };
}
