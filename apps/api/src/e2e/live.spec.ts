import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { ApiFixture } from '../testing/api-fixture.js';
import { RunRecorder } from '../testing/run-recorder.js';

interface Message {
  readonly id: number | null;
  readonly event: string;
  readonly data: Record<string, unknown>;
}

/** Reads a live stream as a browser's EventSource would. */
class Listener {
  readonly messages: Message[] = [];
  hasEnded = false;
  private readonly aborting = new AbortController();

  static async open(url: string, headers: Record<string, string> = {}): Promise<Listener> {
    const listener = new Listener();
    const response = await fetch(url, { headers, signal: listener.aborting.signal });
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toMatch(/^text\/event-stream/);
    void listener.read(response);
    return listener;
  }

  close(): void {
    this.aborting.abort();
  }

  async heard(event: string, where: (message: Message) => boolean = () => true): Promise<Message> {
    for (const deadline = Date.now() + 5_000; Date.now() < deadline; await sleep(10)) {
      const found = this.messages.find((message) => message.event === event && where(message));
      if (found) return found;
    }
    throw new Error(`no ${event} arrived; heard ${JSON.stringify(this.messages)}`);
  }

  private async read(response: Response): Promise<void> {
    let text = '';
    const decoder = new TextDecoder();
    try {
      for await (const chunk of response.body ?? []) {
        text += decoder.decode(chunk as Uint8Array, { stream: true });
        const blocks = text.split('\n\n');
        text = blocks.pop() ?? '';
        for (const block of blocks) this.take(block);
      }
    } catch {
      // Closed by the test.
    }
    this.hasEnded = true;
  }

  private take(block: string): void {
    const fields = new Map(block.split('\n').map((line) => line.split(/: (.*)/s, 2) as [string, string]));
    const event = fields.get('event');
    if (event === undefined) return;
    const id = fields.get('id');
    this.messages.push({
      id: id === undefined ? null : Number(id),
      event,
      data: JSON.parse(fields.get('data') ?? '{}') as Record<string, unknown>,
    });
  }
}

let fixture: ApiFixture;
let run: RunRecorder;
const listeners: Listener[] = [];

beforeAll(async () => {
  fixture = await ApiFixture.start();
  run = new RunRecorder(fixture.log);
  await run.start();
});

afterEach(() => {
  for (const listener of listeners.splice(0)) listener.close();
});

afterAll(async () => {
  await fixture?.close();
});

async function listen(runId = run.runId, headers: Record<string, string> = {}): Promise<Listener> {
  const listener = await Listener.open(`${fixture.api.url}/api/runs/${runId}/live`, headers);
  listeners.push(listener);
  return listener;
}

const logAt = (step: number): Promise<number> =>
  run.logMetrics({ source: 'system', step, names: ['a', 'b'], values: Float64Array.of(0.5, Number.NaN) });

describe('the live stream', () => {
  it('sends logged metrics to every client, with the offset in the log as id', async () => {
    const [one, other] = await Promise.all([listen(), listen()]);
    const offset = await logAt(1_001);
    for (const listener of [one, other]) {
      const message = await listener.heard('metrics', ({ data }) => data.step === 1_001);
      expect(message.id).toBe(offset);
      expect(message.data).toMatchObject({ source: 'system', names: ['a', 'b'], values: [0.5, null] });
    }
  });

  it('sends plans, updates and policies', async () => {
    const listener = await listen();
    await run.round();
    expect((await listener.heard('update', ({ data }) => data.state === 'planned')).data).toMatchObject({
      updateNumber: 0,
    });
    expect((await listener.heard('update', ({ data }) => data.state === 'applied')).data).toMatchObject({
      policyVersionOut: 1,
    });
    expect((await listener.heard('policy', ({ data }) => data.policyVersion === 1)).data).toMatchObject({
      updateNumber: 0,
    });
  });

  it('sends warnings', async () => {
    const listener = await listen();
    await run.warn({
      source: 'trainer',
      severity: 'alarm',
      step: 2,
      message: 'nothing was trained',
      numTimes: 1,
    });
    expect((await listener.heard('warning')).data).toMatchObject({
      ...{ source: 'trainer', severity: 'alarm', step: 2, message: 'nothing was trained', numTimes: 1 },
    });
  });

  it('sends that a run was annotated', async () => {
    const listener = await listen();
    await fixture.patch(`/api/runs/${run.runId}`, { notes: 'the best' });
    const { data } = await listener.heard('run', ({ data: { state } }) => state === 'annotated');
    expect(data).toEqual({ state: 'annotated', time: expect.any(Number) as number });
  });

  it('sends a client only the events of its run', async () => {
    const another = new RunRecorder(fixture.log);
    await another.start();
    const listener = await listen(another.runId);
    await logAt(1_002);
    const offset = await another.logMetrics({
      source: 'system',
      step: 1,
      names: ['a'],
      values: Float64Array.of(1),
    });
    expect((await listener.heard('metrics')).id).toBe(offset);
  });

  it('repeats the last messages to a new client, whose snapshot may be behind the log', async () => {
    const offset = await logAt(1_003);
    await (await listen()).heard('metrics', ({ id }) => id === offset);
    const late = await listen();
    expect((await late.heard('metrics', ({ id }) => id === offset)).data.step).toBe(1_003);
  });

  it('sends a client that reconnects exactly the messages it missed', async () => {
    const seen = await logAt(2_001);
    const missed = [await logAt(2_002), await logAt(2_003)];
    await (await listen()).heard('metrics', ({ id }) => id === missed[1]);
    const back = await listen(run.runId, { 'last-event-id': String(seen) });
    const next = await logAt(2_004);
    await back.heard('metrics', ({ id }) => id === next);
    expect(back.messages.map(({ id }) => id)).toEqual([...missed, next]);
  });

  it('tells a client from another log to read everything again', async () => {
    const listener = await listen(run.runId, { 'last-event-id': '999999' });
    await listener.heard('reset');
    const offset = await logAt(3_001);
    await listener.heard('metrics', ({ id }) => id === offset);
  });

  it('refuses a Last-Event-ID that is not a number, naming it', async () => {
    const response = await fixture.get(`/api/runs/${run.runId}/live`, { 'last-event-id': 'yesterday' });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ errors: [{ field: 'Last-Event-ID', value: 'yesterday' }] });
  });

  it('counts no connection of a client that has left', async () => {
    const gone = await listen();
    expect(await connections()).toBeGreaterThan(0);
    for (const listener of [gone, ...listeners]) listener.close();
    for (const deadline = Date.now() + 5_000; (await connections()) > 0 && Date.now() < deadline;)
      await sleep(20);
    expect(await connections()).toBe(0);
  });
});

async function connections(): Promise<number> {
  const text = await (await fixture.get('/metrics')).text();
  return Number(/^retrace_live_connections (\d+)$/m.exec(text)?.[1]);
}
