import {
  Allow,
  ArrayMaxSize,
  ArrayMinSize,
  IsArray,
  IsDefined,
  IsInt,
  IsNumber,
  IsOptional,
  IsString,
  Length,
  Matches,
  Max,
  Min,
  Type,
  ValidateBy,
  ValidateIf,
  ValidateNested,
} from '@retrace/validation';
import { optionsFault } from './options-fault.js';

interface Bounds {
  /** Name of the unit in the plural; none for a number without one. */
  readonly unit?: string;
  /** Why values outside the bounds are refused. */
  readonly why: string;
  /** Whether the rule is for each entry of a list. */
  readonly each?: boolean;
}

/**
 * Marks a field for experts: limits, timeouts, sizes of buffers, numerical guards, and what is filled in when a run begins. Such a field is read as any other; the
 * reference lists it after the others, and `retrace recipes X` leaves it out while it has its default.
 */
export function Advanced(): PropertyDecorator {
  return Allow({ context: { isAdvanced: true } });
}

/** A field that may be absent, which is its default, or null, which its docstring gives a meaning. With `IsOptional` alone, null is read as absent. */
export function IsNullable(): PropertyDecorator {
  return IsOptional({ context: { isNullable: true } });
}

/** A whole number from `min` to `max`. */
export function IsWholeNumberFrom(min: number, max: number, bounds: Bounds): PropertyDecorator {
  const rule = numberRule('a whole number', min, max, bounds);
  return all(IsInt(rule), Min(min, rule), Max(max, rule));
}

/** A finite number from `min` to `max`. */
export function IsNumberFrom(min: number, max: number, bounds: Bounds): PropertyDecorator {
  const rule = numberRule('a number', min, max, bounds);
  return all(IsNumber({}, rule), Min(min, rule), Max(max, rule));
}

const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]*$/;
const MAX_NAME_LENGTH = 100;

/** A name, which is shown with runs and can be part of a path. */
export function IsName(): PropertyDecorator {
  const rule = {
    message: `must have 1 to ${MAX_NAME_LENGTH} of the characters a-z, A-Z, 0-9, ".", "_" and "-", the first a letter or digit`,
  };
  return all(IsString(rule), Length(1, MAX_NAME_LENGTH, rule), Matches(NAME, rule));
}

/** A name as `IsName` has it, or an object of a class. */
export function IsNameOr(classOf: () => new () => object): PropertyDecorator {
  const message = `must have 1 to ${MAX_NAME_LENGTH} of the characters a-z, A-Z, 0-9, ".", "_" and "-", the first a letter or digit, or be an object`;
  const isName = (value: unknown) =>
    typeof value === 'string' && value.length <= MAX_NAME_LENGTH && NAME.test(value);
  return all(
    ValidateIf((_, value) => !isName(value)),
    IsDefined({ message }),
    ValidateNested({ message, context: { maxLength: MAX_NAME_LENGTH, pattern: NAME } }),
    Type(classOf),
  );
}

/** No control characters, marks of direction or other invisible characters, lone surrogates, or ends of lines. */
const VISIBLE = /^[^\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]*$/u;

interface TextOptions {
  /** Default 1. */
  readonly minLength?: number;
  readonly maxLength: number;
  /** Whether the rule is for each entry of a list. */
  readonly each?: boolean;
}

/** A text in one line that a terminal shows as it is. */
export function IsLine({ minLength = 1, maxLength, each = false }: TextOptions): PropertyDecorator {
  const rule = {
    each,
    message: `must have ${minLength} to ${maxLength} characters, none of them a control character or invisible`,
  };
  return all(IsString(rule), Length(minLength, maxLength, rule), Matches(VISIBLE, rule));
}

/** A text of any characters. */
export function IsText({ minLength = 1, maxLength, each = false }: TextOptions): PropertyDecorator {
  const rule = { each, message: `must have ${minLength} to ${maxLength} characters` };
  return all(IsString(rule), Length(minLength, maxLength, rule));
}

/** A list with `min` to `max` entries, whose own rules are separate decorators. */
export function IsList(min: number, max: number): PropertyDecorator {
  const rule = { message: `must be a list of ${min} to ${max} entries` };
  return all(IsArray(rule), ArrayMinSize(min, rule), ArrayMaxSize(max, rule));
}

/** Options of an estimator, a loss or a reward, which checks their names and values itself. */
export function IsOptions(): PropertyDecorator {
  return ValidateBy({
    name: 'isOptions',
    validator: {
      validate: (value) => optionsFault(value) === null,
      defaultMessage: (violation) => optionsFault(violation?.value) ?? '',
    },
  });
}

function numberRule(kind: string, min: number, max: number, { unit = '', why, each = false }: Bounds) {
  const range = `${format(min)} to ${format(max)}${unit === '' ? '' : ` ${unit}`}`;
  return { each, message: `must be ${kind} from ${range}: ${why}`, context: { unit, why } };
}

function format(value: number): string {
  return Math.abs(value) >= 1000 ? value.toLocaleString('en') : `${value}`;
}

function all(...decorators: readonly PropertyDecorator[]): PropertyDecorator {
  return (target, name) => {
    for (const decorate of decorators) decorate(target, name);
  };
}
