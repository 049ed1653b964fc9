import type { EventField, EventFields, Json } from '@retrace/trajectory';
import { columnField, membersInColumns } from './column-field.js';
import { inColumns, type RowField } from './row-field.js';

type Payload = Readonly<Record<string, unknown>>;

interface PayloadOptions {
  /** Row fields of fields that are stored in another way than their declaration says. */
  readonly own?: Readonly<Record<string, RowField<unknown>>>;
  /** Whether the fields that are JSON already are in the order of their declaration, too. */
  readonly isInDeclaredOrder?: boolean;
}

/**
 * Maps a payload to a row and back, as its fields are declared. Those with columns are there. The others are one JSON text in column `payload`: first those
 * that are JSON already, in the order of the payload, then those that are converted or left out, in the order of their declaration. The order counts,
 * because the hash of a row covers the text.
 *
 * @throws TypeError when a field has all of column `payload`, and another one would be there too
 */
export function payloadField(
  fields: EventFields,
  { own = {}, isInDeclaredOrder = false }: PayloadOptions = {},
): RowField<Payload> {
  const entries = Object.entries(fields);
  const stored = entries.flatMap(([name, field]) => {
    const rowField = own[name] ?? storedIn(field);
    return rowField === null ? [] : [[name, rowField] as const];
  });
  const typed = Object.fromEntries(stored);
  const others = entries.filter(([name]) => !Object.hasOwn(typed, name));
  refuseSharedText(entries, own, others);
  const columns = inColumns<Record<string, unknown>>(typed);
  if (others.length === 0) return columns;
  const converted = others.filter(
    ([, { shape, added }]) => isInDeclaredOrder || shape.form === 'array' || added?.isLeftOut === true,
  );
  const isConverted = new Set(converted.map(([name]) => name));
  return {
    write(target, row, payload) {
      columns.write(target, row, payload);
      const rest: Record<string, unknown> = {};
      for (const name in payload)
        if (!Object.hasOwn(typed, name) && !isConverted.has(name)) rest[name] = payload[name];
      for (const [name, field] of converted) rest[name] = toJson(field, payload[name]);
      target.payload.set(row, JSON.stringify(rest));
    },
    read(row) {
      const rest = row.rest<Record<string, Json>>();
      const read = converted.map(([name, field]) => [name, fromJson(field, rest[name])]);
      return { ...rest, ...(Object.fromEntries(read) as Payload), ...columns.read(row) };
    },
  };
}

type Entries = readonly (readonly [string, EventField<unknown>])[];

function refuseSharedText(fields: Entries, own: object, others: Entries): void {
  const whole = fields.filter(([name, { column }]) => column === 'payload' && !Object.hasOwn(own, name));
  const [first, second] = [...whole, ...others].map(([name]) => name);
  if (whole.length > 0 && second !== undefined)
    throw new TypeError(`field ${first} has all of column payload, so ${second} must have another column`);
}

/** The row field of a field with columns; null where it is a part of the JSON text. */
function storedIn(field: EventField<unknown>): RowField<unknown> | null {
  if (field.column !== null) return columnField(field, field.column);
  if (field.shape.form !== 'object') return null;
  const { fields: members } = field.shape;
  return Object.values(members).every(({ column }) => column !== null)
    ? membersInColumns(members, field.isNullable)
    : null;
}

/** Undefined leaves the field out. */
function toJson({ added }: EventField<unknown>, value: unknown): unknown {
  if (added?.isLeftOut === true && isSame(value, added.before)) return undefined;
  if (!ArrayBuffer.isView(value)) return value;
  // JSON has no NaN, and float32 needs fewer digits than the same number as a double.
  const shorten = value instanceof Float32Array ? shortestDecimal : (number: number) => number;
  return Array.from(value as unknown as ArrayLike<number>, (number) =>
    Number.isNaN(number) ? null : shorten(number),
  );
}

function isSame(value: unknown, before: unknown): boolean {
  return Array.isArray(before) ? Array.isArray(value) && value.length === 0 : value === before;
}

/** The number with the fewest digits, six or more, that is this float32. */
function shortestDecimal(value: number): number {
  for (let digits = 6; digits < 9; digits++) {
    const rounded = Number(value.toPrecision(digits));
    if (Math.fround(rounded) === value) return rounded;
  }
  return Number(value.toPrecision(9));
}

const ARRAY_CLASSES = { Int32Array, Uint8Array, Float32Array, Float64Array };

/** @param json undefined where it was left out, and in rows that were written before the field existed */
function fromJson({ shape, added }: EventField<unknown>, json: Json | undefined): unknown {
  if (json === undefined || json === null) return added?.before ?? null;
  if (shape.form !== 'array') return json;
  return new ARRAY_CLASSES[shape.type]((json as readonly (number | null)[]).map((value) => value ?? NaN));
}
