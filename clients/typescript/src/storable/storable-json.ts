import type { JsonValue } from '../wire/records.js';
import type { Changes } from './changes.js';

/** Depth at which the server takes no more lists and objects in a field of any JSON. */
const MAX_DEPTH = 100;
/** Values in one field; more would not fit into a record. */
const MAX_VALUES = 2 ** 20;
const REFUSED_NAME = '__proto__';

/** ES2024's methods, which Node 20 has and the ES2023 typings lack. */
type WellFormedString = string & { isWellFormed(): boolean; toWellFormed(): string };

/** A text whose lone halves of surrogate pairs are U+FFFD: UTF-8 has no bytes for them. */
export function storableText(text: string, changes: Changes, path: string): string {
  const formed = text as WellFormedString;
  if (formed.isWellFormed()) return text;
  changes.note(path, 'half a character was replaced');
  return formed.toWellFormed();
}

/**
 * Any value as JSON that the server takes, as `JSON.stringify` would write it: texts are well-formed; a number that is not finite is null;
 * names that are refused get another one; what is nested too deep, contains itself, or is no JSON becomes a text that says so. A value
 * that needs no change is returned as it is.
 *
 * @param depth of the value in its field
 */
export function storableJson(value: unknown, changes: Changes, path: string, depth = 0): JsonValue {
  return new JsonRepair(changes, path).repair(value, depth) ?? null;
}

class JsonRepair {
  private readonly parents = new Set<object>();
  private numValues = 0;

  constructor(
    private readonly changes: Changes,
    private readonly path: string,
  ) {}

  /** @returns undefined for what JSON has no form for */
  repair(given: unknown, depth: number): JsonValue | undefined {
    const value = typeof given === 'object' || typeof given === 'bigint' ? this.plain(given) : given;
    if (++this.numValues > MAX_VALUES) return this.leftOut('what goes beyond 1,048,576 values');
    switch (typeof value) {
      case 'string':
        return storableText(value, this.changes, this.path);
      case 'boolean':
        return value;
      case 'number':
        if (Number.isFinite(value)) return value;
        this.changes.note(this.path, 'a number that is not finite was left out');
        return null;
      case 'object':
        return value === null ? null : this.nested(value, depth);
      default:
        return undefined;
    }
  }

  /** The value that `JSON.stringify` writes in place of this one. */
  private plain(value: unknown): unknown {
    if (typeof value === 'bigint') return Number.isSafeInteger(Number(value)) ? Number(value) : `${value}`;
    const { toJSON } = (value ?? {}) as { readonly toJSON?: unknown };
    return typeof toJSON === 'function' ? (toJSON.call(value, '') as unknown) : value;
  }

  private nested(value: object, depth: number): JsonValue {
    if (this.parents.has(value)) return this.leftOut('a value inside itself');
    if (depth >= MAX_DEPTH && Object.keys(value).length > 0)
      return this.leftOut('what is nested more than 100 deep');
    this.parents.add(value);
    try {
      return Array.isArray(value) ? this.list(value, depth) : this.object(value, depth);
    } catch {
      // A getter, or `toJSON`, of the caller's.
      return this.leftOut('what could not be read');
    } finally {
      this.parents.delete(value);
    }
  }

  private list(list: readonly unknown[], depth: number): JsonValue {
    const repaired = Array.from(list, (item) => this.repair(item, depth + 1) ?? null);
    return repaired.every((item, i) => item === list[i]) ? (list as readonly JsonValue[]) : repaired;
  }

  private object(object: object, depth: number): JsonValue {
    const entries = Object.entries(object);
    let isSame = true;
    const names = new Set<string>();
    const repaired = entries.map(([given, item]: [string, unknown]) => {
      const name = this.nameOf(given, names);
      names.add(name);
      const value = this.repair(item, depth + 1);
      isSame &&= name === given && value === item;
      return [name, value] as const;
    });
    return isSame ? (object as JsonValue) : Object.fromEntries(repaired);
  }

  private nameOf(given: string, taken: ReadonlySet<string>): string {
    let name = storableText(given, this.changes, this.path);
    if (name === REFUSED_NAME) {
      this.changes.note(this.path, 'a name was replaced');
      name = '[__proto__]';
    }
    while (taken.has(name)) name += '_';
    return name;
  }

  private leftOut(part: string): string {
    this.changes.note(this.path, `${part} was left out`);
    return `[left out: ${part}]`;
  }
}
