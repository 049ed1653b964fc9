import { applyDecorators } from '@nestjs/common';
import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsInt, Max, Min } from '@retrace/validation';
import { IfGiven } from '../http/if-given.js';

const MAX_UPDATE = 10_000_000;
const RULE = { message: `$property must be an integer from 1 to ${MAX_UPDATE}, got $value` };
const SCHEMA = { type: 'integer', minimum: 1, maximum: MAX_UPDATE } as const;

/**
 * A number of an update in the body of a request.
 *
 * @param options.optional whether it may be left out
 */
export function BodyUpdateNumber({
  optional = false,
  description,
}: { readonly optional?: boolean; readonly description?: string } = {}): PropertyDecorator {
  const schema = { ...SCHEMA, ...(description !== undefined && { description }) };
  return applyDecorators(
    ...(optional ? [ApiPropertyOptional(schema), IfGiven()] : [ApiProperty(schema)]),
    ...[IsInt(RULE), Min(1, RULE), Max(MAX_UPDATE, RULE)],
  );
}
