import type { OpenAPIObject } from '@nestjs/swagger';

type Node = Record<string, unknown>;

/** Values of these fields are no schemas. */
const VALUES: ReadonlySet<string> = new Set(['example', 'examples', 'default', 'enum', 'const']);

/**
 * Turns a document of OpenAPI 3.0, which Nest makes, into one of 3.1, whose schemas are JSON Schema 2020-12: `nullable` becomes the type `null`, and the
 * `example` of a schema becomes its `examples`.
 */
export function toOpenApi31(document: OpenAPIObject): OpenAPIObject {
  return { ...(converted(document) as OpenAPIObject), openapi: '3.1.0' };
}

function converted(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(converted);
  if (typeof node !== 'object' || node === null) return node;
  const entries = Object.entries(node).map(([name, value]) => [
    name,
    VALUES.has(name) && !isSchema(value) ? value : converted(value),
  ]);
  return asJsonSchema(Object.fromEntries(entries) as Node);
}

/** A property may have the name of a field. */
function isSchema(value: unknown): boolean {
  return (
    typeof value === 'object' &&
    value !== null &&
    ['type', '$ref', 'oneOf', 'allOf'].some((key) => key in value)
  );
}

function asJsonSchema(node: Node): Node {
  const { nullable, example, ...schema } = node;
  if (nullable !== true)
    return 'example' in node && 'type' in node ? { ...schema, examples: [example] } : node;
  const { description, type, allOf, oneOf } = schema;
  const orNull = (of: readonly unknown[]) => ({
    ...(description !== undefined && { description }),
    oneOf: [...of, { type: 'null' }],
  });
  if (Array.isArray(allOf)) return orNull(allOf);
  if (Array.isArray(oneOf)) return orNull(oneOf);
  const values = Array.isArray(schema.enum)
    ? { enum: [...new Set([...(schema.enum as unknown[]), null])] }
    : {};
  return { ...schema, type: [type, 'null'], ...values };
}
