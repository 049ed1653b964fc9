import { bandit } from '@retrace/environments';
import { afterAll, describe, expect, it } from 'vitest';
import { ProxiedTraining } from '../support/proxied-training.js';
import { placeTrainedDirectory } from '../support/trained-directory.mjs';

/** Of the policy that the agent uses: the second of a short run. */
const VERSION = '2';
const GAME = { environment: bandit, numGroups: 64, groupSize: 8, maxTokens: 1 };

describe('a policy that an agent uses through the proxy', () => {
  const training = new ProxiedTraining(GAME);
  /** The run of the agent's episodes, and the policy that played them. */
  let [recorded, before] = ['', ''];

  afterAll(() => training.end());

  it('becomes better at the tasks by what the proxy recorded', async () => {
    await placeTrainedDirectory(training.data, 1);
    const [{ run_id: policyRun }] = await training.rows<{ run_id: string }>('SELECT run_id FROM runs');
    recorded = await training.record(async () => {
      const server = training.start(
        ...['serve', '--run', policyRun, '--policy-version', VERSION, '--port', '0'],
      );
      return [await server.waitFor(/(http:\/\/127\S+\/v1)/), () => server.stop('SIGINT')];
    });
    const [steps] = await training.rows<Record<string, unknown>>(
      `SELECT toUInt32(count()) AS steps, groupUniqArray(untrainable) AS reasons, groupUniqArray(temperature) AS temperatures,
         groupUniqArray(tokenizer_hash) = (SELECT groupUniqArray(tokenizer_hash) FROM steps WHERE run_id = '${policyRun}') AS sameTokenizer
       FROM steps WHERE run_id = '${recorded}'`,
    );
    expect(steps).toEqual({
      steps: GAME.numGroups * GAME.groupSize,
      reasons: [''],
      temperatures: [1],
      sameTokenizer: 1,
    });
    before = `run:${policyRun}@${VERSION}`;
    await training.retrace(
      ...['train', '--from-run', recorded, '--recipe', 'bandit-ppo', '--algorithm', 'grpo'],
      ...['--init-from', before, '--updates', '24', '--set', 'collection.groupsPerRound=32'],
      ...['--set', 'optimizer.miniBatchActionTokens=128', '--set', 'loss.entropyCoefficient=0'],
      ...['--set', 'reward.components=[{"reward":"goal"}]'],
      ...['--set', 'evaluation.everyUpdates=0', '--set', 'evaluation.numTestEpisodes=0'],
    );
    // Ratios to the logprobs that the proxy recorded are clipped, so one history moves the policy by so much only: what is likeliest changes first.
    const gain = await training.compare(before, 'latest', ['--recipe', 'bandit-ppo', '--greedy']);
    expect(gain.difference).toBeGreaterThan(0.3);
    expect(gain.differenceLow).toBeGreaterThan(0);
  }, 600_000);
  it('is trained on the rewards that the proxy got, as they were when its run began', async () => {
    await training.retrace(
      ...[
        'train',
        '--from-run',
        recorded,
        '--recipe',
        'bandit-ppo',
        '--algorithm',
        'grpo',
        '--set',
        'name=liked',
      ],
      ...['--init-from', before, '--updates', '2'],
      ...['--set', 'reward.components=[{"reward":"assigned","options":{"name":"liked"}}]'],
      ...['--set', 'evaluation.everyUpdates=0', '--set', 'evaluation.numTestEpisodes=0'],
    );
    const updates = await training.rows<{ ids: string[]; rewards: (number | null)[] }>(
      `SELECT u.episode_ids AS ids, a.rewards AS rewards FROM updates AS u INNER JOIN (
         SELECT plan_id, JSONExtract(payload, 'episodeRewards', 'Array(Nullable(Float64))') AS rewards
         FROM events WHERE kind = 'UpdateApplied') AS a ON a.plan_id = u.plan_id
       WHERE u.run_id IN (SELECT run_id FROM runs WHERE name = 'liked')`,
    );
    expect(updates).toHaveLength(2);
    const episodes = await training.rows<{ id: string; name: string; success: boolean }>(
      `SELECT episode_id AS id, external_id AS name, success FROM episodes WHERE run_id = '${recorded}'`,
    );
    const likes = new Map(episodes.map(({ id, success }) => [id, success ? 1 : -1]));
    for (const { ids, rewards } of updates) expect(rewards).toEqual(ids.map((id) => likes.get(id)));

    await training.append(
      recorded,
      episodes.map(({ name }) => {
        return { type: 'reward', episode: name, name: 'liked', value: 5, source: 'customer' };
      }),
    );
    await training.retrace('replay', '--run', 'latest', '--update', 'latest');
  }, 600_000);
});
