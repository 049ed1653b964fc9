import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { createOpenApiDocument } from './openapi-document.js';

type Node = Readonly<Record<string, unknown>>;

/** Every schema inside a part of the document, with the path to it. */
function* schemasIn(
  node: unknown,
  path: string,
): Generator<{ readonly path: string; readonly schema: Node }> {
  if (typeof node !== 'object' || node === null) return;
  for (const [name, child] of Object.entries(node)) {
    if (name === 'schema' && typeof child === 'object')
      yield { path: `${path}/schema`, schema: child as Node };
    yield* schemasIn(child, `${path}/${name}`);
  }
}

describe('the OpenAPI document', () => {
  it('equals apps/api/openapi.json, which `npm run openapi -w @retrace/api` writes', async () => {
    const committed: unknown = JSON.parse(
      readFileSync(new URL('../../openapi.json', import.meta.url), 'utf8'),
    );
    expect(JSON.parse(JSON.stringify(await createOpenApiDocument()))).toEqual(committed);
  });

  it('gives every successful answer a schema, and every error the schema ProblemBody', async () => {
    const { paths } = await createOpenApiDocument();
    const operations = Object.entries(paths).flatMap(([path, item]) =>
      Object.entries(
        item as Readonly<Record<string, { readonly responses: Readonly<Record<string, Node>> }>>,
      ).map(([method, { responses }]) => ({ name: `${method} ${path}`, responses })),
    );
    expect(operations).toHaveLength(71);
    for (const { name, responses } of operations) {
      const isCreating = /^post \/api\/(notebooks|runs(\/\{runId\}\/(updates|policies))?)$/.test(name);
      const statuses = isCreating ? ['200', '201', 'default'] : ['200', 'default'];
      expect(Object.keys(responses), name).toEqual(statuses);
      const numSchemas = name === 'post /v1/traces' ? 2 : 1;
      expect([...schemasIn(responses['200'], '')], name).toHaveLength(numSchemas);
      expect(responses.default, name).toMatchObject({
        content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/ProblemBody' } } },
      });
    }
  });

  it('describes no object without its properties', async () => {
    const { components } = await createOpenApiDocument();
    for (const [name, schema] of Object.entries(components?.schemas ?? {})) {
      const { properties = {}, oneOf } = schema as {
        readonly properties?: Readonly<Record<string, Node>>;
        readonly oneOf?: readonly Node[];
      };
      expect(Object.keys(oneOf ?? properties), name).not.toHaveLength(0);
      for (const [property, { type, ...described }] of Object.entries(properties)) {
        const contents = described.properties ?? described.allOf ?? described.additionalProperties;
        if (type === 'object') expect(contents, `${name}.${property}`).toBeTypeOf('object');
      }
    }
  });
});
