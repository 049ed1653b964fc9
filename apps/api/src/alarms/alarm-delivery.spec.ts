import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { EventLog } from '@retrace/log';
import { openLmdbLog } from '@retrace/log/lmdb';
import { appendEvents } from '@retrace/log/testing';
import { newRunId } from '@retrace/trajectory';
import { controlEvent } from '@retrace/trajectory/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { AlarmDelivery } from './alarm-delivery.js';
import { alertmanagerReceiver, webhookReceiver } from './alarm-receiver.js';
import { type AlarmStanding, UNHANDLED } from './alarm-standing.js';
import { DeliveredPosition } from './delivered-position.js';

const RAISED_AT_US = Date.UTC(2026, 10, 29, 12) * 1000;
const RETRY_MS = 5;
const SILENCE = {
  ...{ runId: '', rule: 'entropyCollapse', note: 'a test', source: 'ben' },
  ...{ silencedAtUs: RAISED_AT_US, untilUs: RAISED_AT_US + 3_600_000_000 },
};

let directory: string;
let log: EventLog;
let server: Server;
let url: string;
/** Answers of the receiver, in order; then 200, but 500 below `down`. */
let statuses: number[];
let received: unknown[];
let warnings: string[];
let standing: AlarmStanding;
/** Whether the delivery was being stopped when it asked about an alarm. */
let wereStopping: boolean[];
const runId = newRunId();
const running: AlarmDelivery[] = [];

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'retrace-alarms-'));
  log = await openLmdbLog({ path: join(directory, 'log'), createdBy: 'test', numTrajectoryPartitions: 1 });
  [statuses, received, warnings, standing, wereStopping] = [[], [], [], UNHANDLED, []];
  server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk: Buffer) => (body += chunk.toString()));
    request.on('end', () => {
      const status = statuses.shift() ?? (request.url?.endsWith('/down') === true ? 500 : 200);
      if (status === 200) received.push(JSON.parse(body));
      response.writeHead(status).end(status === 200 ? 'ok' : 'no_service');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/secret`;
});

afterEach(async () => {
  for (const delivery of running.splice(0)) await delivery.stop();
  await new Promise((resolve) => server.close(resolve));
  await log.close();
  await rm(directory, { recursive: true });
});

const positionOf = (logId: string) =>
  new DeliveredPosition(join(directory, 'alarms', 'webhook.json'), logId, (message) =>
    warnings.push(message),
  );

async function deliver(receiver = webhookReceiver(url)): Promise<AlarmDelivery> {
  const delivery = new AlarmDelivery({
    ...{ log, receiver, retryMs: RETRY_MS },
    position: positionOf(log.logId),
    contextOf: (_, { aborted }) => {
      wereStopping.push(aborted);
      return Promise.resolve({ ...standing, runName: 'lake', page: `http://page/runs/${runId}` });
    },
    warn: (message) => warnings.push(message),
  });
  await delivery.start();
  running.push(delivery);
  return delivery;
}

const raise = (message: string, fields: object = {}) =>
  appendEvents(log, [
    {
      ...controlEvent({ logId: log.logId, runId }, 'WarningRaised', {
        ...{ severity: 'alarm', source: 'trainer', step: 7, message, numTimes: 1 },
        ...{ rule: 'entropyCollapse', advice: 'Raise the entropy bonus.', episodeIds: [], ...fields },
      }),
      occurredAtUs: RAISED_AT_US,
    },
  ]);

const textsOf = (bodies: readonly unknown[]) =>
  bodies.map((body) => (body as { text: string }).text.split('\n')[0]);

describe('AlarmDelivery', () => {
  it('sends what is raised from its start on, and neither warnings nor what was before', async () => {
    await raise('before');
    await deliver();
    await raise('only a warning', { severity: 'warning' });
    await raise('<!channel> entropy & more', { numTimes: 4 });
    await expect
      .poll(() => received)
      .toEqual([
        {
          text: [
            ':rotating_light: entropyCollapse: &lt;!channel&gt; entropy &amp; more (4 times)',
            `run lake (${runId.slice(-8)}) · trainer · step 7 · 2026-11-29T12:00:00.000Z`,
            'Raise the entropy bonus.',
            `http://page/runs/${runId}`,
          ].join('\n'),
        },
      ]);
  });

  it('sends that a run failed', async () => {
    await deliver();
    await appendEvents(log, [
      controlEvent({ logId: log.logId, runId }, 'RunEnded', {
        reason: 'failed',
        detail: 'disk full',
        numUpdates: 3,
      }),
    ]);
    await expect
      .poll(() => textsOf(received))
      .toEqual([':rotating_light: runFailed: the run failed: disk full']);
  });

  it('tries again until it is taken, in order, and skips what is refused for good', async () => {
    statuses = [503, 429, 200, 404];
    await deliver();
    for (const message of ['first', 'refused', 'last']) await raise(message);
    await expect
      .poll(() => textsOf(received))
      .toEqual([':rotating_light: entropyCollapse: first', ':rotating_light: entropyCollapse: last']);
    expect(warnings).toEqual([
      'the alarm "entropyCollapse" did not reach the webhook (status 503); next try in 0.005 s',
      'the alarm "entropyCollapse" did not reach the webhook (status 429); next try in 0.01 s',
      'the webhook refused the alarm "entropyCollapse" (status 404), which is not sent again; check its address',
    ]);
  });

  it('goes on after a restart where it was, with what was raised meanwhile', async () => {
    const first = await deliver();
    await raise('sent');
    // The receiver has it before its answer is here, and what has no answer when it is stopped is sent again.
    const end = await log.endOffset('control', 0);
    await expect.poll(() => positionOf(log.logId).read()).toBe(end);
    await first.stop();
    await raise('meanwhile');
    await deliver();
    await raise('after');
    await expect
      .poll(() => textsOf(received).map((text) => text.split(': ').at(-1)))
      .toEqual(['sent', 'meanwhile', 'after']);
  });

  it('sends again what was not taken when it was stopped', async () => {
    // At an address of its own, since what was broken off may arrive late.
    const first = await deliver(webhookReceiver(`${url}/down`));
    await raise('kept');
    await expect.poll(() => warnings.length).toBeGreaterThan(1);
    await first.stop();
    expect(new Set(wereStopping)).toEqual(new Set([false]));
    await deliver();
    await expect.poll(() => textsOf(received)).toEqual([':rotating_light: entropyCollapse: kept']);
  });

  it('begins at the end of another log than the one of its position', async () => {
    await raise('before');
    positionOf('another').write(0);
    await deliver();
    await raise('after');
    await expect.poll(() => textsOf(received)).toEqual([':rotating_light: entropyCollapse: after']);
  });

  it('does not name the address of a receiver that is not there', async () => {
    const closed = url;
    await new Promise((resolve) => server.close(resolve));
    await deliver(webhookReceiver(closed));
    await raise('unheard');
    await expect
      .poll(() => warnings[0])
      .toBe('the alarm "entropyCollapse" did not reach the webhook (ECONNREFUSED); next try in 0.005 s');
    server.listen(0);
  });

  it('gives Alertmanager labels that are the same for the same alarm', async () => {
    await deliver(alertmanagerReceiver(`${url}/`));
    await raise('low');
    const labels = { alertname: 'entropyCollapse', severity: 'critical', job: 'retrace', source: 'trainer' };
    await expect
      .poll(() => received)
      .toEqual([
        [
          {
            labels: { ...labels, run_id: runId },
            annotations: {
              ...{ summary: 'low', run: 'lake', step: '7' },
              description: 'Raise the entropy bonus.',
            },
            startsAt: '2026-11-29T12:00:00.000Z',
            endsAt: expect.any(String) as string,
            generatorURL: `http://page/runs/${runId}`,
          },
        ],
      ]);
    // However late it is sent, it is not over when it arrives.
    const [[{ endsAt }]] = received as { endsAt: string }[][];
    expect(Date.parse(endsAt)).toBeGreaterThan(Date.now());
  });

  it('sends a webhook no alarm that is acknowledged or silenced, and goes on with the next', async () => {
    await deliver();
    standing = { ...UNHANDLED, acknowledgement: { note: '', source: 'ann', acknowledgedAtUs: RAISED_AT_US } };
    await raise('acknowledged');
    await expect.poll(() => positionOf(log.logId).read()).toBe(await log.endOffset('control', 0));
    standing = { ...UNHANDLED, silence: SILENCE };
    await raise('silenced');
    await expect.poll(() => positionOf(log.logId).read()).toBe(await log.endOffset('control', 0));
    standing = UNHANDLED;
    await raise('heard');
    await expect.poll(() => textsOf(received)).toEqual([':rotating_light: entropyCollapse: heard']);
  });

  it('tells Alertmanager of every alarm, with annotations of what people did about it', async () => {
    await deliver(alertmanagerReceiver(url));
    const acknowledgement = { note: 'known', source: 'ann', acknowledgedAtUs: RAISED_AT_US };
    standing = { acknowledgement, silence: SILENCE };
    await raise('low');
    await expect
      .poll(() => received)
      .toMatchObject([
        [
          {
            annotations: {
              ...{ summary: 'low', acknowledged_by: 'ann', acknowledgement: 'known' },
              ...{ silenced_by: 'ben', silenced_until: '2026-11-29T13:00:00.000Z', silence: 'a test' },
            },
          },
        ],
      ]);
  });

  it('sends an event once that is in the log twice, and goes on where the position can not be written', async () => {
    await writeFile(join(directory, 'alarms'), 'a file');
    await deliver();
    const event = {
      ...controlEvent({ logId: log.logId, runId }, 'WarningRaised', {
        ...{ severity: 'alarm', message: 'twice', numTimes: 1 },
      }),
      occurredAtUs: RAISED_AT_US,
    };
    await appendEvents(log, [event]);
    await appendEvents(log, [event]);
    await raise('after');
    await expect
      .poll(() => textsOf(received).map((text) => text.split(': ').at(-1)))
      .toEqual(['twice', 'after']);
    expect(warnings).toEqual([
      expect.stringContaining('alarms may be sent twice or not at all after a restart'),
    ]);
  });

  it('cuts what is long, and calls nobody', async () => {
    await deliver();
    await raise(`@all ${'x'.repeat(3_000)}`, { advice: 'y'.repeat(3_000) });
    await expect.poll(() => received.length).toBe(1);
    const [{ text }] = received as { text: string }[];
    expect(text.length).toBeLessThan(2_000);
    expect(text).not.toContain('@all');
  });
});
