// Prints what this environment computes, as one line of JSON.
import { bitsHere } from "./cases.js";

console.log(JSON.stringify(await bitsHere()));
