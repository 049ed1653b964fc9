import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { appendEvents } from '@retrace/log/testing';
import { newRunId, nowUs, type PayloadOf } from '@retrace/trajectory';
import { controlEvent } from '@retrace/trajectory/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Page } from '../paging/page.js';
import { ApiFixture } from '../testing/api-fixture.js';
import type { AlarmItem, AlarmSilenceItem } from '../warnings/alarms.dto.js';

const WEBHOOK_MS = 30_000;
const ALARM = { severity: 'alarm', source: 'trainer', numTimes: 1 } as const;

let fixture: ApiFixture;
let receiver: Server;
/** First lines of the messages that the webhook got. */
let messages: string[];
let isDown = false;
let numAsked = 0;

beforeAll(async () => {
  messages = [];
  receiver = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk: Buffer) => (body += chunk.toString()));
    request.on('end', () => {
      if (!isDown) messages.push((JSON.parse(body) as { text: string }).text.split('\n')[0]);
      response.writeHead(isDown ? 503 : 200).end();
      numAsked++;
    });
  }).listen(0, '127.0.0.1');
  await once(receiver, 'listening');
  const { port } = receiver.address() as AddressInfo;
  fixture = await ApiFixture.start({ RETRACE_ALARM_WEBHOOK: `http://127.0.0.1:${port}` });
});

afterAll(async () => {
  await fixture?.close();
  receiver?.close();
});

const idsOf = (runId: string) => ({ logId: fixture.log.logId, runId, occurredAtUs: nowUs() });

async function startRun(): Promise<string> {
  const runId = newRunId();
  await appendEvents(fixture.log, [controlEvent(idsOf(runId), 'RunStarted', { name: 'lake' })]);
  return runId;
}

function raise(runId: string, alarm: Partial<PayloadOf<'WarningRaised'>>): Promise<unknown> {
  return appendEvents(fixture.log, [controlEvent(idsOf(runId), 'WarningRaised', { ...ALARM, ...alarm })]);
}

/** Alarms are sent in order, so that the ones before this one were sent, or never will be. */
async function untilSent(): Promise<string[]> {
  const message = `last ${nowUs()}`;
  await raise('', { rule: 'unheardOf', message });
  const last = `:rotating_light: unheardOf: ${message}`;
  await expect.poll(() => messages.at(-1), { timeout: WEBHOOK_MS }).toBe(last);
  return messages.splice(0).slice(0, -1);
}

const alarmsOf = async (runId: string, query = ''): Promise<AlarmItem[]> =>
  (await fixture.getJson<Page<AlarmItem>>(`/api/alarms?limit=500${query}`)).items.filter(
    (alarm) => alarm.runId === runId,
  );

const silence = (body: object) => fixture.post('/api/alarms/silences', body);
const acknowledge = (body: object) => fixture.post('/api/alarms/acknowledgements', body);

describe('a silence', () => {
  it('keeps alarms of its rule from the webhook until it is ended, in one run or in all', async () => {
    const [runId, otherId] = [await startRun(), await startRun()];
    expect((await silence({ rule: 'quiet', until: '1h', note: 'maintenance' })).status).toBe(200);
    expect((await silence({ runId, rule: 'low', until: '1d', note: 'known' })).status).toBe(200);
    await raise(runId, { rule: 'quiet', message: 'of all runs' });
    await raise(runId, { rule: 'low', message: 'of this run' });
    await raise(otherId, { rule: 'low', message: 'of another run' });
    expect(await untilSent()).toEqual([':rotating_light: low: of another run']);
    const shown = (await alarmsOf(runId)).map((alarm) => [alarm.rule, alarm.silence?.runId]);
    expect(shown).toEqual([
      ['low', runId],
      ['quiet', ''],
    ]);
    const { items } = await fixture.getJson<Page<AlarmSilenceItem>>('/api/alarms/silences');
    expect(items).toMatchObject([
      { runId, runName: 'lake', rule: 'low', note: 'known', source: 'caller' },
      { runId: '', runName: '', rule: 'quiet', note: 'maintenance' },
    ]);
    const beforeEnd = items[0].silencedAt;

    for (const ended of [{ rule: 'quiet' }, { runId, rule: 'low' }])
      expect((await silence({ ...ended, until: 'now' })).status).toBe(200);
    await raise(runId, { rule: 'quiet', message: 'heard' });
    await raise(runId, { rule: 'low', message: 'heard' });
    expect(await untilSent()).toEqual([':rotating_light: quiet: heard', ':rotating_light: low: heard']);
    expect((await alarmsOf(runId)).map((alarm) => alarm.silence)).toEqual([null, null]);
    const then = await fixture.getJson<Page<AlarmSilenceItem>>(`/api/alarms/silences?asOf=${beforeEnd}`);
    expect(then.items.map(({ rule }) => rule)).toEqual(['low', 'quiet']);
  });

  it('is over at its moment, whoever asks when', async () => {
    const runId = await startRun();
    await raise(runId, { rule: 'brief', message: 'before' });
    const silencedAtUs = nowUs();
    const silenced = { rule: 'brief', untilUs: silencedAtUs + 1 };
    const ids = { ...idsOf(runId), occurredAtUs: silencedAtUs };
    await appendEvents(fixture.log, [controlEvent(ids, 'AlarmSilenced', silenced)]);
    await expect.poll(nowUs).toBeGreaterThan(silenced.untilUs);
    await raise(runId, { rule: 'brief', message: 'after' });
    expect(await untilSent()).toEqual([':rotating_light: brief: before', ':rotating_light: brief: after']);
    expect((await alarmsOf(runId))[0].silence).toBeNull();
  });

  it('that was ended keeps nothing back that waits for a receiver', async () => {
    const runId = await startRun();
    isDown = true;
    const before = numAsked;
    await raise(runId, { rule: 'late', message: 'waits' });
    await expect.poll(() => numAsked, { timeout: WEBHOOK_MS }).toBeGreaterThan(before);
    const ended = { rule: 'late', untilUs: nowUs() };
    await appendEvents(fixture.log, [controlEvent(idsOf(runId), 'AlarmSilenced', ended)]);
    isDown = false;
    expect(await untilSent()).toEqual([':rotating_light: late: waits']);
  });

  it('is ended where it holds: of one run, or of all', async () => {
    const runId = await startRun();
    expect((await silence({ rule: 'wide', until: '1h', note: 'maintenance' })).status).toBe(200);
    const ofRun = await silence({ runId, rule: 'wide', until: 'now' });
    expect(ofRun.status).toBe(404);
    const { detail } = (await ofRun.json()) as { detail: string };
    expect(detail).toMatch(/^No silence of wide in run \S+ holds; one in all runs does, until 2/);
    expect((await silence({ rule: 'wide', until: 'now' })).status).toBe(200);
    const again = await silence({ rule: 'wide', until: 'now' });
    expect(await again.json()).toMatchObject({ detail: 'No silence of wide in all runs holds' });
  });

  it.each([
    [{ rule: 'low', until: '91d', note: 'x' }, 'until'],
    [{ rule: 'low', until: '1h', note: ' ' }, 'note'],
    [{ rule: 'low', until: '2020-01-01T00:00:00Z', note: 'x' }, 'until'],
    [{ rule: 'low', until: 'soon', note: 'x' }, 'until'],
    [{ rule: 'low', until: '1h' }, 'note'],
    [{ until: '1h', note: 'x' }, 'rule'],
  ])('refuses %j', async (body, field) => {
    const response = await silence(body);
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ code: 'INVALID_REQUEST', errors: [{ field }] });
  });
});

describe('an acknowledgement', () => {
  it('keeps an occurrence from the webhook, and not the next one after its run has ended and goes on', async () => {
    const runId = await startRun();
    const collapse = { rule: 'entropyCollapse', message: 'low' };
    await raise(runId, collapse);
    const beforeUs = nowUs();
    const asked = { runId, alarmSource: 'trainer', rule: 'entropyCollapse', note: 'on it', source: 'ann' };
    expect((await acknowledge(asked)).status).toBe(200);
    await raise(runId, { ...collapse, message: 'lower', numTimes: 2 });
    expect(await untilSent()).toEqual([':rotating_light: entropyCollapse: low']);
    const [acknowledged] = await alarmsOf(runId);
    expect(acknowledged).toMatchObject({ numTimes: 2, acknowledgement: { note: 'on it', source: 'ann' } });
    const before = new Date(Math.floor(beforeUs / 1000)).toISOString();
    expect((await alarmsOf(runId, `&asOf=${before}`))[0].acknowledgement).toBeNull();

    await appendEvents(fixture.log, [controlEvent(idsOf(runId), 'RunEnded', { reason: 'stopped' })]);
    await raise(runId, { ...collapse, message: 'low again' });
    expect(await untilSent()).toEqual([':rotating_light: entropyCollapse: low again']);
    expect((await alarmsOf(runId))[0].acknowledgement).toBeNull();
  });

  it('of an alarm without a rule is for its text, whatever the numbers in it', async () => {
    const runId = await startRun();
    await raise(runId, { rule: '', message: 'disk 9 is full' });
    const asked = { runId, alarmSource: 'trainer', message: 'disk 9 is full' };
    expect((await acknowledge(asked)).status).toBe(200);
    await raise(runId, { rule: '', message: 'disk 10 is full' });
    await raise(runId, { rule: '', message: 'no memory' });
    expect(await untilSent()).toEqual([
      ':rotating_light: alarm: disk 9 is full',
      ':rotating_light: alarm: no memory',
    ]);
  });

  it('is refused for what was not raised, or is not said to be of a run that there is', async () => {
    const runId = await startRun();
    await fixture.storeHasCaughtUp();
    const asked = { runId, alarmSource: 'trainer', rule: 'entropyCollapse' };
    const unknown = await acknowledge(asked);
    expect(unknown.status).toBe(404);
    expect((await acknowledge({ ...asked, runId: newRunId() })).status).toBe(404);
    expect((await acknowledge({ runId, alarmSource: 'trainer' })).status).toBe(400);
    expect(await unknown.json()).toMatchObject({
      detail: `No process of run ${runId} has raised the alarm entropyCollapse as trainer`,
    });
  });
});
