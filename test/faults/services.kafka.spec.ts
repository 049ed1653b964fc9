import { setTimeout as sleep } from 'node:timers/promises';
import { ControlTail } from '@retrace/log';
import { openKafkaLog } from '@retrace/log/kafka';
import { afterEach, describe, expect, inject, it } from 'vitest';
import { startBroker, type StartedBroker } from '@retrace/log/kafka-broker';
import { runRetrace } from '../support/cli.mjs';
import { ServiceRoles } from '../support/services.js';

const shared = inject('kafkaBroker');
const reason = 'unavailable' in shared ? ` (skipped, because ${shared.unavailable})` : '';

const recipe = [
  ...['--recipe', 'bandit-ppo', '--updates', '5', '--backend', 'wasm'],
  ...['--set', 'evaluation.numTestEpisodes=100', '--set', 'evaluation.numValidationEpisodes=50'],
];

describe.skipIf(reason !== '')(`roles started one by one on Kafka and a ClickHouse store${reason}`, () => {
  const atEnd: (() => unknown)[] = [];
  afterEach(async () => {
    for (const clean of atEnd.splice(0).reverse()) await clean();
  });

  it('train to the end although the broker is killed meanwhile, and verify finds no faults', async () => {
    const broker = (await startBroker()) as StartedBroker;
    atEnd.push(() => broker.close());
    const roles = await ServiceRoles.start(broker);
    atEnd.push(() => roles.stop());
    const sinks = ['1/2', '2/2'].map((share) => roles.role(['sink', '--share', share]));
    await Promise.all(sinks.map((sink) => sink.waitFor(/writing the log/)));
    const api = roles.role(['api', '--port', '0']);
    const trainer = roles.role(['train', ...recipe]);
    const runId = await trainer.waitFor(/started bandit-ppo, run (\S+)/);
    const collector = roles.role(['collect', '--run', 'latest', '--backend', 'wasm']);
    await collector.waitFor(new RegExp(`collecting for run ${runId}`));
    const validator = roles.role(['validate', '--work', '--backend', 'wasm']);
    await validator.waitFor(new RegExp(`validating run ${runId}`));

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
    for (const role of [collector, validator])
      expect(await Promise.race([role.ended, sleep(30_000, 'too late')])).toBe(0);
    const verified = await roles.verify();
    expect(verified).toMatchObject({
      code: 0,
      report: { ok: true, numFaults: 0, numPending: 0, numDeadLetters: 0 },
    });
    expect(verified.report.numConflicts).toBe(0);

    expect(
      await roles.sql(
        'SELECT count() AS n, uniqExact(update_number) AS u FROM updates WHERE applied_at IS NOT NULL',
      ),
    ).toEqual([{ n: 5, u: 5 }]);
    const apiUrl = await api.waitFor(/serves (http\S+)/);
    const answer = await fetch(`${apiUrl}/api/runs/${runId}`);
    expect(await answer.json()).toMatchObject({ runId });
  }, 240_000);

  it('name the variables that are missing when the environment lacks a Kafka log or a store', async () => {
    const none = { RETRACE_KAFKA_BROKERS: '', RETRACE_STORE_URL: '' };
    for (const args of [['sink'], ['api'], ['collect', '--run', 'latest'], ['validate', '--work']]) {
      const { code, stderr } = await runRetrace(args, { environment: none });
      expect([code, stderr]).toEqual([
        2,
        expect.stringMatching(/set RETRACE_KAFKA_BROKERS and RETRACE_STORE_URL/),
      ]);
    }
    const half = { RETRACE_KAFKA_BROKERS: '127.0.0.1:9', RETRACE_STORE_URL: '' };
    expect(await runRetrace(['runs'], { environment: half })).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('RETRACE_STORE_URL: required, but not set') as string,
    });
    expect(await runRetrace(['up'], { environment: half })).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('RETRACE_KAFKA_BROKERS names a log on Kafka') as string,
    });
  });
});
