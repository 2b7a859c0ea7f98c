// A map or weak map as a cache: what is missing is made.

interface Cache<Key, Value> {
  get(key: Key): Value | undefined;
  set(key: Key, value: Value): unknown;
}

/** What the map has under a key; if nothing, it then has what `make` gives. */
export function getOrMake<Key, Value extends {}>(map: Cache<Key, Value>, key: Key, make: () => Value): Value {
  let value = map.get(key);
  if (value === undefined) {
    value = make();
    map.set(key, value);
  }
  return value;
}
