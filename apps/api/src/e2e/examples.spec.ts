import { RewardScorer, scoreRun } from '@retrace/rewards/scoring';
import { Ajv2020, type AnySchema, type ValidateFunction } from 'ajv/dist/2020.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createOpenApiDocument } from '../openapi/openapi-document.js';
import { EXAMPLES } from '../openapi/examples/examples.js';
import { ApiFixture } from '../testing/api-fixture.js';
import type { RecordedEpisode } from '../testing/played-episode.js';
import { RunRecorder } from '../testing/run-recorder.js';

type Node = Readonly<Record<string, unknown>>;

interface Body {
  readonly required?: boolean;
  readonly content?: Readonly<Record<string, { readonly schema: Node; readonly example?: unknown }>>;
}

interface Operation {
  readonly name: string;
  readonly requestBody?: Body;
  readonly responses: Readonly<Record<string, Body>>;
}

let operations: readonly Operation[];
let fixture: ApiFixture;
let run: RunRecorder;
let recordedRunId: string;
let round: readonly RecordedEpisode[];
let compile: (schema: Node) => ValidateFunction;

beforeAll(async () => {
  const { paths, components } = await createOpenApiDocument();
  operations = Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item as Readonly<Record<string, Omit<Operation, 'name'>>>).map(([method, operation]) => ({
      ...operation,
      name: `${method.toUpperCase()} ${path}`,
    })),
  );
  // A format such as `uuid` is not checked here, but that of `integer` is a type.
  const ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: true });
  ajv.addSchema({ $id: 'document', components: closed(components) } as AnySchema);
  compile = (schema) => ajv.compile(pointingTo(closed(schema)) as AnySchema);

  fixture = await ApiFixture.start();
  run = new RunRecorder(fixture.log);
  await run.start();
  round = await run.round();
  recordedRunId = (
    (await (await fixture.post('/api/runs', EXAMPLES['POST /api/runs'].request)).json()) as { runId: string }
  ).runId;
  await fixture.storeHasCaughtUp();
  for (const reward of ['goal', 'environment'])
    await scoreRun({
      ...{ client: fixture.client, runId: run.runId, name: reward },
      scorer: new RewardScorer({ components: [{ reward }], allocation: 'perStep', allocationGamma: 1 }),
    });
});

afterAll(async () => {
  await fixture?.close();
});

/** The same schemas, which refuse fields that they don't name: an example must not keep one that is gone. */
function closed(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(closed);
  if (typeof node !== 'object' || node === null) return node;
  const entries = Object.entries(node).map(([name, value]) => [name, closed(value)] as const);
  const schema = Object.fromEntries(entries);
  const isOpen = 'properties' in schema && schema.type === 'object' && !('additionalProperties' in schema);
  return isOpen ? { ...schema, additionalProperties: false } : schema;
}

/** The same schemas, whose references lead into the document. */
function pointingTo(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(pointingTo);
  if (typeof node !== 'object' || node === null) return node;
  return Object.fromEntries(
    Object.entries(node).map(([name, value]) => [
      name,
      name === '$ref' && typeof value === 'string' ? `document${value}` : pointingTo(value),
    ]),
  );
}

/** Lists the rules of its schema that a value breaks. */
function faultsOf(schema: Node, value: unknown): readonly string[] {
  const validate = compile(schema);
  return validate(value)
    ? []
    : (validate.errors ?? []).map(({ instancePath, message, params }) =>
        [instancePath, message, JSON.stringify(params)].join(' '),
      );
}

/** The data of a message of a stream; what else it is, as it is. */
function dataOf(example: unknown): unknown {
  const data = typeof example === 'string' ? /^data: (.*)$/m.exec(example)?.[1] : undefined;
  return data === undefined ? example : JSON.parse(data);
}

describe('the examples of the OpenAPI document', () => {
  it('are there for each request and each answer in JSON, and fit their schemas without a field that the schema does not name', () => {
    for (const { name, requestBody, responses } of operations) {
      const bodies = [...(requestBody === undefined ? [] : [requestBody]), ...Object.values(responses)];
      const contents = bodies.flatMap(({ content = {} }) => Object.entries(content));
      for (const [type, { schema, example }] of contents) {
        if (!/json$|event-stream$/.test(type)) continue;
        expect(example, `${name} has an example of ${type}`).toBeDefined();
        expect(faultsOf(schema, dataOf(example)), `${name} ${JSON.stringify(example)}`).toEqual([]);
      }
    }
    expect(Object.keys(EXAMPLES).sort()).toEqual(operations.map(({ name }) => name).sort());
  });

  it('have the fields that this server answers', async () => {
    const reads = operations.filter(({ name }) => name.startsWith('GET ') && !name.endsWith('/live'));
    for (const { name, responses } of reads) {
      const response = await fixture.get(addressOf(name));
      // Of plays, data sets, notebooks, replays and what-ifs this server has none.
      if (response.status === 404 || response.status === 501) continue;
      expect(response.status, name).toBe(200);
      const { schema } = Object.values(responses['200'].content ?? {})[0];
      expect(faultsOf(schema, await response.json()), name).toEqual([]);
    }
  });

  it('are requests that the server takes', async () => {
    const sent = Object.entries(EXAMPLES).filter(([, { request }]) => request !== undefined);
    const statuses = await Promise.all(
      sent
        // There are no keys here, batches, replays and what-ifs need a process of the trainer, the queue and questions to a policy a supervisor, updates episodes that have ended, a save a notebook, and an acknowledgement an alarm.
        .filter(
          ([name]) =>
            !/\/(session|batches|replays|what-ifs|queue|answers|training|updates|acknowledgements)|^PUT/.test(
              name,
            ),
        )
        .map(async ([name, { request }]) => {
          const send = name.startsWith('PATCH ') ? 'patch' : 'post';
          const { status } = await fixture[send](addressOf(name, recordedRunId), request);
          return [name, status];
        }),
    );
    for (const [name, status] of statuses) expect([200, 201], String(name)).toContain(status);
    expect(statuses.length).toBeGreaterThan(5);
  });
});

/** An address of a route in this server. */
function addressOf(name: string, runId = run.runId): string {
  return name
    .slice(name.indexOf(' ') + 1)
    .replace('{runId}', runId)
    .replace('{otherRunId}', run.runId)
    .replace('{version}', 'goal')
    .replace('{otherVersion}', 'environment')
    .replace('{episodeId}', round[0].episodeId)
    .replace('{updateNumber}', '1')
    .replace(/\{(playId|replayId|whatIfId|queueId|notebookId)\}/, '01a21e03-6c77-75aa-8dfa-39a0fc28f322')
    .replace('{name}', 'solved');
}
