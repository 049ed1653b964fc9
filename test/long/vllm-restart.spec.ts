import { createServer } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { openBackend } from '@retrace/compute';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ServedTraining } from '../support/served-training.js';
import { startVllm, TAKES_WEIGHTS } from '../support/vllm-server.mjs';

const MAX_DEVIATION = 2e-3;
const NUM_UPDATES = 10;
const PAGE_MS = 5_000;

describe.each(['all weights', 'adapters'] as const)('a run with %s', (weights) => {
  const { options, variables } = TAKES_WEIGHTS[weights];
  let started: Awaited<ReturnType<typeof startVllm>>;
  let training: ServedTraining;

  beforeAll(async () => {
    await openBackend({});
    started = await startVllm({
      options: [...options, '--logprobs-mode', 'processed_logprobs'],
      variables,
    });
    training = new ServedTraining('model' in started ? started.model : '');
  }, 1_800_000);
  afterAll(async () => {
    if ('stop' in started) await started.stop();
    await training.removeAll();
  });

  it('goes on when vLLM is killed and starts again without its weights', async ({ task, skip }) => {
    if ('unavailable' in started) return skip(`skipped, because ${started.unavailable}`);
    if (started.kill === null) return skip('skipped, because the server is not ours to kill');
    const { url } = started;
    const trained = training.train({
      endpoint: { kind: 'vllm', url },
      adapters: weights === 'adapters',
      concurrentEpisodes: 16,
      maxStaleness: 1,
      seed: 1,
      numUpdates: NUM_UPDATES,
    });
    // A run that fails ends the wait below.
    let isOver = false;
    void trained.finally(() => (isOver = true)).catch(() => undefined);
    while (!isOver && (await newestVersion(url)) < 3) await sleep(50);
    await started.kill();
    await answerWithPage(url);
    await started.startAgain();
    const dataDirectory = await trained;
    const { largest, counts } = await training.checkTokens(dataDirectory);
    expect(largest).toBeLessThan(MAX_DEVIATION);
    expect(counts.size).toBeGreaterThan(NUM_UPDATES / 2);
    const [episodes] = await training.sql<{ all: number; failures: string[] }>(
      dataDirectory,
      "SELECT toUInt32(count()) AS all, groupUniqArrayIf(end_detail, end_reason != 'terminated') AS failures FROM episodes",
    );
    expect(episodes.failures).toEqual([]);
    const warnings = await training.sql<{ message: string }>(dataDirectory, 'SELECT message FROM warnings');
    const said = warnings.map(({ message }) => message).join('\n');
    expect(said).toContain(`turns wait for the server at ${url}`);
    expect(said).toMatch(/had lost its weights, and has those of policy version \d+ again/);
    if (weights === 'adapters') expect(await adaptersOf(url)).toEqual([]);
    task.meta.figures = [
      { name: `${weights}: largest difference of a stored logprob`, value: largest, unit: 'nats' },
      { name: `${weights}: episodes`, value: episodes.all },
    ];
  }, 1_800_000);
});

/** Answers every request with a web page for some seconds. */
async function answerWithPage(url: string): Promise<void> {
  const server = createServer((_, response) =>
    response.writeHead(200, { 'content-type': 'text/html' }).end('<h1>It works!</h1>'),
  );
  await new Promise<void>((resolve) => server.listen(Number(new URL(url).port), '127.0.0.1', resolve));
  await sleep(PAGE_MS);
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
}

async function adaptersOf(url: string): Promise<readonly string[]> {
  const { data } = (await (await fetch(`${url}/v1/models`)).json()) as { data: { id: string }[] };
  return data.map(({ id }) => id).filter((id) => id.startsWith('retrace-'));
}

/** The newest policy version that the server has; −1 for none. */
async function newestVersion(url: string): Promise<number> {
  const adapters = await adaptersOf(url);
  const info = await fetch(`${url}/weight_info`);
  const { weight_version: whole } = (info.ok ? await info.json() : {}) as { weight_version?: string };
  return Math.max(-1, ...[...adapters, whole ?? ''].map((name) => Number(/-(\d+)$/.exec(name)?.[1] ?? -1)));
}
