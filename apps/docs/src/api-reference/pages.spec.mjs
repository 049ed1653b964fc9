import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { OPENAPI } from '../places.mjs';
import { renderCurl } from './operation.mjs';
import { renderReference } from './pages.mjs';
import { cell, listFields, renderType } from './schemas.mjs';

const document = JSON.parse(readFileSync(OPENAPI, 'utf8'));
const addressOf = (/** @type {string} */ name) => `#${name}`;

describe('a type', () => {
  it.each([
    [{ type: 'integer', minimum: 1, maximum: 500 }, 'integer from 1 to 500'],
    [{ type: ['string', 'null'], maxLength: 9 }, 'string of at most 9 characters or `null`'],
    [{ type: 'array', items: { $ref: '#/components/schemas/Update' } }, 'list of [Update](#Update)'],
    [{ type: 'string', enum: ['a', 'b'] }, '`a` or `b`'],
    [{ type: 'object', additionalProperties: { type: 'number' } }, 'object of number'],
    [
      { type: 'object', additionalProperties: { $ref: '#/components/schemas/Update' } },
      'object of [Update](#Update)',
    ],
    [{ type: 'object', additionalProperties: true }, 'object'],
    [{ type: 'string', format: 'uuid' }, 'string (uuid)'],
    [{}, 'any JSON'],
  ])('%j reads %s', (schema, text) => {
    expect(renderType(schema, addressOf)).toBe(text);
  });
});

it('fields within objects and lists have their path as name', () => {
  const schema = {
    required: ['steps'],
    properties: {
      steps: { type: 'array', items: { properties: { id: {} } } },
      usage: { properties: { tokens: {} } },
    },
  };
  expect(listFields(schema).map(({ name, isRequired }) => [name, isRequired])).toEqual([
    ['steps', true],
    ['steps[].id', false],
    ['usage', false],
    ['usage.tokens', false],
  ]);
});

it('a cell keeps bars and angle brackets from ending it, and code as it is', () => {
  expect(cell('a <run> | `b <c>`\nd')).toBe('a &lt;run> \\| `b <c>` d');
});

it('texts of an operation and of the document are no elements and no expressions of Vue', () => {
  const text = 'Gives <run> {{ x }}, `<y>`';
  const operation = { tags: ['runs'], summary: text, description: text, responses: {} };
  const paths = { '/api/runs': { get: operation } };
  const pages = renderReference({ info: { description: text }, paths, components: { schemas: {} } });
  for (const page of ['index', 'runs']) {
    expect(pages.get(page)).toContain('Gives &lt;run> { { x }}, `<y>`');
    expect(pages.get(page)).not.toMatch(/<run>|\{\{/);
  }
});

it('a command fills in parameters that are required, and quotes what the shell would read', () => {
  const operation = {
    parameters: [
      { name: 'runId', in: 'path', required: true, schema: { examples: ['latest'] } },
      { name: 'episodeId', in: 'path', required: true, schema: { type: 'string' } },
      { name: 'tag', in: 'query', required: true, schema: { enum: ['a b'] } },
      { name: 'limit', in: 'query', schema: { minimum: 1 } },
    ],
    requestBody: { content: { 'application/json': { example: { say: "it's" } } } },
  };
  expect(renderCurl('patch', '/api/runs/{runId}/{episodeId}', operation)).toBe(
    `curl -s -X PATCH 'http://127.0.0.1:8787/api/runs/latest/<episodeId>?tag=a%20b' \\
  -H 'content-type: application/json' \\
  -d '{
  "say": "it'\\''s"
}'`,
  );
});

describe('the reference', () => {
  const pages = renderReference(document);
  const all = [...pages.values()].join('\n');

  it('has each operation once, and a line for it in the list', () => {
    const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
    );
    const headings = [...all.matchAll(/^## `(.+)`$/gm)].map(([, heading]) => heading);
    expect(headings.toSorted()).toEqual(operations.toSorted());
    const listed = [...(pages.get('index') ?? '').matchAll(/^- \[`([^`]+)`\]/gm)].map(([, route]) => route);
    expect(listed.toSorted()).toEqual(operations.toSorted());
  });

  it('leads from a type to its schema', () => {
    const links = [...all.matchAll(/\]\(\.\/(\w+)\.md#([\w-]+)\)/g)];
    const anchors = new Set(
      [...pages].flatMap(([page, text]) =>
        [...text.matchAll(/^## (\w+)$/gm)].map(([, name]) => `${page}#${name.toLowerCase()}`),
      ),
    );
    const schemas = links.filter(([, , anchor]) => !/^(get|post|put|patch|delete)-/.test(anchor));
    expect(schemas.length).toBeGreaterThan(100);
    expect(schemas.filter(([, page, anchor]) => !anchors.has(`${page}#${anchor}`))).toEqual([]);
  });
});
