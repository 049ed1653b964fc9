import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import {
  type Attributes,
  type Context,
  ROOT_CONTEXT,
  SpanStatusCode,
  trace,
  type Tracer,
} from '@opentelemetry/api';
import { OTLPTraceExporter as JsonExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { OTLPTraceExporter as ProtobufExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { BatchSpanProcessor, type SpanExporter, TracerProvider } from '@opentelemetry/sdk-trace';
import { newRunId } from '@retrace/trajectory';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readApiConfig } from '../config/api-config.js';
import { startApiServer } from '../server.js';
import { ApiFixture } from '../testing/api-fixture.js';

let fixture: ApiFixture;

/** Much longer than the parts of a trace are apart here, also on a busy machine: what comes later is another episode. */
const IDLE_SECONDS = 10;
const GIVE_UP_MS = 250_000;

beforeAll(async () => {
  fixture = await ApiFixture.start({ RETRACE_TRACE_IDLE_SECONDS: `${IDLE_SECONDS}` });
});

afterAll(() => fixture?.close());

const message = (role: string, content: string) =>
  JSON.stringify([{ role, parts: [{ type: 'text', content }] }]);

interface Service {
  readonly tracer: Tracer;
  /** Sends what has ended. */
  flush(): Promise<void>;
  close(): Promise<void>;
}

/** A program with OpenTelemetry's own SDK. */
function service(name: string, exporter: SpanExporter): Service {
  const provider = new TracerProvider({
    resource: resourceFromAttributes({ 'service.name': name }),
    spanProcessors: [new BatchSpanProcessor({ exporter, scheduledDelayMillis: 60_000 })],
  });
  return {
    tracer: provider.getTracer('test'),
    flush: () => provider.forceFlush(),
    close: () => provider.shutdown(),
  };
}

const exporters = {
  JSON: () => new JsonExporter({ url: `${fixture.api.url}/v1/traces` }),
  protobuf: () => new ProtobufExporter({ url: `${fixture.api.url}/v1/traces` }),
};

/** A span within another, which ends after it. */
class Caller {
  constructor(
    private readonly tracer: Tracer,
    private readonly context: Context = ROOT_CONTEXT,
  ) {}

  /** Records a call of a model as the conventions say. */
  chat(asked: string, answered: string): void {
    const attributes = {
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': 'openai',
      'gen_ai.request.model': 'gpt-4o',
      'gen_ai.usage.input_tokens': 12,
      'gen_ai.input.messages': message('user', asked),
      'gen_ai.output.messages': message('assistant', answered),
    };
    this.tracer.startSpan('chat gpt-4o', { attributes }, this.context).end();
  }

  fail(attributes: Attributes, reason: string): void {
    const span = this.tracer.startSpan('failing', { attributes }, this.context);
    span.setStatus({ code: SpanStatusCode.ERROR, message: reason }).end();
  }

  /** Calls an agent; returns the trace's id. */
  async invoke(agent: string, work: (caller: Caller) => unknown): Promise<string> {
    const attributes = { 'gen_ai.operation.name': 'invoke_agent', 'gen_ai.agent.name': agent };
    const span = this.tracer.startSpan(`invoke_agent ${agent}`, { attributes }, this.context);
    await work(new Caller(this.tracer, trace.setSpan(this.context, span)));
    span.end();
    return span.spanContext().traceId;
  }
}

interface StoredStep {
  readonly run: string;
  readonly episode: string;
  readonly parent: string;
  readonly step: number;
  readonly action: string;
  readonly end: string;
}

/** Waits until so many steps of a trace are stored, and returns them in order. */
async function storedSteps(traceId: string, numSteps: number): Promise<StoredStep[]> {
  const query = `SELECT r.name AS run, e.external_id AS episode, p.external_id AS parent, s.step AS step, s.action AS action, e.end_reason AS end
    FROM steps AS s JOIN episodes AS e USING (run_id, episode_id) JOIN runs AS r ON r.run_id = e.run_id
    LEFT JOIN episodes AS p ON p.run_id = e.run_id AND p.episode_id = e.parent_episode_id
    WHERE startsWith(e.external_id, '${traceId}') ORDER BY episode, step`;
  let rows: StoredStep[] = [];
  const deadline = Date.now() + GIVE_UP_MS;
  while (rows.length < numSteps && Date.now() < deadline) {
    await new Promise((resolve) => setTimeout(resolve, 200));
    const answer = (await (await fixture.post('/api/sql', { query })).json()) as {
      columns: { name: keyof StoredStep }[];
      rows: unknown[][];
    };
    rows = answer.rows.map(
      (row) =>
        Object.fromEntries(answer.columns.map(({ name }, i) => [name, row[i]])) as unknown as StoredStep,
    );
  }
  return rows;
}

function send(body: string | Uint8Array<ArrayBuffer>, headers: Record<string, string> = {}) {
  return fetch(`${fixture.api.url}/v1/traces`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body,
  });
}

const attribute = (key: string, stringValue: string) => ({ key, value: { stringValue } });

/** A request of OTLP's JSON with spans as [id, parent, answer]; without an answer it is no call of a model. */
function request(traceId: string, spans: readonly (readonly [number, number | null, string?])[]): string {
  const idOf = (n: number) => `${n}`.padStart(16, '0');
  return JSON.stringify({
    resourceSpans: [
      {
        resource: { attributes: [attribute('service.name', 'plain')] },
        scopeSpans: [
          {
            spans: spans.map(([id, parent, answer]) => ({
              traceId,
              spanId: idOf(id),
              ...(parent === null ? {} : { parentSpanId: idOf(parent) }),
              name: 'span',
              startTimeUnixNano: `${1_700_000_000_000_000_000n + BigInt(id)}000`.slice(0, 19),
              endTimeUnixNano: '1700000001000000000',
              attributes:
                answer === undefined
                  ? []
                  : [
                      attribute('gen_ai.operation.name', 'chat'),
                      attribute('gen_ai.output.messages', message('assistant', answer)),
                    ],
            })),
          },
        ],
      },
    ],
  });
}

const newTraceId = () => newRunId().replaceAll('-', '');

describe('POST /v1/traces', () => {
  it.concurrent.each(['JSON', 'protobuf'] as const)(
    'takes spans of OpenTelemetry’s SDK as %s, in several requests; a trace is an episode, a sub-agent another',
    async (format) => {
      const { tracer, flush, close } = service(`shop-${format}`, exporters[format]());
      const traceId = await new Caller(tracer).invoke('seller', async (seller) => {
        seller.chat('Shoes?', 'Size?');
        await flush();
        await seller.invoke('stock', (stock) => stock.chat('42?', 'In stock.'));
        seller.chat('42', 'Sold.');
      });
      await close();
      const steps = await storedSteps(traceId, 3);
      const run = `shop-${format}`;
      const seller = { run, episode: traceId, parent: '', end: 'terminated' };
      expect(steps).toMatchObject([
        { ...seller, step: 0, action: 'Size?' },
        { ...seller, step: 1, action: 'Sold.' },
        { run, parent: traceId, step: 0, action: 'In stock.' },
      ]);
    },
  );

  it.concurrent('puts traces into the run that x-retrace-run names, by id or by name', async () => {
    const started = await fixture.post('/api/runs', { name: 'mine' });
    const { runId } = (await started.json()) as { runId: string };
    const names = [runId, 'another name'];
    const traces = names.map(newTraceId);
    for (const [i, name] of names.entries()) {
      const answer = await send(
        request(traces[i], [
          [1, null],
          [2, 1, 'Hi.'],
        ]),
        { 'x-retrace-run': name },
      );
      expect([answer.status, await answer.json()]).toEqual([200, {}]);
    }
    expect(await storedSteps(traces[0], 1)).toMatchObject([{ run: 'mine', action: 'Hi.' }]);
    expect(await storedSteps(traces[1], 1)).toMatchObject([{ run: 'another name' }]);
    expect((await send(request(traces[0], [[1, null]]), { 'x-retrace-run': newRunId() })).status).toBe(404);
  });

  it.concurrent('records spans once that are sent again, and late ones as an episode whose parent is the trace’s', async () => {
    const traceId = newTraceId();
    const first = request(traceId, [
      [1, null],
      [2, 1, 'one'],
    ]);
    await send(first);
    await send(gzipSync(first), { 'content-encoding': 'gzip' });
    expect(await storedSteps(traceId, 1)).toMatchObject([{ action: 'one', end: 'terminated' }]);
    await send(first);
    await send(request(traceId, [[3, 1, 'late']]));
    expect(await storedSteps(traceId, 2)).toMatchObject([
      { episode: traceId, action: 'one' },
      { episode: `${traceId}/late-0000000000000003`, parent: traceId, action: 'late', end: 'truncated' },
    ]);
  });

  it.concurrent('tells how many spans it did not take, and why, in the form of the request', async () => {
    const bad = request(newTraceId(), [
      [1, null],
      [2, 1, 'x'],
    ]).replaceAll('0000000000000002', 'zz');
    expect(await (await send(bad)).json()).toEqual({
      partialSuccess: {
        rejectedSpans: '2',
        errorMessage:
          '1 spans have no valid traceId and spanId; 1 spans are of traces without a call of a model, which become no episode (calls are known by the conventions of GenAI, OpenLLMetry, the AI SDK, OpenInference and Langfuse)',
      },
    });
    const answers = await Promise.all([
      send('{'),
      send('[]'),
      send('{"resourceSpans": [1]}'),
      send(Buffer.from([255, 255]), { 'content-type': 'application/x-protobuf' }),
      send('x', { 'content-type': 'text/plain' }),
      send(' '.repeat(17 * 1024 * 1024)),
    ]);
    expect(answers.map(({ status }) => status)).toEqual([400, 400, 400, 400, 415, 413]);
    expect(answers[3].headers.get('content-type')).toBe('application/x-protobuf');
    // google.rpc.Status: code 3, INVALID_ARGUMENT, then the message.
    const failure = Buffer.from(await answers[3].arrayBuffer());
    expect([...failure.subarray(0, 3)]).toEqual([0x08, 3, 0x12]);
    expect(failure.toString()).toContain('The body is no ExportTraceServiceRequest');
  });

  it.concurrent('records a failed call as no step', async () => {
    const { tracer, close } = service('failing', exporters.JSON());
    const traceId = await new Caller(tracer).invoke('failing', (agent) => {
      agent.chat('a', 'b');
      agent.fail({ 'gen_ai.operation.name': 'chat' }, 'quota');
    });
    await close();
    expect(await storedSteps(traceId, 1)).toMatchObject([{ step: 0, action: 'b', end: 'terminated' }]);
  });
});

describe('traces that are open when the API stops', () => {
  it.concurrent('are completed by the next one, and by no other process meanwhile', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'retrace-traces-'));
    const config = (idleSeconds: string) =>
      readApiConfig({
        ...fixture.environment,
        RETRACE_TRACE_DIRECTORY: directory,
        RETRACE_TRACE_IDLE_SECONDS: idleSeconds,
      });
    const traceId = newTraceId();
    const post = (url: string, body: string) =>
      fetch(`${url}/v1/traces`, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
    const first = await startApiServer(config('1000'));
    expect((await post(first.url, request(traceId, [[2, 1, 'before']]))).status).toBe(200);
    const second = await startApiServer(config('1'));
    try {
      const refused = await post(second.url, request(traceId, [[3, 1, 'x']]));
      expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '2']);
      expect(await refused.json()).toMatchObject({ code: 'TRACES_UNAVAILABLE' });
      await first.close();
      expect((await post(second.url, request(traceId, [[3, 1, 'after']]))).status).toBe(200);
      expect(await storedSteps(traceId, 2)).toMatchObject([{ action: 'before' }, { action: 'after' }]);
      expect(await readdir(directory)).not.toContain('refused');
    } finally {
      await second.close();
      await rm(directory, { recursive: true });
    }
  });
});
