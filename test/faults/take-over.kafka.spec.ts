import { ControlTail } from '@retrace/log';
import { openKafkaLog } from '@retrace/log/kafka';
import { afterEach, describe, expect, inject, it } from 'vitest';
import { startBroker, type StartedBroker } from '@retrace/log/kafka-broker';
import { makeDataDirectory } from '../support/cli.mjs';
import { trainWithKills } from '../support/kill-drill.mjs';
import { ServiceRoles } from '../support/services.js';

const shared = inject('kafkaBroker');
const reason = 'unavailable' in shared ? ` (skipped, because ${shared.unavailable})` : '';

const NUM_UPDATES = 8;
const recipe = [
  ...['--recipe', 'bandit-ppo', '--updates', String(NUM_UPDATES), '--backend', 'wasm'],
  ...['--set', 'evaluation.numTestEpisodes=100', '--set', 'evaluation.numValidationEpisodes=50'],
];

describe.skipIf(reason !== '')(`a second trainer of one run on Kafka${reason}`, () => {
  const atEnd: (() => unknown)[] = [];
  afterEach(async () => {
    for (const clean of atEnd.splice(0).reverse()) await clean();
  });

  it('takes over from one that is suspended, which ends when it wakes; the policy is that of an undisturbed run', async () => {
    const broker = (await startBroker()) as StartedBroker;
    atEnd.push(() => broker.close());
    const roles = await ServiceRoles.start(broker);
    atEnd.push(() => roles.stop());
    await roles.role(['sink']).waitFor(/writing the log/);
    const first = roles.role(['train', ...recipe]);
    const runId = await first.waitFor(/started bandit-ppo, run (\S+)/);
    const others = [
      roles.role(['collect', '--run', 'latest', '--backend', 'wasm']),
      roles.role(['validate', '--work', '--backend', 'wasm']),
    ];

    const log = await openKafkaLog({ brokers: [broker.addresses.plaintext], createdBy: 'test' });
    atEnd.push(() => log.close());
    const control = new ControlTail(log);
    const until = async (isTrue: () => boolean): Promise<void> => {
      while (!isTrue()) await control.changed(AbortSignal.timeout(90_000));
    };
    // In the middle of an update: its plan is in the log, its commit is not.
    await until(() => {
      const updates = control.state.run(runId)?.updates;
      return (updates?.numUpdates ?? 0) >= 2 && updates?.pendingPlans.length === 1;
    });
    first.child.kill('SIGSTOP');
    const second = roles.role(['train', ...recipe]);
    await until(() => control.run(runId).updates.claim?.epoch === 1);
    const numUpdatesBefore = control.run(runId).updates.numUpdates;
    await until(() => control.run(runId).updates.numUpdates > numUpdatesBefore);
    first.child.kill('SIGCONT');

    expect(await roles.finish(first, 60_000)).not.toBe(0);
    expect(first.lines.join('\n')).toMatch(/is claimed by trainer \S+ at epoch 1; this trainer held epoch 0/);
    expect(await roles.finish(second, 120_000)).toBe(0);
    for (const role of others) expect(await roles.finish(role, 60_000)).toBe(0);
    await control.catchUp();
    control.close();
    const { updates } = control.run(runId);
    expect(updates.claim?.epoch).toBe(1);
    expect(updates.commits).toHaveLength(NUM_UPDATES);

    const { code, report } = await roles.verify();
    expect({ code, report }).toMatchObject({
      code: 0,
      report: { ok: true, numFaults: 0, numPending: 0, numDeadLetters: 0, numConflicts: 0 },
    });
    const rows = await roles.sql(
      'SELECT update_number AS n, count() AS times FROM updates GROUP BY n ORDER BY n',
    );
    expect(rows).toEqual(Array.from({ length: NUM_UPDATES }, (_, u) => ({ n: u + 1, times: 1 })));

    const data = makeDataDirectory();
    atEnd.push(() => {
      data.remove();
    });
    const alone = await trainWithKills([...recipe, '--data-dir', data.path], [], { withinMs: 90_000 });
    expect(updates.lastUpdate?.weights.sha256).toBe(alone.weightsSha256);
  }, 600_000);
});
