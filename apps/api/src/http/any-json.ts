import { ApiProperty } from '@nestjs/swagger';

/** The schema of any JSON value; a recursive one would give generators of TypeScript a type that refers to itself. */
const ANY_JSON = {};

/** Documents a property that holds any JSON value. */
export function ApiJson(description: string): PropertyDecorator {
  return ApiProperty({ oneOf: [ANY_JSON], description });
}

/** Documents a property that holds rows of any JSON values. */
export function ApiJsonRows(description: string): PropertyDecorator {
  return ApiProperty({ type: 'array', items: { type: 'array', items: ANY_JSON }, description });
}
