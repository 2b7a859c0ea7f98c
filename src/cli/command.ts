// A command's process. Nothing is imported before the `try`: a system that opens no more files
// stops the program while it loads, and a person gets a sentence then too.
try {
  await import("./perform.js");
} catch (error) {
  process.exitCode = 1;
  process.stderr.write(`spillway: the program cannot be loaded: ${error instanceof Error ? error.message : error}\n`);
}
