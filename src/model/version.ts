// The version that model files name as the one that wrote them. A test holds it against
// package.json, which a browser cannot read.

/** The version of this package, as model files and result files keep it. */
export const packageVersion = "0.1.0";
