import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Credentials } from '@retrace/config';
import { ControlTail } from '@retrace/trajectory/control-tail';
import { openKafkaLog } from '@retrace/trajectory/kafka';
import { afterEach, describe, expect, inject, it } from 'vitest';
import { startBroker, type StartedBroker } from '../scripts/kafka/start-broker.mjs';
import { findFreePort, makeDataDirectory, runRetrace, startRetrace, type Session } from './support/cli.mjs';

const shared = inject('kafkaBroker');
const reason = 'unavailable' in shared ? ` (skipped, because ${shared.unavailable})` : '';

const recipe = [
  ...['--recipe', 'bandit-ppo', '--updates', '5', '--backend', 'wasm'],
  ...['--set', 'evaluation.numTestEpisodes=100', '--set', 'evaluation.numValidationEpisodes=50'],
];

describe.skipIf(reason !== '')(`roles started alone on Kafka and a ClickHouse store${reason}`, () => {
  const sessions: Session[] = [];
  const atEnd: (() => Promise<void> | void)[] = [];
  const start = (args: readonly string[], environment?: Record<string, string>): Session => {
    const session = startRetrace(args, environment);
    sessions.push(session);
    return session;
  };
  afterEach(async () => {
    for (const session of sessions.splice(0).reverse()) {
      if (session.child.exitCode === null && session.child.signalCode === null) await session.stop('SIGTERM');
    }
    for (const clean of atEnd.splice(0).reverse()) await clean();
  });

  it('train to the end though the broker is killed in the middle, and verify finds no fault', async () => {
    const broker = (await startBroker()) as StartedBroker;
    atEnd.push(() => broker.close());
    const data = makeDataDirectory();
    atEnd.push(() => data.remove());
    const environment = await startStore(data.path, broker);

    const sinks = ['1/2', '2/2'].map((share) => start(['sink', '--share', share], environment));
    await Promise.all(sinks.map((sink) => sink.waitFor(/carries the log/)));
    const api = start(['api', '--port', '0'], environment);
    const trainer = start(['train', ...recipe], environment);
    const runId = await trainer.waitFor(/began bandit-ppo, run (\S+)/);
    const collector = start(['collect', '--run', 'latest', '--backend', 'wasm'], environment);
    await collector.waitFor(new RegExp(`collects for run ${runId}`));

    const log = await openKafkaLog({ brokers: [broker.addresses.plaintext], createdBy: 'test' });
    atEnd.push(() => log.close());
    expect(log.numPartitions('trajectories')).toBe(3);
    const control = new ControlTail(log);
    while ((control.state.run(runId)?.updates.numUpdates ?? 0) < 2)
      await control.changed(AbortSignal.timeout(60_000));
    control.close();
    await broker.command('kill');
    await sleep(500);
    await broker.command('start');

    expect(await Promise.race([trainer.ended, sleep(120_000, 'too late')])).toBe(0);
    expect(await Promise.race([collector.ended, sleep(30_000, 'too late')])).toBe(0);
    const verified = await verifyAll(environment);
    expect(verified).toMatchObject({
      code: 0,
      report: { ok: true, numFaults: 0, numPending: 0, numDeadLetters: 0 },
    });
    expect(verified.report.numConflicts).toBe(0);

    const counted = await runRetrace(
      [
        'sql',
        'SELECT count() AS n, uniqExact(update_number) AS u FROM updates WHERE applied_at IS NOT NULL',
        '--json',
      ],
      { environment },
    );
    expect(JSON.parse(counted.stdout)).toEqual([{ n: 5, u: 5 }]);
    const apiUrl = await api.waitFor(/serves (http\S+)/);
    const answer = await fetch(`${apiUrl}/api/runs/${runId}`);
    expect(await answer.json()).toMatchObject({ runId });
  }, 240_000);

  it('say what is missing when the environment names no log that is shared, or no store', async () => {
    const none = { RETRACE_KAFKA_BROKERS: '', RETRACE_STORE_URL: '' };
    for (const args of [['sink'], ['api'], ['collect', '--run', 'latest']]) {
      const { code, stderr } = await runRetrace(args, { environment: none });
      expect([code, stderr]).toEqual([
        1,
        expect.stringMatching(/name them with RETRACE_KAFKA_BROKERS and RETRACE_STORE_URL/),
      ]);
    }
    const half = { RETRACE_KAFKA_BROKERS: '127.0.0.1:9', RETRACE_STORE_URL: '' };
    expect(await runRetrace(['runs'], { environment: half })).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('RETRACE_STORE_URL: got ""') as string,
    });
    expect(await runRetrace(['up'], { environment: half })).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('RETRACE_KAFKA_BROKERS names a log on Kafka') as string,
    });
  }, 60_000);

  /** `retrace store` in place of a ClickHouse server; what names it and the broker to every role. */
  async function startStore(dataDir: string, { addresses }: StartedBroker): Promise<Record<string, string>> {
    const port = await findFreePort();
    const store = start(['store', '--port', String(port), '--data-dir', join(dataDir, 'store')]);
    await store.waitFor(/http:\/\/127\.0\.0\.1:\d+/);
    const credentials = JSON.parse(
      readFileSync(join(dataDir, 'store', 'credentials.json'), 'utf8'),
    ) as Credentials;
    const shared = join(dataDir, 'shared');
    mkdirSync(shared);
    return {
      RETRACE_KAFKA_BROKERS: addresses.plaintext,
      RETRACE_KAFKA_PARTITIONS: '3',
      RETRACE_STORE_URL: `http://127.0.0.1:${port}`,
      RETRACE_STORE_USER: credentials.user,
      RETRACE_STORE_PASSWORD: credentials.password,
      RETRACE_STORE_READONLY_USER: credentials.readonlyUser,
      RETRACE_STORE_READONLY_PASSWORD: credentials.readonlyPassword,
      RETRACE_DATA_DIR: shared,
    };
  }

  /** The report once the sinks have brought everything. */
  async function verifyAll(
    environment: Record<string, string>,
  ): Promise<{ code: number | null; report: VerifyReport }> {
    for (let attempt = 0; ; attempt += 1) {
      const { code, stdout, stderr } = await runRetrace(['verify', '--json'], { environment });
      expect(stderr).toBe('');
      const report = JSON.parse(stdout) as VerifyReport;
      if (report.numPending === 0 || attempt === 10) return { code, report };
      await sleep(500);
    }
  }
});

interface VerifyReport {
  readonly ok: boolean;
  readonly numFaults: number;
  readonly numPending: number;
  readonly numDeadLetters: number;
  readonly numConflicts: number;
}
