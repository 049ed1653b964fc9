import type { Json } from '../json/json.js';
import * as rules from './rules.js';
import type { Rule } from './rules.js';

const ARRAY_CLASSES = { Int32Array, Uint8Array, Float32Array, Float64Array };

/** The typed arrays that a field can have. */
export interface ArrayTypes {
  readonly Int32Array: Int32Array;
  readonly Uint8Array: Uint8Array;
  readonly Float32Array: Float32Array;
  readonly Float64Array: Float64Array;
}

export type ArrayType = keyof ArrayTypes;

/** How the values of a field look, beside null: for what treats values by their form, as the store's rows and random events do. */
export type Shape =
  | { readonly form: 'text'; readonly of: 'any' | 'nonEmpty' | 'uuid' | 'sha256' }
  | { readonly form: 'word'; readonly words: readonly string[] }
  | { readonly form: 'flag' }
  | { readonly form: 'integer' | 'real'; readonly min: number; readonly max: number }
  | { readonly form: 'json' }
  | { readonly form: 'list'; readonly element: EventField<unknown> }
  | { readonly form: 'object'; readonly fields: EventFields }
  | { readonly form: 'array'; readonly type: ArrayType };

/** A field that a later schema version of its kind added. */
interface Addition {
  readonly since: number;
  /** The value of the field in events of earlier versions, which says nothing new. */
  readonly before: unknown;
  /** Whether the JSON text of a row leaves the field out where it has that value. Fields with a column of their own are always written. */
  readonly isLeftOut: boolean;
}

interface FieldFacts {
  readonly shape: Shape;
  readonly isNullable: boolean;
  readonly column: string | null;
  readonly added: Addition | null;
  readonly isContent: boolean;
}

/**
 * The declaration of a field, from which follow its type in TypeScript (`T`), its rule, its place in the store's rows, its value in events of earlier
 * schema versions, whether it counts for the checksum, and random values for tests.
 */
export class EventField<T> implements FieldFacts {
  /** Only for the type system. */
  declare readonly value: T;
  readonly shape: Shape;
  readonly isNullable: boolean;
  /** Column of the table `events`; null = a part of the JSON text in column `payload`; `payload` = all of that text. */
  readonly column: string | null;
  readonly added: Addition | null;
  /** Whether it distinguishes an event from another one in the same place; measured times do not. */
  readonly isContent: boolean;

  constructor(
    readonly rule: Rule,
    facts: Pick<FieldFacts, 'shape'> & Partial<FieldFacts>,
  ) {
    this.shape = facts.shape;
    this.isNullable = facts.isNullable ?? false;
    this.column = facts.column ?? null;
    this.added = facts.added ?? null;
    this.isContent = facts.isContent ?? true;
  }

  /** The same field with a column of its own. */
  in(column: string): EventField<T> {
    return new EventField(this.rule, { ...this, column });
  }

  /** The same field, which schema version `since` added; earlier events have the value `before`. */
  since(since: number, before: T): EventField<T> {
    return new EventField(this.rule, { ...this, added: { since, before, isLeftOut: true } });
  }

  /** As `since`, for a field that rows state even where it has the value of earlier events. */
  sinceAndStated(since: number, before: T): EventField<T> {
    return new EventField(this.rule, { ...this, added: { since, before, isLeftOut: false } });
  }

  /**
   * Whether a later version added the field, and `value` is the one that it has in events of earlier versions. Any empty list counts as that one, which
   * recorded checksums rest on.
   */
  isAsBefore(value: unknown): boolean {
    if (this.added === null) return false;
    return Array.isArray(value) ? value.length === 0 : value === this.added.before;
  }

  /** The same field, outside of the checksum. */
  notContent(): EventField<T> {
    return new EventField(this.rule, { ...this, isContent: false });
  }

  /** The same field with another rule. */
  ruledBy(rule: Rule): EventField<T> {
    return new EventField(rule, this);
  }
}

export type EventFields = Readonly<Record<string, EventField<unknown>>>;

/** The object that fields describe. */
export type ValuesOf<F extends EventFields> = { readonly [Name in keyof F]: F[Name]['value'] };

/** The payloads of kinds whose fields are `Kinds`. */
export type PayloadsOf<Kinds extends Readonly<Record<string, EventFields>>> = {
  readonly [Kind in keyof Kinds]: ValuesOf<Kinds[Kind]>;
};

/** The rule of each field. */
export function toRules<F extends EventFields>(fields: F): Readonly<Record<keyof F, Rule>> {
  const entries = Object.entries(fields).map(([name, { rule }]) => [name, rule]);
  return Object.fromEntries(entries) as Record<keyof F, Rule>;
}

export const text = new EventField<string>(rules.text, { shape: { form: 'text', of: 'any' } });
export const nonEmptyText = new EventField<string>(rules.nonEmptyText, {
  shape: { form: 'text', of: 'nonEmpty' },
});
export const uuid = new EventField<string>(rules.uuid, { shape: { form: 'text', of: 'uuid' } });
export const sha256 = new EventField<string>(rules.sha256, { shape: { form: 'text', of: 'sha256' } });
export const flag = new EventField<boolean>(rules.flag, { shape: { form: 'flag' } });
export const json = new EventField<Json>(rules.json, { shape: { form: 'json' } });
export const finiteNumber = new EventField<number>(rules.finiteNumber, {
  shape: { form: 'real', min: -Infinity, max: Infinity },
});

export function integerAtLeast(min: number): EventField<number> {
  const shape = { form: 'integer', min, max: Number.MAX_SAFE_INTEGER } as const;
  return new EventField(rules.integerAtLeast(min), { shape });
}

export function numberAtLeast(min: number): EventField<number> {
  return new EventField(rules.numberAtLeast(min), { shape: { form: 'real', min, max: Infinity } });
}

export function numberBetween(min: number, max: number): EventField<number> {
  return new EventField(rules.numberBetween(min, max), { shape: { form: 'real', min, max } });
}

export function oneOf<const Words extends readonly string[]>(...words: Words): EventField<Words[number]> {
  return new EventField(rules.oneOf(...words), { shape: { form: 'word', words } });
}

/** A field that may also be null. */
export function nullable<T>(field: EventField<T>): EventField<T | null> {
  return new EventField(rules.nullable(field.rule), { ...field, isNullable: true });
}

export function listOf<T>(element: EventField<T>): EventField<readonly T[]> {
  refuseSince('an element of a list', element);
  return new EventField(rules.listOf(element.rule), { shape: { form: 'list', element } });
}

export function objectOf<F extends EventFields>(fields: F): EventField<ValuesOf<F>> {
  for (const [name, field] of Object.entries(fields)) refuseSince(`field ${name} of an object`, field);
  return new EventField(rules.objectOf<F>(toRules(fields) as rules.FieldRules<F>), {
    shape: { form: 'object', fields },
  });
}

/** Versions are told apart by the fields of a kind alone: upcast, checksum and row look no deeper. */
function refuseSince(part: string, { added }: EventField<unknown>): void {
  if (added !== null)
    throw new TypeError(`${part} can't have since(${added.since}); must be a field of the kind itself`);
}

export function typedArray<Type extends ArrayType>(type: Type): EventField<ArrayTypes[Type]> {
  return new EventField(rules.typedArray(ARRAY_CLASSES[type]), { shape: { form: 'array', type } });
}

export const int32s = typedArray('Int32Array');
export const uint8s = typedArray('Uint8Array');
export const float32s = typedArray('Float32Array');
export const float64s = typedArray('Float64Array');
