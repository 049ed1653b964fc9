import type { Json } from '@retrace/trajectory';

/** The value at a dotted path in a task; undefined where there is nothing. */
export function valueAt(task: Json, path: string): Json | undefined {
  let value: Json = task;
  for (const key of path.split('.')) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
    value = (value as Readonly<Record<string, Json>>)[key];
  }
  return value;
}
