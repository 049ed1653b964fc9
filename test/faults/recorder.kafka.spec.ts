import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readApiConfig, startApiServer } from '@retrace/api';
import { Retrace, type RetraceError } from '@retrace/client';
import { openKafkaLog } from '@retrace/log/kafka';
import { startBroker, type StartedBroker } from '@retrace/log/kafka-broker';
import { createStoreClient, MIGRATIONS_DIRECTORY, untilVisible, verifyStore } from '@retrace/store';
import { startStoreServer } from '@retrace/store-server';
import { placeMigratedStore } from '@retrace/store-server/testing';
import { newRunId } from '@retrace/trajectory';
import { afterEach, describe, expect, inject, it } from 'vitest';

const shared = inject('kafkaBroker');
const reason = 'unavailable' in shared ? ` (skipped, because ${shared.unavailable})` : '';

const KAFKA = { RETRACE_KAFKA_PARTITIONS: '3', RETRACE_KAFKA_DELIVERY_TIMEOUT_MS: '1000' };

describe.skipIf(reason !== '')(`recording into a log on Kafka${reason}`, () => {
  const atEnd: (() => Promise<unknown>)[] = [];
  afterEach(async () => {
    for (const clean of atEnd.splice(0).reverse()) await clean();
  });

  async function startServices() {
    const directory = await mkdtemp(join(tmpdir(), 'retrace-recorder-'));
    atEnd.push(() => rm(directory, { recursive: true }));
    const broker = (await startBroker()) as StartedBroker;
    atEnd.push(() => broker.close());
    const dataDirectory = join(directory, 'store');
    await placeMigratedStore(dataDirectory);
    const users = [{ name: 'retrace', password: 'secret', access: 'full' as const }];
    const store = await startStoreServer({ dataDirectory, port: 0, users });
    atEnd.push(() => store.close());
    const startApi = async () => {
      const api = await startApiServer(
        readApiConfig({
          ...KAFKA,
          RETRACE_KAFKA_BROKERS: broker.addresses.plaintext,
          RETRACE_STORE_URL: store.url,
          RETRACE_STORE_USER: 'retrace',
          RETRACE_STORE_PASSWORD: 'secret',
          RETRACE_STORE_READONLY_USER: 'retrace',
          RETRACE_STORE_READONLY_PASSWORD: 'secret',
          RETRACE_API_PORT: '0',
          RETRACE_MIGRATIONS_DIRECTORY: MIGRATIONS_DIRECTORY,
        }),
      );
      atEnd.push(() => api.close());
      await api.storeReady;
      return api;
    };
    const client = createStoreClient({ url: store.url, username: 'retrace', password: 'secret' });
    atEnd.push(() => client.close());
    return { broker, client, startApi };
  }

  it('takes what two APIs are sent; while the broker is gone it answers 503, and a client loses nothing', async () => {
    const { broker, client, startApi } = await startServices();
    const apis = [await startApi(), await startApi()];
    const errors: RetraceError[] = [];
    const agents = apis.map(
      ({ url }) => new Retrace({ url, lingerMs: 10, onError: (error) => errors.push(error) }),
    );
    for (const agent of agents) atEnd.push(() => agent.close({ timeoutMs: 0 }));
    const run = await agents[0].startRun({ name: 'on Kafka' });
    expect(await agents[0].flush()).toBe(true);

    const tokens = { ids: [1, 2], mask: [0, 1] as (0 | 1)[], logprobs: [null, -0.5], versions: [-1, 3] };
    const member = (groupMember: number) =>
      agents[groupMember].run(run.id).episode({ groupId: 'pair', groupSize: 2, groupMember });
    const episodes = [member(0), member(1)];
    for (const episode of episodes) episode.step({ action: 'before', tokens, sampling: { temperature: 1 } });
    expect(await Promise.all(agents.map((agent) => agent.flush()))).toEqual([true, true]);

    await broker.command('kill');
    for (const episode of episodes) {
      episode.step({ action: 'meanwhile', tokens, sampling: { temperature: 1 } });
      episode.end({ success: true });
    }
    const body = JSON.stringify([{ type: 'episode', episode: newRunId() }]);
    const headers = { 'content-type': 'application/json' };
    const url = `${apis[0].url}/api/runs/${run.id}/records`;
    const refused = await fetch(url, { method: 'POST', headers, body });
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '2']);
    expect(await refused.json()).toMatchObject({ code: 'LOG_UNAVAILABLE' });
    await expect.poll(() => errors.some(({ code, status }) => code === 'BUSY' && status === 503)).toBe(true);

    await broker.command('start');
    expect(await Promise.all(agents.map((agent) => agent.flush({ timeoutMs: 60_000 })))).toEqual([
      true,
      true,
    ]);
    // The record of the refused request may have landed or not; now it has, once.
    const again = await fetch(url, { method: 'POST', headers, body });
    expect(again.status).toBe(200);

    const end = () =>
      fetch(`${apis[1].url}/api/runs/${run.id}/end`, {
        ...{ method: 'POST', headers, body: JSON.stringify({ reason: 'finished' }) },
      });
    let ended = await end();
    while (ended.status === 503) ended = await end();
    expect(await ended.json()).toEqual({ closedGroups: 1 });

    const log = await openKafkaLog({ brokers: [broker.addresses.plaintext], createdBy: 'test' });
    atEnd.push(() => log.close());
    await untilVisible(log, client, { stallMs: 60_000 });
    const steps = await client.queryRows(
      'SELECT episode_id, groupArray(action) AS actions FROM (SELECT * FROM steps ORDER BY step) GROUP BY episode_id ORDER BY episode_id',
    );
    const actions = ['before', 'meanwhile'];
    const ids = episodes.map(({ id }) => id).sort();
    expect(steps).toEqual(ids.map((episode_id) => ({ episode_id, actions })));
    expect(await verifyStore({ log, client })).toMatchObject({ ok: true, numFaults: 0, numEpisodes: 3 });
  });
});
