/**
 * Kill -9 at ten random moments of a run, of the whole tree and of each child, and start again: the run finishes, nothing is
 * lost or doubled, and the policy is that of a run that nobody disturbed. For bandit-ppo and a small frozen-lake-ppo.
 *
 *   npm run test:long -- kills [-- --seed N]
 */
import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { makeDataDirectory, runRetrace } from '../support/cli.mjs';
import { seededRandom, trainWithKills } from '../support/kill-drill.mjs';

const { values } = parseArgs({
  options: { seed: { type: 'string', default: String(Date.now() % 100_000) } },
});
const random = seededRandom(Number(values.seed));
const numKills = 10;
const withinMs = 300_000;
const drills = [
  { recipe: 'bandit-ppo', numUpdates: 30, settings: [], command: 'train', sink: 'sink' },
  {
    recipe: 'frozen-lake-ppo',
    numUpdates: 15,
    settings: ['collection.groupsPerRound=64'],
    command: 'up',
    sink: 'api',
  },
];

/** Each target twice, in random order, at random moments after updates that are spread over the run. */
function planKills(numUpdates, sink) {
  const targets = ['tree', 'collector', 'trainer', 'store', sink];
  const order = [...targets, ...targets]
    .map((target) => ({ target, rank: random() }))
    .sort((a, b) => a.rank - b.rank);
  return order.map(({ target }, i) => ({
    target,
    afterUpdate: 1 + Math.floor((i * (numUpdates - 2)) / numKills),
    delayMs: Math.floor(random() * 1000),
  }));
}

const figures = [];
let hasFailed = false;
for (const { recipe, numUpdates, settings, command, sink } of drills) {
  const args = [
    ...['--recipe', recipe, '--updates', String(numUpdates)],
    ...settings.flatMap((setting) => ['--set', setting]),
    ...['--set', 'evaluation.numTestEpisodes=200', '--set', 'evaluation.numValidationEpisodes=50'],
  ];
  const [undisturbedDirectory, killedDirectory] = [makeDataDirectory(), makeDataDirectory()];
  try {
    const undisturbed = await trainWithKills([...args, '--data-dir', undisturbedDirectory.path], [], {
      withinMs,
    });
    const killed = await trainWithKills(
      [...args, '--data-dir', killedDirectory.path],
      planKills(numUpdates, sink),
      {
        withinMs,
        command,
        onKill: (description) => console.log(`${recipe}: kill -9 of ${description}`),
      },
    );
    const verified = await runRetrace(['verify', '--json', '--data-dir', killedDirectory.path]);
    const report = JSON.parse(verified.stdout);
    const isSamePolicy = killed.weightsSha256 === undisturbed.weightsSha256;
    hasFailed ||= !isSamePolicy || verified.code !== 0 || killed.numUpdates !== numUpdates;
    figures.push(
      { name: `${recipe}: kills`, value: numKills },
      { name: `${recipe}: updates`, value: killed.numUpdates },
      { name: `${recipe}: same policy as undisturbed`, value: isSamePolicy ? 'yes, bit for bit' : 'no' },
      { name: `${recipe}: records verified`, value: report.numRecords },
      { name: `${recipe}: faults`, value: report.numFaults },
    );
    console.log(`${recipe}: same policy ${isSamePolicy}, ${report.lines.at(-1)}`);
  } finally {
    undisturbedDirectory.remove();
    killedDirectory.remove();
  }
}
if (process.env.RETRACE_RESULT_FILE) {
  const title = `Kill -9 at ${numKills} random moments (seed ${values.seed})`;
  writeFileSync(process.env.RETRACE_RESULT_FILE, JSON.stringify({ title, figures }));
}
process.exitCode = hasFailed ? 1 : 0;
