import { ApiProperty } from '@nestjs/swagger';

interface Schema {
  readonly type: StringConstructor | NumberConstructor | BooleanConstructor | 'integer';
  readonly format?: string;
}

/** Returns the decorators that document a property of this schema, one that always has a value and one that may be null. */
function documenting(schema: Schema) {
  const decorator = (more: object) => (description?: string) =>
    ApiProperty({ ...schema, ...more, ...(description !== undefined && { description }) });
  return [decorator({}), decorator({ nullable: true })] as const;
}

export const [ApiText, ApiNullableText] = documenting({ type: String });
export const [ApiNumber, ApiNullableNumber] = documenting({ type: Number });
export const [ApiInteger, ApiNullableInteger] = documenting({ type: 'integer' });
export const [ApiBoolean, ApiNullableBoolean] = documenting({ type: Boolean });
export const [ApiTime, ApiNullableTime] = documenting({ type: String, format: 'date-time' });

/** Documents a property that is one of these words. */
export function ApiWord(words: readonly string[], description?: string): PropertyDecorator {
  return ApiProperty({ type: String, enum: words, ...(description !== undefined && { description }) });
}
