// Files that the page hands to the browser's downloads: pictures as they stand, and the experiment.
import { colour } from "./canvas.js";

function download(name: string, content: Blob): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(content);
  link.download = name;
  link.click();
  // Some browsers read it only after a turn of the event loop.
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

export function saveText(name: string, text: string): void {
  download(name, new Blob([text], { type: "text/plain" }));
}

/** Puts a button into each picture's caption that saves it as a PNG, on the page's paper. */
export function addSaveButtons(pictures: Iterable<HTMLCanvasElement>): void {
  for (const picture of pictures) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "save";
    button.textContent = "Save";
    button.setAttribute("aria-label", `Save the picture ${picture.id}`);
    button.addEventListener("click", () => savePicture(picture));
    picture.parentElement!.querySelector("figcaption")!.append(button);
  }
}

function savePicture(picture: HTMLCanvasElement): void {
  const paper = document.createElement("canvas");
  [paper.width, paper.height] = [picture.width, picture.height];
  const context = paper.getContext("2d")!;
  context.fillStyle = colour("--paper");
  context.fillRect(0, 0, paper.width, paper.height);
  context.drawImage(picture, 0, 0);
  paper.toBlob((image) => image && download(`spillway-${picture.id}.png`, image), "image/png");
}
