import type { Json } from '@retrace/trajectory';

/** Value at a dotted path in a task; undefined where there is none. */
export function valueAt(task: Json, path: string): Json | undefined {
  let value: Json = task;
  for (const key of path.split('.')) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
    value = (value as Readonly<Record<string, Json>>)[key];
  }
  return value;
}
