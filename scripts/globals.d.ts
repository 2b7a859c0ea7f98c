// What the declarations of the package name and a program's own settings may not bring. The build
// puts it into dist/, where every entry refers to it.
/// <reference lib="esnext.disposable" />

// The types of the web or of Node.js say what these hold, if the program has either; a merge with
// nothing changes neither.
// biome-ignore-start lint/suspicious/noEmptyInterface: an alias does not merge
interface AbortSignal {}
interface URL {}
// biome-ignore-end lint/suspicious/noEmptyInterface: an alias does not merge
