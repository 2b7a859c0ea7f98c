// A headless Chromium for tests of pages, and what went wrong on a page while a test looked at it.
import { type Browser, chromium, type Page } from "playwright-core";
import { findChromium } from "../../src/plot/browser.js";
import type { Driven } from "./driven.js";

/**
 * Opens the Chromium of this machine. @throws Error if there is none: these tests are for
 * machines that have one. `more` are arguments of its command line.
 */
export function openChromium(more: readonly string[] = []): Promise<Browser> {
  const executablePath = findChromium();
  if (!executablePath) throw new Error("these tests need Chromium on the search path, or its path in SPILLWAY_CHROMIUM");
  return chromium.launch({ executablePath, args: ["--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", ...more] });
}

/** The same as a browser with one page, as Firefox and WebKit are opened. */
export async function openDrivenChromium(): Promise<Driven> {
  const browser = await openChromium();
  const page = await browser.newPage({ viewport: { width: 1200, height: 900 } });
  return {
    goto: async (url) => void (await page.goto(url)),
    evaluate: (body) => page.evaluate(`(async () => { ${body} })()`),
    close: () => browser.close(),
  };
}

/**
 * A page and a list of its errors: console errors, uncaught ones, requests that failed. A request
 * that the browser itself broke off, because a test left or reloaded the page while a part was
 * still on its way, is no error of the page.
 */
export async function openPage(browser: Browser, size: { width: number; height: number }): Promise<{ page: Page; errors: string[] }> {
  const page = await browser.newPage({ viewport: size });
  const errors: string[] = [];
  page.on("console", (message) => message.type() === "error" && errors.push(message.text()));
  page.on("pageerror", (error) => errors.push(error.message));
  page.on("requestfailed", (request) => {
    const failure = request.failure()?.errorText;
    if (failure !== "net::ERR_ABORTED") errors.push(`${request.url()}: ${failure}`);
  });
  return { page, errors };
}

/** Waits until an element's text is of a form, and gives it. @throws Error with the text it has */
export async function untilText(page: Page, selector: string, form: RegExp, not?: string): Promise<string> {
  const element = page.locator(selector).filter({ hasText: form, ...(not === undefined ? {} : { hasNotText: not }) });
  await element.waitFor().catch(async (cause: unknown) => {
    throw new Error(`${selector} says ${JSON.stringify(await page.locator(selector).allTextContents())}, not ${form}`, { cause });
  });
  return (await element.textContent()) ?? "";
}

/** How many different colours a part of the page shows: one or two are an empty panel. */
export async function coloursOf(page: Page, selector: string): Promise<number> {
  const shot = await page.locator(selector).screenshot();
  return page.evaluate(async (source) => {
    const image = new Image();
    image.src = `data:image/png;base64,${source}`;
    await image.decode();
    const canvas = document.createElement("canvas");
    canvas.width = image.width;
    canvas.height = image.height;
    const context = canvas.getContext("2d")!;
    context.drawImage(image, 0, 0);
    return new Set(new Uint32Array(context.getImageData(0, 0, image.width, image.height).data.buffer)).size;
  }, shot.toString("base64"));
}

/** Drops a file onto a page. */
export async function dropFile(page: Page, name: string, text: string): Promise<void> {
  const dataTransfer = await page.evaluateHandle(
    ([name, text]) => {
      const data = new DataTransfer();
      data.items.add(new File([text!], name!));
      return data;
    },
    [name, text] as const,
  );
  await page.dispatchEvent("body", "drop", { dataTransfer });
}
