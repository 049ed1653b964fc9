import { applyDecorators } from '@nestjs/common';
import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import {
  IsBoolean,
  IsIn,
  IsInt,
  IsISO8601,
  IsNumber,
  IsOptional,
  IsString,
  Length,
  Matches,
  Max,
  Min,
  Transform,
  type TransformFnParams,
  type ValidationArguments,
  type ValidationOptions,
} from '@retrace/validation';
import { ID_OR_PART } from './short-ids.js';
import { shown } from '../problems/violations.js';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

const TIME =
  /^\d{4}-\d{2}-\d{2}T([01]\d|2[0-3]):[0-5]\d(:[0-5]\d(\.\d{1,6})?)?(Z|[+-]([01]\d|2[0-3]):[0-5]\d)$/;

const A_TIME = 'a time in ISO 8601 with a zone, such as 2026-11-23T09:00:00Z';

interface IntegerRule {
  readonly min: number;
  readonly max: number;
  readonly default?: number;
  readonly description?: string;
}

/** An integer of a query or path, where every value is text. Other text is kept, so that the error can show it. */
export function QueryInteger({ min, max, ...documentation }: IntegerRule): PropertyDecorator {
  const rule = mustBe(`an integer from ${min} to ${max}`);
  return applyDecorators(
    ApiPropertyOptional({ type: 'integer', minimum: min, maximum: max, ...documentation }),
    IsOptional(),
    Transform(({ value }: TransformFnParams) =>
      typeof value === 'string' && /^-?\d+$/.test(value) ? Number(value) : (value as unknown),
    ),
    IsInt(rule),
    Min(min, rule),
    Max(max, rule),
  );
}

/** A number of a query. */
export function QueryNumber(description: string): PropertyDecorator {
  return applyDecorators(
    ApiPropertyOptional({ type: Number, description }),
    IsOptional(),
    Transform(({ value }: TransformFnParams) =>
      typeof value === 'string' && value.trim() !== '' ? Number(value) : (value as unknown),
    ),
    IsNumber({ allowNaN: false, allowInfinity: false }, mustBe('a finite number')),
  );
}

/** A point in time of a query. */
export function QueryTime(description: string): PropertyDecorator {
  return applyDecorators(
    ApiPropertyOptional({ type: String, format: 'date-time', description }),
    IsOptional(),
    Matches(TIME, mustBe(A_TIME)),
    // The pattern takes the 30th of February.
    IsISO8601({ strict: true }, mustBe(A_TIME)),
  );
}

/** Text of a query. */
export function QueryText(maxLength: number, description: string): PropertyDecorator {
  return applyDecorators(
    ApiPropertyOptional({ type: String, minLength: 1, maxLength, description }),
    IsOptional(),
    IsString(),
    Length(1, maxLength),
  );
}

/** A required text of a path. */
export function PathText(
  pattern: RegExp,
  { rule, description }: { readonly rule: string; readonly description: string },
): PropertyDecorator {
  return applyDecorators(
    ApiProperty({ type: 'string', pattern: pattern.source, description }),
    Matches(pattern, mustBe(rule)),
  );
}

/** `true` or `false`. */
export function QueryBoolean(description: string): PropertyDecorator {
  return applyDecorators(
    ApiPropertyOptional({ type: 'boolean', description }),
    IsOptional(),
    Transform(({ value }: TransformFnParams) =>
      value === 'true' ? true : value === 'false' ? false : (value as unknown),
    ),
    IsBoolean(mustBe('true or false')),
  );
}

/** One of the given words. */
export function QueryWord(
  words: readonly string[],
  description: string,
  defaultWord?: string,
): PropertyDecorator {
  return applyDecorators(
    ApiPropertyOptional({ type: String, enum: words, description, default: defaultWord }),
    IsOptional(),
    IsIn(words, mustBe(`one of ${words.join(', ')}`)),
  );
}

/** A required UUID in the form that events carry: 36 characters, lower case. */
export function Uuid(description: string): PropertyDecorator {
  return applyDecorators(ApiProperty({ type: 'string', format: 'uuid', description }), IsLowercaseUuid());
}

/** An id of a path, of which an address may have a part: `ShortIds` completes those of runs, episodes and plays before they are validated. */
export function PathId(description: string, example?: string): PropertyDecorator {
  return applyDecorators(
    ApiProperty({
      type: 'string',
      pattern: ID_OR_PART.source,
      description: `${description}, or 4 or more characters of its beginning or end`,
      ...(example !== undefined && { example }),
    }),
    Matches(ID_OR_PART, mustBe('an id, or 4 or more characters of its beginning or end')),
  );
}

export function OptionalUuid(description: string): PropertyDecorator {
  return applyDecorators(
    ApiPropertyOptional({ type: 'string', format: 'uuid', description }),
    IsOptional(),
    IsLowercaseUuid(),
  );
}

function IsLowercaseUuid(): PropertyDecorator {
  return Matches(UUID, mustBe('a lower-case UUID'));
}

/** The message "limit must be an integer from 1 to 500, got 0". */
function mustBe(rule: string): ValidationOptions {
  return {
    message: ({ property, value }: ValidationArguments) => `${property} must be ${rule}, got ${shown(value)}`,
  };
}
