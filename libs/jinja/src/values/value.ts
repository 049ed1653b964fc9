/** Python's values as the interpreter has them: `int` is a bigint, `float` a number, `None` null, `list` an array. */
import { fail, JinjaError } from '../jinja-error.js';
import { takeSteps } from '../meter.js';
import { countCharacters } from './characters.js';
import { isText, originOfText, plainText, traced, TracedText, type Text } from './traced-text.js';

export type Value =
  | null
  | boolean
  | bigint
  | number
  | Text
  | readonly Value[]
  | Tuple
  | Dict
  | Undefined
  | Callable
  | Instance
  | Lazy
  | NumberRange;

/** An undefined value: it prints as nothing, and any use but that fails. */
export class Undefined {
  /** @param problem what its use says */
  constructor(readonly problem: string) {}

  refuse(): never {
    throw new JinjaError('RENDER', `UndefinedError: ${this.problem}`);
  }
}

export class Tuple {
  constructor(readonly items: readonly Value[]) {}
}

export type Key = string | bigint | number | boolean | null;

/** A dict, whose keys come from where its texts do. */
export class Dict {
  constructor(
    readonly entries: ReadonlyMap<Key, Value>,
    readonly origin = 0,
  ) {}

  get(key: Value): Value | undefined {
    return this.entries.get(toKey(key));
  }

  keys(): readonly Value[] {
    return [...this.entries.keys()].map((key) => this.tracedKey(key));
  }

  items(): readonly Tuple[] {
    return [...this.entries].map(([key, value]) => new Tuple([this.tracedKey(key), value]));
  }

  private tracedKey(key: Key): Value {
    return typeof key === 'string' ? traced(key, this.origin) : key;
  }
}

/** The result of filters such as `map`: read once, without a length. */
export class Lazy {
  constructor(
    readonly items: Iterator<Value>,
    readonly kind = 'generator',
  ) {}
}

export class NumberRange {
  constructor(
    readonly start: bigint,
    readonly stop: bigint,
    readonly step: bigint,
  ) {}

  get length(): number {
    const [from, to, by] =
      this.step > 0n ? [this.start, this.stop, this.step] : [this.stop, this.start, -this.step];
    return to <= from ? 0 : Number((to - from + by - 1n) / by);
  }

  at(n: number): bigint {
    return this.start + BigInt(n) * this.step;
  }
}

export type NamedValues = ReadonlyMap<string, Value>;

/** A function, macro or method. */
export class Callable {
  constructor(
    readonly name: string,
    readonly call: (args: readonly Value[], named: NamedValues) => Value,
    readonly kind = 'function',
  ) {}
}

/** An object with attributes: a namespace, or a loop's variable. */
export class Instance {
  constructor(
    readonly kind: string,
    readonly attribute: (name: string) => Value | undefined,
    readonly parts: {
      /** The content, where the object prints it. */
      readonly content?: () => Dict;
      readonly setAttribute?: (name: string, value: Value) => void;
      readonly call?: Callable['call'];
    } = {},
  ) {}
}

/** @throws JinjaError for a value that can't be a key */
export function toKey(value: Value): Key {
  if (isText(value)) return plainText(value);
  if (typeof value === 'boolean') return value ? 1n : 0n;
  if (typeof value === 'number') return Number.isInteger(value) ? BigInt(value) : value;
  if (typeof value === 'bigint' || value === null) return value;
  return fail('TypeError', `unhashable type: '${typeName(value)}'`);
}

export function typeName(value: Value): string {
  if (value === null) return 'NoneType';
  if (typeof value === 'boolean') return 'bool';
  if (typeof value === 'bigint') return 'int';
  if (typeof value === 'number') return 'float';
  if (isText(value)) return 'str';
  if (value instanceof Tuple) return 'tuple';
  if (value instanceof Dict) return 'dict';
  if (value instanceof Undefined) return 'Undefined';
  if (value instanceof NumberRange) return 'range';
  if (value instanceof Callable || value instanceof Instance || value instanceof Lazy) return value.kind;
  return 'list';
}

export function isList(value: Value): value is readonly Value[] {
  return Array.isArray(value);
}

/** The items of a list or tuple. */
export function sequenceItems(value: Value): readonly Value[] | null {
  return isList(value) ? value : value instanceof Tuple ? value.items : null;
}

export function isTrue(value: Value): boolean {
  if (value === null || value instanceof Undefined) return false;
  if (isText(value)) return plainText(value) !== '';
  if (value instanceof Dict) return value.entries.size > 0;
  const items = sequenceItems(value);
  if (items) return items.length > 0;
  if (value instanceof NumberRange) return value.length > 0;
  if (value instanceof Lazy) return value.kind === 'generator' || countItems(value) > 0;
  return typeof value === 'object' ? true : Boolean(value);
}

/** @throws JinjaError for a value without a length */
export function countItems(value: Value): number {
  if (isText(value)) return countCharacters(plainText(value));
  if (value instanceof Dict) return value.entries.size;
  if (value instanceof NumberRange) return value.length;
  if (value instanceof Undefined) return 0;
  const items = sequenceItems(value);
  if (items) return items.length;
  if (value instanceof DictView) return value.values.length;
  return fail('TypeError', `object of type '${typeName(value)}' has no len()`);
}

/** `dict.keys()`, `values()` or `items()`: it has a length, but no places. */
export class DictView extends Lazy {
  constructor(
    readonly values: readonly Value[],
    kind: string,
  ) {
    super([][Symbol.iterator](), kind);
  }
}

/** @throws JinjaError for a value that can't be iterated over */
export function iterate(value: Value): Iterator<Value> {
  if (isText(value)) return characters(value);
  const items = sequenceItems(value) ?? (value instanceof DictView ? value.values : null);
  if (items) return items[Symbol.iterator]();
  if (value instanceof Dict) return value.keys()[Symbol.iterator]();
  if (value instanceof Lazy) return value.items;
  if (value instanceof NumberRange) return numbers(value);
  if (value instanceof Undefined) return ([] as Value[])[Symbol.iterator]();
  return fail('TypeError', `'${typeName(value)}' object is not iterable`);
}

export function toList(value: Value): readonly Value[] {
  const items = isList(value) ? value : [...({ [Symbol.iterator]: () => iterate(value) } as Iterable<Value>)];
  return items;
}

function* characters(text: Text): Generator<Value, undefined> {
  const origin = originOfText(text);
  for (const character of plainText(text)) yield traced(character, origin);
}

function* numbers(range: NumberRange): Generator<Value, undefined> {
  for (let n = 0; n < range.length; n++) yield range.at(n);
}

/** The highest origin of the texts in a value. */
export function findOrigin(value: Value): number {
  takeSteps(1);
  if (isText(value)) return originOfText(value);
  if (value instanceof Dict) return Math.max(value.origin, ...[...value.entries.values()].map(findOrigin));
  const items = sequenceItems(value) ?? (value instanceof DictView ? value.values : []);
  return items.reduce<number>((highest, item) => Math.max(highest, findOrigin(item)), 0);
}

/**
 * Makes a value of a JavaScript one: whole numbers become `int`; undefined fields of objects are left out. A dict of `parseJson` is a value
 * already, with its floats.
 *
 * @param origin of its texts
 */
export function toValue(source: unknown, origin = 0): Value {
  if (source === null || source === undefined) return null;
  if (typeof source === 'number') return Number.isSafeInteger(source) ? BigInt(source) : source;
  if (Array.isArray(source)) return source.map((item) => toValue(item, origin));
  if (typeof source !== 'object' || OWN_KINDS.some((kind) => source instanceof kind))
    return withOrigin(source as Value, origin);
  const fields = source instanceof Map ? [...(source as Map<string, unknown>)] : Object.entries(source);
  const entries = fields.filter(([, item]) => item !== undefined);
  return new Dict(new Map(entries.map(([key, item]) => [key, toValue(item, origin)])), origin);
}

const OWN_KINDS = [TracedText, Tuple, Dict, Undefined, Callable, Instance, Lazy, NumberRange];

/** The value with all its texts and keys marked as of an origin, those that have one already left as they are. */
function withOrigin(value: Value, origin: number): Value {
  if (typeof value === 'string') return traced(value, origin);
  if (isList(value)) return value.map((item) => withOrigin(item, origin));
  if (!(value instanceof Dict)) return value;
  const entries = [...value.entries].map(([key, item]) => [key, withOrigin(item, origin)] as const);
  return new Dict(new Map(entries), value.origin || origin);
}
