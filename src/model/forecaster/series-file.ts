// Several series in one model file: the content of each under a prefix of its own. Tensors that they
// share, such as those of a pooled reservoir, are written once.
import { given, list, object, record, text } from "@spillway/core/options.js";
import type { SafetensorsTensor } from "@spillway/io/safetensors-types.js";
import type { ModelFile } from "../model-file.js";
import type { MutableContent } from "../mutable-content.js";
import { stableJson } from "../stable-json.js";
import { TensorReader } from "../tensor-reader.js";

const note = object({
  keys: given(list(text(), "a list of keys", 1), "What tells the series apart."),
  same: given(record(text(), "names of tensors by name"), "Tensors that are those of an earlier series."),
});

const prefixOf = (s: number) => `series.${s}.`;

/** Whether a file holds several series. */
export function isSeveral({ metadata }: ModelFile): boolean {
  return Object.hasOwn(metadata, "series");
}

/** Puts the content of each series, by its key, into a file. */
export function putSeries(content: MutableContent, all: ReadonlyMap<string, MutableContent>): void {
  const written = new Map<SafetensorsTensor["data"], string>();
  const same: Record<string, string> = {};
  for (const [s, one] of [...all.values()].entries()) {
    for (const [name, tensor] of Object.entries(one.tensors)) {
      const full = prefixOf(s) + name;
      const earlier = written.get(tensor.data);
      if (earlier !== undefined) same[full] = earlier;
      else {
        content.tensors[full] = tensor;
        written.set(tensor.data, full);
      }
    }
    for (const [name, said] of Object.entries(one.metadata)) content.metadata[prefixOf(s) + name] = said;
  }
  content.formatVersion = 2;
  content.metadata["series"] = stableJson({ keys: [...all.keys()], same });
}

/** The content of each series as a file of its own. @throws ModelFileError */
export function splitSeries(file: ModelFile, source: string): ReadonlyMap<string, ModelFile> {
  const reader = new TensorReader(file, source);
  const { keys, same } = reader.note("series", note);
  const parts = keys.map(() => ({ tensors: {} as Record<string, SafetensorsTensor>, metadata: {} as Record<string, string> }));
  const partOf = (full: string) => {
    const [, s, name] = /^series\.(\d{1,9})\.(.+)$/s.exec(full) ?? [];
    const part = s === undefined ? undefined : parts[Number(s)];
    return part && { part, name: name! };
  };
  const put = (full: string, tensor: SafetensorsTensor | undefined) => {
    const found = partOf(full);
    if (!found || !tensor) throw reader.error(`it holds a tensor "${full}" of no series`);
    found.part.tensors[found.name] = tensor;
  };
  for (const [full, tensor] of Object.entries(file.tensors)) put(full, tensor);
  for (const [full, earlier] of Object.entries(same)) put(full, Object.hasOwn(file.tensors, earlier) ? file.tensors[earlier] : undefined);
  for (const [full, said] of Object.entries(file.metadata)) {
    const found = partOf(full);
    if (found) found.part.metadata[found.name] = said;
  }
  const { forecaster } = file.metadata;
  return new Map(
    keys.map((key, s) => [
      key,
      { ...file, tensors: parts[s]!.tensors, metadata: { ...parts[s]!.metadata, ...(forecaster && { forecaster }) } },
    ]),
  );
}
