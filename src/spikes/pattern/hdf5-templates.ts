// Empty HDF5 files with the two extendable datasets of variable-length rows that event lists take,
// spikes/times and spikes/units (uint16): h5wasm writes into such datasets but cannot make them.
// zlib, base64; scripts/make-hdf5-templates.py makes them with h5py.

/** By the type of the times. */
export const hdf5Templates = {
  float16:
    "eNrr9HBx4+WS4mLi4GCAgf9Q4McM4RtAxf/Ju03z93AJYmKoYBJCVggDXEwMjAwMbIIMQIqtuCAzO7V4M8xQZwZqgE0CH+cS4wQBkBNYSzJzU4vNGCFaoWKl" +
    "eZklxU5MDKheIwHMy9jeCnYCIwMjowgDAxMjIyN6yDHLMDBKAvlAKxkEFfgZINYJMHCxMnDxA1msQFcyM3MIMzAwMzHBNDlANTAsZxgqoGqX7QyCYSGCCAsQ" +
    "hoUF/jBYzzDUwHnL0FkAIdJm6g==",
  float32:
    "eNrr9HBx4+WS4mLi4GCAgf9Q4McM4RtAxf/Ju03z93AJYmKoYBJCVggDXEwMjAwMbIIMQIqtuCAzO7V4M8xQZwZqgE0CH+cS4wQBkBNYSzJzU4vNGCFaoWKl" +
    "eZklxU5MDKheIwHMy9jeCnYCIwMjowgDAxMjIyN6yDHLMDBKAvlAKxkEFeQZWMCyCgziHAzi9UAWK9CVzMwcwgwMzExMME0OUA0MyxmGClipFBBOMCxEEGEB" +
    "wpCgFyAQBusZhho4bxk6CwDJnWcC",
} as const;
