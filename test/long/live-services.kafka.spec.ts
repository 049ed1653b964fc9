import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, inject, it } from 'vitest';
import { startBroker, type StartedBroker } from '@retrace/log/kafka-broker';
import { findFreePort } from '@retrace/process/free-port';
import { makeDataDirectory, runRetrace } from '../support/cli.mjs';
import { ServiceRoles } from '../support/services.js';

const shared = inject('kafkaBroker');
const reason = 'unavailable' in shared ? ` (skipped, because ${shared.unavailable})` : '';
const sound = { ok: true, numFaults: 0, numPending: 0, numDeadLetters: 0, numConflicts: 0 };

describe.skipIf(reason !== '')(`commands on Kafka beside live sinks${reason}`, () => {
  const atEnd: (() => unknown)[] = [];
  afterEach(async () => {
    for (const clean of atEnd.splice(0).reverse()) await clean();
  });

  async function start(): Promise<{ broker: StartedBroker; roles: ServiceRoles }> {
    const broker = (await startBroker()) as StartedBroker;
    atEnd.push(() => broker.close());
    const roles = await ServiceRoles.start(broker);
    atEnd.push(() => roles.stop());
    return { broker, roles };
  }

  it('rebuild, delete and import lose and double nothing while episodes come', async () => {
    const { roles } = await start();
    const sinks = ['1/2', '2/2'].map((share) => roles.role(['sink', '--share', share]));
    await Promise.all(sinks.map((sink) => sink.waitFor(/writing the log/)));
    const collect = (numEpisodes: number) =>
      roles.run([
        ...['collect', '--environment', 'bandit', '--policy', 'random', '--json'],
        '--episodes',
        String(numEpisodes),
      ]);
    const { runId } = JSON.parse((await collect(300)).stdout) as { runId: string };
    const running = collect(3_000);
    await sleep(500);
    const rebuilt = await roles.run(['rebuild']);
    expect([rebuilt.code, rebuilt.stderr]).toEqual([0, '']);
    const one = await roles.run(['rebuild', '--run', runId]);
    expect([one.code, one.stderr]).toEqual([0, '']);
    expect((await running).code).toBe(0);
    expect((await roles.verify()).report).toMatchObject(sound);
    expect(await roles.sql('SELECT count() AS n FROM episodes WHERE sealed')).toEqual([{ n: 3_300 }]);

    const files = makeDataDirectory();
    atEnd.push(() => files.remove());
    const file = join(files.path, 'run.arrow');
    expect((await roles.run(['export', '--run', runId, '--output', file])).code).toBe(0);
    const refused = await roles.run(['import', file]);
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('is in this log already')]);
    expect((await roles.run(['runs', 'delete', runId])).code).toBe(0);
    expect(await roles.sql('SELECT count() AS n FROM episodes WHERE sealed')).toEqual([{ n: 3_000 }]);
    const imported = await roles.run(['import', file, '--json']);
    expect([imported.code, JSON.parse(imported.stdout)]).toMatchObject([0, { runId, isIdentical: true }]);
    expect((await roles.verify()).report).toMatchObject(sound);
    for (const sink of sinks) expect(sink.child.exitCode).toBeNull();
  }, 480_000);

  it('doctor says how log and store are, and what to do', async () => {
    const { broker, roles } = await start();
    const doctor = async (environment: Readonly<Record<string, string>> = {}) => {
      const { stdout } = await runRetrace(['doctor', '--port', '0', '--json'], {
        environment: { ...roles.environment, ...environment },
      });
      const checks = JSON.parse(stdout) as { check: string; verdict: string; detail: string }[];
      const detailOf = (name: string) => {
        const found = checks.find(({ check }) => check === name);
        return `${found?.verdict ?? 'missing'}: ${found?.detail ?? ''}`;
      };
      return { log: detailOf('log'), store: detailOf('store') };
    };
    const fresh = await doctor();
    expect(fresh.log).toMatch(/^ok: Kafka at \S+ answers; its topics are made on first use$/);
    expect(fresh.store).toMatch(
      /^(ok|warn): ClickHouse \d\S+ at http:\S+: the next sink or API will apply all migrations.*GiB free/,
    );
    await roles.role(['sink']).waitFor(/writing the log/);
    const used = await doctor({ RETRACE_STORE_PASSWORD: 'wrong' });
    expect(used.log).toMatch(/^warn: .*retrace\.trajectories has 3 partitions, one copy of each: /);
    expect(used.store).toMatch(/^fail: .*; see RETRACE_STORE_USER and RETRACE_STORE_PASSWORD$/);
    const other = await doctor({ RETRACE_KAFKA_PARTITIONS: '5' });
    expect(other.log).toMatch(
      /^fail: topic retrace\.trajectories: the number of partitions is 3; must be 5 .*; change that/,
    );
    expect(other.store).toMatch(/its schema is up to date/);
    await broker.command('kill');
    const away = await doctor({ RETRACE_STORE_URL: `http://127.0.0.1:${await findFreePort()}` });
    expect(away.log).toMatch(/^fail: .*; start the brokers, or correct RETRACE_KAFKA_BROKERS$/);
    expect(away.store).toMatch(/^fail: .*; start it, or correct RETRACE_STORE_URL$/);
    await broker.command('start');
  }, 360_000);
});
