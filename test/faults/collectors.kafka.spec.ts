import { setTimeout as sleep } from 'node:timers/promises';
import { ControlTail } from '@retrace/log';
import { openKafkaLog } from '@retrace/log/kafka';
import { afterEach, describe, expect, inject, it } from 'vitest';
import { startBroker, type StartedBroker } from '@retrace/log/kafka-broker';
import { makeDataDirectory } from '../support/cli.mjs';
import { trainWithKills } from '../support/kill-drill.mjs';
import { ServiceRoles } from '../support/services.js';

const shared = inject('kafkaBroker');
const reason = 'unavailable' in shared ? ` (skipped, because ${shared.unavailable})` : '';

const recipe = [
  ...['--recipe', 'bandit-ppo', '--updates', '5', '--backend', 'wasm'],
  ...['--set', 'evaluation.numTestEpisodes=100', '--set', 'evaluation.numValidationEpisodes=50'],
];

describe.skipIf(reason !== '')(`two collectors of one run on Kafka${reason}`, () => {
  const atEnd: (() => unknown)[] = [];
  afterEach(async () => {
    for (const clean of atEnd.splice(0).reverse()) await clean();
  });

  it('two collectors: train to the same policy as one collector, although one of the two is killed and restarted', async () => {
    const broker = (await startBroker()) as StartedBroker;
    atEnd.push(() => broker.close());
    const roles = await ServiceRoles.start(broker);
    atEnd.push(() => roles.stop());
    await roles.role(['sink']).waitFor(/writing the log/);
    const trainer = roles.role(['train', ...recipe]);
    const runId = await trainer.waitFor(/started bandit-ppo, run (\S+)/);
    const collect = (share: string) =>
      roles.role(['collect', '--run', 'latest', '--backend', 'wasm', '--share', share]);
    const first = collect('1/2');
    const second = collect('2/2');
    const validator = roles.role(['validate', '--work', '--backend', 'wasm']);

    const log = await openKafkaLog({ brokers: [broker.addresses.plaintext], createdBy: 'test' });
    atEnd.push(() => log.close());
    const control = new ControlTail(log);
    const untilUpdate = async (numUpdates: number): Promise<void> => {
      while ((control.state.run(runId)?.updates.numUpdates ?? 0) < numUpdates)
        await control.changed(AbortSignal.timeout(90_000));
    };
    await untilUpdate(1);
    // Killed in the middle of a round: its claim is in the log, its groups are not closed.
    const isPlaying = () => {
      const claim = control.run(runId).rounds.claimBy(1);
      return claim !== undefined && !control.run(runId).hasClosed(claim.groupIds[0]);
    };
    while (!isPlaying()) await control.changed(AbortSignal.timeout(60_000));
    second.child.kill('SIGKILL');
    await second.ended;
    // The other collector's groups may close, but the round can't.
    const { lastRound } = control.run(runId).groups;
    await sleep(1_000);
    await control.catchUp();
    expect(control.run(runId).groups.lastRound).toBe(lastRound);
    const again = collect('2/2');
    await untilUpdate(5);
    control.close();

    expect(await Promise.race([trainer.ended, sleep(120_000, 'too late')])).toBe(0);
    for (const role of [first, again, validator])
      expect(await Promise.race([role.ended, sleep(30_000, 'too late')])).toBe(0);
    const { code, report } = await roles.verify();
    expect({ code, report }).toMatchObject({
      code: 0,
      report: { ok: true, numFaults: 0, numPending: 0, numDeadLetters: 0, numConflicts: 0 },
    });

    // Every place of every round was trained on exactly once.
    const groups = (await roles.sql(
      `SELECT count() AS n, uniqExact(JSONExtractString(payload, 'planId'), group_id) AS distinct_groups
       FROM (SELECT payload, arrayJoin(JSONExtract(payload, 'groupIds', 'Array(String)')) AS group_id
             FROM events WHERE kind = 'BatchPlanned')`,
    )) as { n: number; distinct_groups: number }[];
    expect(groups[0].n).toBe(groups[0].distinct_groups);
    const run = control.run(runId);
    const data = makeDataDirectory();
    atEnd.push(() => {
      data.remove();
    });
    const alone = await trainWithKills([...recipe, '--data-dir', data.path], [], { withinMs: 90_000 });
    expect(run.updates.lastUpdate?.weights.sha256).toBe(alone.weightsSha256);
  }, 600_000);
});
