// The user's own browser, to show a page in. It starts one; what the page is, and images of it, are
// other files' matter.

/**
 * Opens an address or the path of a page (Node). If no browser can be opened (no screen),
 * nothing happens.
 */
export function openInBrowser(address: string): void {
  const { spawn } = process.getBuiltinModule("node:child_process");
  const [program, ...before] = { darwin: ["open"], win32: ["cmd", "/c", "start", ""] }[process.platform as string] ?? ["xdg-open"];
  const opened = spawn(program!, [...before, address], { stdio: "ignore", detached: true });
  // The caller has the page's address as well.
  opened.on("error", () => {});
  opened.unref();
}
