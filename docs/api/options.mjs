// Asks for a sentence on every field of a public interface of options, which is what users look up.
// Other fields, and those of types that no entry point exports, may speak for themselves.
import { Converter, ReflectionKind } from "typedoc";

const isOptions = /(Options|Settings|Config)$/;

/** @param {import("typedoc").Application} app */
export function load(app) {
  app.converter.on(Converter.EVENT_RESOLVE_END, ({ project }) => {
    for (const field of project.getReflectionsByKind(ReflectionKind.Property)) {
      const { parent } = field;
      if (!parent?.kindOf(ReflectionKind.Interface) || !isOptions.test(parent.name) || field.hasComment()) continue;
      if (parent.parent?.name === "Internal") continue;
      app.logger.warn(`${field.getFriendlyFullName()} is a field of options without documentation`);
    }
  });
}
