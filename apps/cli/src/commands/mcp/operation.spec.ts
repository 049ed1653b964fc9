import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { readOperation, type ApiDocument } from './operation.js';
import { offeredTools, TOOLS } from './tools.js';

const document = JSON.parse(
  readFileSync(new URL('../../../../api/openapi.json', import.meta.url), 'utf8'),
) as ApiDocument;

describe('the tools of `retrace mcp`', () => {
  it('are operations that the API has, each with words of its own and a schema of an object', () => {
    const described = TOOLS.map(({ operation }) => readOperation(document, operation));
    for (const { description, inputSchema } of described) {
      expect(description).toMatch(/^[A-Z].{15}/);
      expect(inputSchema).toMatchObject({ type: 'object', additionalProperties: false });
      expect(JSON.stringify(inputSchema)).not.toContain('$ref');
    }
    expect(new Set(TOOLS.map(({ name }) => name)).size).toBe(TOOLS.length);
  });

  it('only read, unless they are offered for control', () => {
    const reading = TOOLS.filter(({ isControl }) => isControl === undefined).map(
      ({ operation }) => operation,
    );
    const asking = /^POST .*\/(sql|replays|what-ifs)$/;
    expect(reading.filter((operation) => !operation.startsWith('GET ') && !asking.test(operation))).toEqual(
      [],
    );
  });

  it('take path, query and body as one list of arguments, under the rules of the API', () => {
    const { inputSchema, requestOf } = readOperation(
      document,
      'GET /api/runs/{runId}/updates/{updateNumber}/inputs',
    );
    expect(inputSchema.required).toEqual(['runId', 'updateNumber']);
    expect(inputSchema.properties).toMatchObject({
      updateNumber: { type: ['string', 'integer'], pattern: expect.any(String) as string },
      sort: { enum: expect.arrayContaining(['share']) as string[] },
      limit: { type: 'integer', maximum: 500 },
    });
    expect(requestOf({ runId: 'latest', updateNumber: 4, sort: 'share', success: false })).toEqual({
      method: 'GET',
      path: '/api/runs/latest/updates/4/inputs?sort=share&success=false',
    });
    const asking = readOperation(document, 'POST /api/runs/{runId}/what-ifs');
    expect(asking.inputSchema.required).toEqual(['runId', 'updateNumber']);
    expect(asking.requestOf({ runId: 'a/b', updateNumber: 2, set: ['loss.clipHigh=0.1'] })).toEqual({
      method: 'POST',
      path: '/api/runs/a%2Fb/what-ifs',
      body: { updateNumber: 2, set: ['loss.clipHigh=0.1'] },
    });
  });

  it('are those that the key allows, and control nothing unless that is allowed', () => {
    const namesOf = (...[scopes, allowControl]: Parameters<typeof offeredTools>) =>
      offeredTools(scopes, allowControl).map(({ name }) => name);
    expect(namesOf(['read'], true)).toContain('get_update');
    expect(namesOf(['read'], true)).not.toContain('run_sql');
    expect(namesOf(['read', 'sql'], true)).not.toContain('start_run');
    expect(namesOf(['admin'], false)).toEqual(namesOf(null, false));
    expect(namesOf(null, false)).not.toContain('start_run');
    expect(namesOf(null, true)).toEqual(TOOLS.map(({ name }) => name));
  });

  it('name the version of a server that lacks one', () => {
    const old = { ...document, paths: {}, info: { version: '0.0.1' } };
    expect(() => readOperation(old, 'GET /api/runs')).toThrow(
      /server of version 0.0.1 has no GET \/api\/runs/,
    );
  });
});
