import { isRecord, type PlainObject } from './plain-object.js';

type Defaults = Readonly<Record<string, unknown>>;

/**
 * A recipe without the fields for experts that have their default: a start for one's own, which is read as the same recipe but for what it leaves out. An
 * object for experts goes with its last field.
 *
 * @param recipe plain, as JSON has it
 */
export async function withoutExpertDefaults(recipe: object): Promise<object> {
  const { EXPERT_DEFAULTS } = await import('./field-words.js');
  return shorten(recipe, '', EXPERT_DEFAULTS);
}

function shorten(object: object, prefix: string, defaults: Defaults): PlainObject {
  const kept = Object.entries(object).flatMap(([name, value]: [string, unknown]) => {
    const path = `${prefix}${name}`;
    const inner = shortenIn(value, path, defaults);
    return Object.hasOwn(defaults, path) && isDefault(inner, defaults[path]) ? [] : [[name, inner] as const];
  });
  return Object.fromEntries(kept);
}

function shortenIn(value: unknown, path: string, defaults: Defaults): unknown {
  if (Array.isArray(value))
    return value.map((entry: unknown) => (isRecord(entry) ? shorten(entry, `${path}[].`, defaults) : entry));
  return isRecord(value) ? shorten(value, `${path}.`, defaults) : value;
}

/** An object without fields is one whose fields all have their default; where the object's default is null, it turns something on all the same. */
function isDefault(value: unknown, ofField: unknown): boolean {
  const isEmpty = isRecord(value) && ofField !== null && Object.keys(value).length === 0;
  return isEmpty || JSON.stringify(value) === JSON.stringify(ofField);
}
