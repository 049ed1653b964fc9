import { setTimeout as sleep } from 'node:timers/promises';
import { openBackend } from '@retrace/compute';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ServedTraining } from '../support/served-training.js';
import { startVllm, TAKES_WEIGHTS } from '../support/vllm-server.mjs';

const MAX_DEVIATION = 2e-3;
const NUM_UPDATES = 10;
/** Of the server that is then killed, out of 704 in all. */
const NUM_TURNS_BEFORE = 100;

type Started = Awaited<ReturnType<typeof startVllm>>;

describe.each(['adapters', 'all weights'] as const)('two servers with %s', (weights) => {
  const { options, variables } = TAKES_WEIGHTS[weights];
  let started: readonly Started[] = [];
  let training: ServedTraining;

  beforeAll(async () => {
    await openBackend({});
    const start = () =>
      startVllm({ options: [...options, '--logprobs-mode', 'processed_logprobs'], variables });
    // The first installs vLLM where it is not there.
    started = [await start(), await start()];
    const [first] = started;
    training = new ServedTraining('model' in first ? first.model : '');
  }, 1_800_000);
  afterAll(async () => {
    await Promise.all(started.map(async (server) => ('stop' in server ? server.stop() : undefined)));
    await training.removeAll();
  });

  it('share a run, which goes on with one of them while the other is killed and starts again', async ({
    task,
    skip,
  }) => {
    const [first, second] = started;
    if ('unavailable' in first || 'unavailable' in second)
      return skip(
        `skipped, because ${'unavailable' in first ? first.unavailable : 'the second is not there'}`,
      );
    if (second.kill === null) return skip('skipped, because the servers are not ours to kill');
    const urls = [first.url, second.url];
    const trained = training.train({
      endpoint: { kind: 'vllm', urls },
      adapters: weights === 'adapters',
      concurrentEpisodes: 16,
      maxStaleness: 1,
      seed: 1,
      numUpdates: NUM_UPDATES,
    });
    // A run that fails ends the wait below.
    let isOver = false;
    void trained.finally(() => (isOver = true)).catch(() => undefined);
    const before = await untilTurns(second.url, NUM_TURNS_BEFORE, () => isOver);
    await second.kill();
    await second.startAgain();
    const dataDirectory = await trained;
    const { largest, counts } = await training.checkTokens(dataDirectory);
    expect(largest).toBeLessThan(MAX_DEVIATION);
    expect(counts.size).toBeGreaterThan(NUM_UPDATES / 2);
    const [episodes] = await training.sql<{ all: number; failures: string[] }>(
      dataDirectory,
      "SELECT toUInt32(count()) AS all, groupUniqArrayIf(end_detail, end_reason != 'terminated') AS failures FROM episodes",
    );
    expect(episodes.failures).toEqual([]);
    const atFirst = await numTurns(first.url);
    expect(Math.min(before, atFirst)).toBeGreaterThanOrEqual(NUM_TURNS_BEFORE);
    const warnings = await training.sql<{ message: string }>(dataDirectory, 'SELECT message FROM warnings');
    expect(warnings.map(({ message }) => message).join('\n')).toContain(
      `server B of 2 at ${second.url} is left out until it answers`,
    );
    task.meta.figures = [
      { name: `${weights}: largest difference of a stored logprob`, value: largest, unit: 'nats' },
      { name: `${weights}: episodes`, value: episodes.all },
      { name: `${weights}: requests of the server that was killed, before it was`, value: before },
      { name: `${weights}: requests of the other`, value: atFirst },
    ];
  }, 1_800_000);
});

/** Waits until a server has answered so many requests. */
async function untilTurns(url: string, number: number, isOver: () => boolean): Promise<number> {
  for (;;) {
    const found = await numTurns(url);
    if (found >= number || isOver()) return found;
    await sleep(50);
  }
}

/** Requests that a vLLM has answered, checks of its weights included. */
async function numTurns(url: string): Promise<number> {
  const metrics = await (await fetch(`${url}/metrics`)).text();
  const counts = metrics.matchAll(/^vllm:request_success_total\{[^}]*\} (\S+)$/gm);
  return Array.from(counts, ([, count]) => Number(count)).reduce((sum, count) => sum + count, 0);
}
