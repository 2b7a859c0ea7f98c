// Asks for documentation of every public symbol, and for a sentence on every field of a public
// interface of options, which is what users look up. Other fields, and types that no entry point
// exports, may speak for themselves.
import { Converter, ReflectionKind } from "typedoc";

const isOptions = /(Options|Settings|Config)$/;
const { Module, Enum, Variable, Function: Func, Class, Interface, TypeAlias, Method, Accessor } = ReflectionKind;
const documentedKinds = Module | Enum | Variable | Func | Class | Interface | TypeAlias | Method | Accessor;

/** Whether a symbol is in the module of types that no entry point exports. */
const isInternal = (symbol) => symbol !== undefined && (symbol.name === "Internal" || isInternal(symbol.parent));

/** Whether a symbol, or each of its signatures, has a comment. */
function isDocumented(symbol) {
  const signatures = symbol.signatures ?? [symbol.getSignature, symbol.setSignature].filter(Boolean);
  return symbol.hasComment() || (signatures.length > 0 && signatures.every((each) => each.hasComment()));
}

/** @param {import("typedoc").Application} app */
export function load(app) {
  app.converter.on(Converter.EVENT_RESOLVE_END, ({ project }) => {
    for (const symbol of project.getReflectionsByKind(documentedKinds))
      if (!isInternal(symbol) && !isDocumented(symbol)) app.logger.warn(`${symbol.getFriendlyFullName()} has no documentation`);
    for (const field of project.getReflectionsByKind(ReflectionKind.Property)) {
      const { parent } = field;
      if (!parent?.kindOf(ReflectionKind.Interface) || !isOptions.test(parent.name) || field.hasComment() || isInternal(parent)) continue;
      app.logger.warn(`${field.getFriendlyFullName()} is a field of options without documentation`);
    }
  });
}
