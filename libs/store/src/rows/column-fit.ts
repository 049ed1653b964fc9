import type { EventField } from '@retrace/trajectory';
import { DataType } from '../arrow/apache-arrow.js';
import type { ColumnBuilder } from '../arrow/column-builder.js';
import { newEventColumns } from './event-columns.js';

/** Only to ask how columns are made. */
export const MADE: Readonly<Record<string, ColumnBuilder>> = newEventColumns();

/** Stands for an unknown number in a column without null: a value that the field can't have. */
export const UNKNOWN = { integer: -1, real: NaN } as const;

type Shape = EventField<unknown>['shape'];

/** @throws TypeError when column `column` of table `events` can't hold every value of the field, or gives another one back */
export function refuseUnfit(field: EventField<unknown>, column: string): void {
  if (!Object.hasOwn(MADE, column)) throw new TypeError(`table events has no column ${column}`);
  const { shape, isNullable } = field;
  const held = describeHeld(shape);
  const holds = describeColumn(column);
  if (held !== null && held !== holds)
    throw new TypeError(`column ${column} holds ${holds}, so a field of ${held} can't have it`);
  const lost = isNullable && !MADE[column].isNullable ? describeLost(shape, column) : null;
  if (lost !== null)
    throw new TypeError(`column ${column} has no null, so a nullable field can't have it: ${lost}`);
}

/** Whether a row without the object that the field is a member of is one whose column is null. */
export function canTellNull({ isNullable }: EventField<unknown>, column: string): boolean {
  return MADE[column].isNullable && describeColumn(column) === 'numbers' && !isNullable;
}

function describeColumn(column: string): string {
  const { type } = MADE[column].finish(0);
  if (DataType.isUtf8(type) || DataType.isDictionary(type)) return 'text';
  if (DataType.isInt(type) || DataType.isFloat(type)) return 'numbers';
  if (!DataType.isList(type)) return `${type}`;
  const [{ type: item }] = type.children;
  return DataType.isDictionary(item) ? 'lists of text' : `${item}Array`;
}

/** Describes what the column of a field must hold, in the words of `describeColumn`; null for an object, which has no column. */
function describeHeld(shape: Shape): string | null {
  switch (shape.form) {
    case 'text':
    case 'word':
    case 'json':
      return 'text';
    case 'flag':
    case 'integer':
    case 'real':
      return 'numbers';
    case 'list': {
      const { shape: of, isNullable } = shape.element;
      return (of.form === 'text' || of.form === 'word') && !isNullable ? 'lists of text' : 'lists of others';
    }
    case 'array':
      return shape.type;
    case 'object':
      return null;
  }
}

/** Describes what a column without null would lose of a nullable field; null for nothing, as another value stands for null. */
function describeLost(shape: Shape, column: string): string | null {
  switch (shape.form) {
    case 'text':
      return shape.of === 'any' ? 'the empty text, which stands for null' : null;
    case 'flag':
      return Object.hasOwn(MADE, `${column}_unknown`) ? null : `there is no column ${column}_unknown`;
    case 'integer':
      return shape.min < 0 ? `${UNKNOWN.integer}, which stands for null` : null;
    case 'list':
    case 'array':
      return 'the empty list, which stands for null';
    default:
      return null;
  }
}
