// The names by which `using` and `await using` dispose, where the JavaScript engine has none:
// Safari and the WebKit of GTK. They are those that compilers fall back to. Errors import this, and
// all else imports them: classes take the names when they are read.
for (const name of ["dispose", "asyncDispose"])
  if (!(name in Symbol)) Object.defineProperty(Symbol, name, { value: Symbol.for(`Symbol.${name}`) });
