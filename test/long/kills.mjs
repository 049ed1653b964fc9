/**
 * Kills a run at ten random moments (kill -9), the whole tree and each child, and starts it again: the run finishes, nothing is lost
 * or doubled, and the policy equals that of an undisturbed run. Runs bandit-ppo, whose trainer and collector are one process, a small frozen-lake-ppo, whose are two, and a run that trains on the
 * episodes of another one alone. Then runs a collector
 * ahead of the trainer (`maxStaleness` 1), where the bits depend on timing: no update trains on staler data, and every update,
 * re-run from its manifest, gives the recorded loss.
 *
 *   npm run test:long -- kills [-- --seed N]
 */
import { cpSync, lstatSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { auditAsynchronousRun } from '../support/asynchronous-audit.mjs';
import { makeDataDirectory, runRetrace } from '../support/cli.mjs';
import { seededRandom, trainWithKills } from '../support/kill-drill.mjs';

const { values } = parseArgs({
  options: { seed: { type: 'string', default: String(Date.now() % 100_000) } },
});
const random = seededRandom(Number(values.seed));
const NUM_KILLS = 10;
const WITHIN_MS = 300_000;
const drills = [
  {
    recipe: 'bandit-ppo',
    numUpdates: 30,
    settings: [],
    command: 'train',
    sink: 'sink',
    roles: ['trainer+collector', 'trainer+collector'],
  },
  {
    recipe: 'frozen-lake-ppo',
    numUpdates: 15,
    settings: ['collection.groupsPerRound=64', 'process.colocate=false'],
    command: 'up',
    sink: 'api',
    roles: ['trainer', 'collector'],
  },
  {
    recipe: 'memory-bandit-grpo',
    numUpdates: 20,
    settings: ['sampler.rule=prioritized', 'collection.groupsPerRound=16'],
    command: 'train',
    sink: 'sink',
    roles: ['trainer', 'tree'],
    // Played by a run before it; this one has no collector.
    historyUpdates: 6,
  },
];
const asynchronous = {
  recipe: 'memory-bandit-grpo',
  numUpdates: 20,
  settings: [
    'collection.maxStaleness=1',
    'collection.groupsPerRound=16',
    'collection.concurrentEpisodes=16',
    'checkpoint.keepEvery=1',
  ],
};

/** Draws kills: each target twice, in random order, at random moments after updates that are spread over the run. */
function planKills(numUpdates, sink, roles) {
  const targets = ['tree', ...roles, 'store', sink];
  const order = [...targets, ...targets]
    .map((target) => ({ target, rank: random() }))
    .sort((a, b) => a.rank - b.rank);
  return order.map(({ target }, i) => ({
    target,
    afterUpdate: 1 + Math.floor((i * (numUpdates - 2)) / NUM_KILLS),
    delayMs: Math.floor(random() * 1000),
  }));
}

const figures = [];
let hasFailed = false;
for (const drill of drills) {
  const { recipe: recipeName, numUpdates, settings, command, sink, roles, historyUpdates = 0 } = drill;
  const isOffline = historyUpdates > 0;
  const recipe = isOffline ? `${recipeName} on another run's episodes` : recipeName;
  const args = argumentsOf({ recipe: recipeName, numUpdates, settings });
  const [undisturbedDirectory, killedDirectory] = [makeDataDirectory(), makeDataDirectory()];
  try {
    if (isOffline) {
      const played = argumentsOf({ recipe: recipeName, numUpdates: historyUpdates, settings: [] });
      const { runId } = await trainWithKills([...played, '--data-dir', undisturbedDirectory.path], [], {
        withinMs: WITHIN_MS,
      });
      // The store's pipes are made again.
      const filter = (path) => !lstatSync(path).isFIFO();
      cpSync(undisturbedDirectory.path, killedDirectory.path, { recursive: true, filter });
      args.push('--from-run', runId);
    }
    const undisturbed = await trainWithKills([...args, '--data-dir', undisturbedDirectory.path], [], {
      withinMs: WITHIN_MS,
    });
    const killed = await trainWithKills(
      [...args, '--data-dir', killedDirectory.path],
      planKills(numUpdates, sink, roles),
      {
        withinMs: WITHIN_MS,
        command,
        onKill: (description) => console.log(`${recipe}: kill -9 of ${description}`),
      },
    );
    const verified = await runRetrace(['verify', '--json', '--data-dir', killedDirectory.path]);
    const report = JSON.parse(verified.stdout);
    const isSamePolicy = killed.weightsSha256 === undisturbed.weightsSha256;
    hasFailed ||= !isSamePolicy || verified.code !== 0 || killed.numUpdates !== numUpdates;
    figures.push(
      { name: `${recipe}: kills`, value: NUM_KILLS },
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
await drillAsynchronously();
if (process.env.RETRACE_RESULT_FILE) {
  const title = `Kill -9 at ${NUM_KILLS} random moments (seed ${values.seed})`;
  writeFileSync(process.env.RETRACE_RESULT_FILE, JSON.stringify({ title, figures }));
}
process.exitCode = hasFailed ? 1 : 0;

function argumentsOf({ recipe, numUpdates, settings }) {
  return [
    ...['--recipe', recipe, '--updates', String(numUpdates)],
    ...settings.flatMap((setting) => ['--set', setting]),
    ...['--set', 'evaluation.numTestEpisodes=200', '--set', 'evaluation.numValidationEpisodes=50'],
  ];
}

async function drillAsynchronously() {
  const name = `${asynchronous.recipe}, maxStaleness 1`;
  const { numUpdates } = asynchronous;
  const directory = makeDataDirectory();
  try {
    const killed = await trainWithKills(
      [...argumentsOf(asynchronous), '--data-dir', directory.path],
      planKills(numUpdates, 'sink', ['trainer', 'collector']),
      { withinMs: WITHIN_MS, onKill: (description) => console.log(`${name}: kill -9 of ${description}`) },
    );
    const audit = await auditAsynchronousRun(directory.path, { numUpdates, maxStaleness: 1 });
    hasFailed ||= audit.faults.length > 0 || killed.numUpdates !== numUpdates || audit.maxStaleness !== 1;
    figures.push(
      { name: `${name}: kills`, value: NUM_KILLS },
      { name: `${name}: updates`, value: killed.numUpdates },
      { name: `${name}: oldest tokens trained on`, value: audit.maxStaleness, unit: 'versions' },
      { name: `${name}: updates replayed to the recorded loss`, value: audit.numReplayed },
      {
        name: `${name}: largest difference of a replayed loss, relative`,
        value: audit.largestLossDifference,
      },
      { name: `${name}: records verified`, value: audit.numRecords },
      { name: `${name}: faults`, value: audit.faults.length },
    );
    console.log(`${name}: ${audit.numReplayed} updates replayed, ${audit.faults.length} faults`);
    for (const fault of audit.faults) console.error(`${name}: ${fault}`);
  } finally {
    directory.remove();
  }
}
