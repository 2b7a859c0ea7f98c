// The version that model files name as the one that wrote them. A test holds it against package.json, which a browser cannot read.

export const packageVersion = "0.1.0";
