// A sound server without a sound card: Firefox runs an AudioContext only if there is an output.
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";

/** Starts PulseAudio with an output that nothing hears. @throws Error if this machine has none */
export async function openSoundServer(): Promise<{ readonly environment: Readonly<Record<string, string>>; close(): void }> {
  const folder = mkdtempSync(join(tmpdir(), "spillway-sound-"));
  const socket = join(folder, "native");
  const modules = ["module-null-sink rate=48000", `module-native-protocol-unix socket=${socket} auth-anonymous=1`];
  const words = ["-n", "--daemonize=no", "--exit-idle-time=-1", ...modules.map((module) => `--load=${module}`)];
  const child: ChildProcess = spawn("pulseaudio", words, { stdio: "ignore", env: { ...process.env, HOME: folder } });
  const failed = new Promise<never>((_, reject) => {
    child.once("error", () => reject(new Error("these tests need pulseaudio on the search path")));
    child.once("exit", (code) => reject(new Error(`pulseaudio ended with ${code}`)));
  });
  failed.catch(() => {});
  const close = () => {
    child.kill("SIGKILL");
    rmSync(folder, { recursive: true, force: true });
  };
  const listening = async () => {
    for (let tries = 0; !existsSync(socket); tries++) {
      if (tries > 300) throw new Error("pulseaudio did not open its socket within 30 s");
      await wait(100);
    }
  };
  try {
    await Promise.race([listening(), failed]);
  } catch (error) {
    close();
    throw error;
  }
  return { environment: { PULSE_SERVER: `unix:${socket}` }, close };
}
