import { OpenTelemetry } from '@ai-sdk/otel';
import { createOpenAI } from '@ai-sdk/openai';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { BatchSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace';
import { startOpenAiServer, type OpenAiServer } from '@retrace/openai-server';
import { generateText, stepCountIs, tool } from 'ai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { ApiFixture } from '../../apps/api/src/testing/api-fixture.js';

/** Agents of the Vercel AI SDK that know nothing of Retrace: only OpenTelemetry's exporter is pointed at it, with a key. */
let model: OpenAiServer;
let api: ApiFixture;

beforeAll(async () => {
  model = await startOpenAiServer(({ toolResults, toolNames }) =>
    toolNames.includes('weather') && toolResults.length === 0
      ? { content: 'Looking.', toolCalls: [{ name: 'weather', arguments: { city: 'Oslo' } }] }
      : { content: `I know: ${toolResults.join(' and ')}.` },
  );
  api = await ApiFixture.start({ RETRACE_TRACE_IDLE_SECONDS: '1' });
});

afterAll(async () => {
  await api?.close();
  await model?.close();
});

interface StoredRow {
  readonly run: string;
  readonly agent: string;
  readonly step: number;
  readonly model: string;
  readonly action: string;
  readonly input_tokens: number;
  readonly messages: string;
}

async function storedRows(numRows: number): Promise<StoredRow[]> {
  const query = `SELECT r.name AS run, e.agent AS agent, s.step AS step, s.model AS model, s.action AS action, s.input_tokens AS input_tokens,
      s.messages AS messages
    FROM steps AS s JOIN episodes AS e USING (run_id, episode_id) JOIN runs AS r ON r.run_id = e.run_id ORDER BY step`;
  const deadline = Date.now() + 20_000;
  for (;;) {
    const answer = (await (await api.post('/api/sql', { query })).json()) as {
      columns: { name: string }[];
      rows: unknown[][];
    };
    if (answer.rows.length >= numRows || Date.now() > deadline) {
      return answer.rows.map(
        (row) =>
          Object.fromEntries(answer.columns.map(({ name }, i) => [name, row[i]])) as unknown as StoredRow,
      );
    }
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}

describe('an agent of the Vercel AI SDK that is traced by @ai-sdk/otel', () => {
  it('is an episode of the run of its service, with messages, tool calls, results and usage of each call', async () => {
    const exporter = new OTLPTraceExporter({ url: `${api.api.url}/v1/traces` });
    const provider = new TracerProvider({
      resource: resourceFromAttributes({ 'service.name': 'forecasts' }),
      spanProcessors: [new BatchSpanProcessor({ exporter })],
    });
    const telemetry = new OpenTelemetry({ tracer: provider.getTracer('ai') as never });
    const result = await generateText({
      model: createOpenAI({ baseURL: model.url, apiKey: 'none' }).chat('gpt-test'),
      instructions: 'Be brief.',
      prompt: 'Weather in Oslo?',
      tools: {
        weather: tool({
          description: 'The weather',
          inputSchema: z.object({ city: z.string() }),
          execute: ({ city }) => `7 degrees in ${city}`,
        }),
      },
      stopWhen: stepCountIs(5),
      telemetry: { integrations: [telemetry], functionId: 'forecaster' },
    });
    await provider.shutdown();
    const rows = await storedRows(2);
    expect(rows).toMatchObject(
      result.steps.map(({ usage }, step) => ({
        ...{ run: 'forecasts', step, model: 'gpt-test', input_tokens: usage.inputTokens },
      })),
    );
    const messages = rows.map((row) => JSON.parse(row.messages) as Record<string, unknown>);
    const [call] = result.steps[0].toolCalls;
    expect(messages[0]).toMatchObject({
      input: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'Weather in Oslo?' },
      ],
      output: {
        content: 'Looking.',
        tool_calls: [{ id: call.toolCallId, function: { name: 'weather', arguments: '{"city":"Oslo"}' } }],
      },
    });
    expect(messages[1]).toMatchObject({
      input: [{ role: 'tool', tool_call_id: call.toolCallId, content: '7 degrees in Oslo' }],
      output: { content: result.text },
    });
  });
});
