/**
 * Trains on 10,000 episodes of an environment that throws, hangs, answers late, and answers nonsense, with the built command line, log and
 * store: every update is made, every episode is in the store with its reason and its steps, and no slot is lost (there are 64, and
 * many more episodes hang), memory is flat. About four minutes.
 *
 *   npm run test:long -- chaos
 */
import { writeFileSync } from 'node:fs';
import { performance } from 'node:perf_hooks';
import { expectedEnd, LATE_TEXT } from '../support/chaos-environment.mjs';
import { makeDataDirectory, runRetrace, startRetrace } from '../support/cli.mjs';
import { RoleMemory } from '../support/role-memory.mjs';

const NUM_UPDATES = 25;
const GROUPS_PER_ROUND = 100;
const GROUP_SIZE = 4;
const NUM_SLOTS = 64;
const NUM_EPISODES = NUM_UPDATES * GROUPS_PER_ROUND * GROUP_SIZE;

const settings = [
  'environment=chaos',
  `collection.groupsPerRound=${GROUPS_PER_ROUND}`,
  `collection.groupSize=${GROUP_SIZE}`,
  `collection.concurrentEpisodes=${NUM_SLOTS}`,
  'collection.resetTimeoutMs=500',
  'collection.stepTimeoutMs=500',
  'evaluation.everyUpdates=0',
  'evaluation.numTestEpisodes=0',
];
const environment = {
  // The option changes modules that the processes must load as they are.
  RETRACE_BUNDLE: 'no',
  NODE_OPTIONS: `--import=${new URL('../support/chaos-environment.mjs', import.meta.url).href}`,
};
const data = makeDataDirectory();

/** Runs a command that must succeed, and parses what it prints. */
async function json(...args) {
  const { code, stdout, stderr } = await runRetrace([...args, '--json', '--data-dir', data.path], {
    environment,
  });
  if (code !== 0)
    throw new Error(`retrace ${args[0]} exited with ${code}: ${stderr.split('\n').slice(-5).join('\n')}`);
  return JSON.parse(stdout);
}

/** Trains as a user does, and watches the memory of each process. */
async function train() {
  const options = settings.flatMap((setting) => ['--set', setting]);
  const session = startRetrace(
    [
      ...['train', '--recipe', 'frozen-lake-grpo', '--updates', `${NUM_UPDATES}`],
      ...[...options, '--data-dir', data.path],
    ],
    environment,
  );
  await session.waitFor(/update 1 /, 300_000);
  const memory = new RoleMemory(session, { everyMs: 500 });
  const code = await session.ended;
  if (code !== 0) console.error(session.lines.slice(-20).join('\n'));
  return { code, ...(await memory.stop()) };
}

try {
  const startedAt = performance.now();
  const { code, isFlat, figures: memoryFigures } = await train();
  const seconds = (performance.now() - startedAt) / 1000;
  const episodes = await json(
    'sql',
    'SELECT environment_seed AS seed, group_member AS member, end_reason AS reason, end_detail AS detail, num_steps AS numSteps FROM episodes ORDER BY episode_id',
  );
  const [{ numLate }] = await json(
    'sql',
    `SELECT count() AS numLate FROM steps WHERE observation = '${LATE_TEXT}'`,
  );
  const [{ numUpdates }] = await json('sql', 'SELECT count() AS numUpdates FROM updates');
  const [{ numClosed }] = await json(
    'sql',
    "SELECT count() AS numClosed FROM groups WHERE reason = 'complete'",
  );
  const verified = await json('verify');

  const counts = new Map();
  const wrong = [];
  for (const { seed, member, reason, detail, numSteps } of episodes) {
    const expected = expectedEnd({ seed: Number(seed), member: Number(member) });
    const isAsExpected =
      expected.detail.test(detail) &&
      Number(numSteps) === expected.numSteps &&
      reason === (expected.fault === null ? 'terminated' : 'truncated');
    if (!isAsExpected) wrong.push({ ...expected, detail, numSteps, reason });
    counts.set(expected.fault ?? 'none', (counts.get(expected.fault ?? 'none') ?? 0) + 1);
  }
  console.log(`${episodes.length} episodes in ${seconds.toFixed(0)} s, ${numUpdates} updates`);
  for (const [fault, count] of counts) console.log(`  ${fault}: ${count}`);
  for (const one of wrong.slice(0, 5)) console.error('not as expected:', one);

  const isGood =
    wrong.length === 0 &&
    episodes.length === NUM_EPISODES &&
    code === 0 &&
    isFlat &&
    Number(numUpdates) === NUM_UPDATES &&
    Number(numLate) === 0 &&
    Number(numClosed) === NUM_UPDATES * GROUPS_PER_ROUND &&
    verified.ok;
  const figures = [
    { name: 'outcome', value: isGood ? 'passed' : 'failed' },
    { name: 'updates', value: Number(numUpdates) },
    { name: 'episodes in the store', value: episodes.length },
    { name: 'episodes that did not end as they had to', value: wrong.length },
    { name: 'slots', value: NUM_SLOTS },
    { name: 'time', value: seconds, unit: 's' },
    ...[...counts].map(([fault, count]) => ({ name: `episodes with fault ${fault}`, value: count })),
    ...memoryFigures,
  ];
  if (process.env.RETRACE_RESULT_FILE) {
    const title = 'A run in an environment that throws, hangs and answers nonsense';
    writeFileSync(process.env.RETRACE_RESULT_FILE, JSON.stringify({ title, figures }));
  }
  process.exitCode = isGood ? 0 : 1;
} finally {
  data.remove();
}
