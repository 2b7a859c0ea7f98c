// Files that are dropped anywhere on the page. They are read in it and never sent anywhere.

/**
 * Calls `take` with every file that is dropped, and says that it may be while one is above the
 * page.
 */
export function onDrop(take: (file: File) => void): void {
  addEventListener("dragover", (event) => {
    event.preventDefault();
    document.body.classList.add("dropping");
  });
  addEventListener("dragleave", (event) => {
    if (event.relatedTarget === null) document.body.classList.remove("dropping");
  });
  addEventListener("drop", (event) => {
    event.preventDefault();
    document.body.classList.remove("dropping");
    const [file] = event.dataTransfer?.files ?? [];
    if (file) take(file);
  });
}
