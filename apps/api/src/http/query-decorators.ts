import { applyDecorators } from '@nestjs/common';
import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { Transform, type TransformFnParams } from 'class-transformer';
import { IsBoolean, IsIn, IsInt, IsOptional, Matches, Max, Min } from 'class-validator';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

export interface IntegerRule {
  readonly min: number;
  readonly max: number;
  readonly default?: number;
  readonly description?: string;
}

/** An integer of a query or path, where everything is text. Text that is no number is kept, so that the error can show it. */
export function QueryInteger({ min, max, ...documentation }: IntegerRule): PropertyDecorator {
  return applyDecorators(
    ApiPropertyOptional({ type: 'integer', minimum: min, maximum: max, ...documentation }),
    IsOptional(),
    Transform(({ value }: TransformFnParams) =>
      typeof value === 'string' && /^-?\d+$/.test(value) ? Number(value) : (value as unknown),
    ),
    IsInt(),
    Min(min),
    Max(max),
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
    IsBoolean({ message: '$property must be true or false' }),
  );
}

/** One of a few words. */
export function QueryWord(
  words: readonly string[],
  description: string,
  defaultWord?: string,
): PropertyDecorator {
  return applyDecorators(
    ApiPropertyOptional({ type: String, enum: words, description, default: defaultWord }),
    IsOptional(),
    IsIn(words),
  );
}

/** A required UUID in the form that events carry: 36 characters, lower case. */
export function Uuid(description: string): PropertyDecorator {
  return applyDecorators(ApiProperty({ type: 'string', format: 'uuid', description }), IsLowercaseUuid());
}

export function OptionalUuid(description: string): PropertyDecorator {
  return applyDecorators(
    ApiPropertyOptional({ type: 'string', format: 'uuid', description }),
    IsOptional(),
    IsLowercaseUuid(),
  );
}

function IsLowercaseUuid(): PropertyDecorator {
  return Matches(UUID, { message: '$property must be a lower-case UUID' });
}
