/**
 * Plays 100 drawn tasks of `household` and of `household-put` step by step in the engine of ALFWorld 0.4 and 0.3, too: TextWorld with
 * alfworld's own domain, grammar and goals, for planning problems that are made of our tasks. Every text, list of admissible commands
 * and end is compared. Rewards of what does nothing (−0.1 here, 0 there) and the text of `help` differ by design and are not.
 *
 *   npm run test:long -- household-fidelity -- --python path/to/python [--old-python path/to/another] [--tasks 100]
 *
 * Each Python needs `pip install 'textworld[pddl]==1.6.2' numpy` and `pip install --no-deps alfworld==0.4.2`, the other one `alfworld==0.3.5`.
 */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { household, householdPut } from '@retrace/environments';
import { Pcg32 } from '@retrace/random';
import { FigureTable } from '../../bench/figure-table.mjs';

/** Share of actions that are replaced by a random one that can be done, and by one that mostly can't. */
const RANDOM_FRACTION = 0.3;
const WRONG_FRACTION = 0.15;
const DRIVER = fileURLToPath(new URL('../support/alfworld_driver.py', import.meta.url));

const { values } = parseArgs({
  options: {
    python: { type: 'string' },
    'old-python': { type: 'string' },
    tasks: { type: 'string', default: '100' },
  },
});
const numTasks = Number(values.tasks);

/** An action that was made for another place, state or dialect. */
function wrongAction(world, random) {
  const choose = (choices) => choices[random.nextBelow(choices.length)];
  const { things, receptacles } = world.rules;
  const [thing, place] = [choose(things).name, choose(receptacles).name];
  return choose([
    `take ${thing} from ${place}`,
    `move ${thing} to ${place}`,
    `put ${thing} in/on ${place}`,
    `open ${place}`,
    `close ${place}`,
    `heat ${thing} with ${place}`,
    `clean ${thing} with ${place}`,
    `slice ${thing} with knife 1`,
    `use ${thing}`,
    `examine ${thing}`,
    `go to ${place}`,
    'jump',
    'Look',
  ]);
}

function playTask(spec, index) {
  const sampled = spec.sampleTask({ split: 'test', index, seed: 7 });
  const random = new Pcg32(index);
  const agent = spec.agents.find(({ name }) => name === ['expert', 'searcher', 'random'][index % 3]);
  const world = spec.create();
  let observation = world.reset(sampled);
  const answers = [[observation.text, observation.legalActions, false]];
  const sentence = /Your task is to: (.*)\.$/.exec(observation.text)[1];
  const receptacles = world.rules.receptacles.map(({ name }) => name);
  const actions = [];
  for (;;) {
    const draw = random.nextFloat();
    const { legalActions } = observation;
    const action =
      draw < WRONG_FRACTION
        ? wrongAction(world, random)
        : draw < WRONG_FRACTION + RANDOM_FRACTION
          ? legalActions[random.nextBelow(legalActions.length)]
          : agent.act(world, observation, () => random.nextFloat());
    const result = world.step(action);
    actions.push(action);
    observation = result.observation;
    answers.push([observation.text, observation.legalActions, result.terminated]);
    if (result.terminated || result.truncated) break;
  }
  return { theirs: { task: sampled.task, receptacles, sentence, actions }, answers };
}

/** Plays the tasks on both sides and adds what was compared to the table. */
function compare(spec, python, table) {
  const episodes = Array.from({ length: numTasks }, (_, index) => playTask(spec, index));
  const driver = spawnSync(python, [DRIVER], {
    input: episodes.map(({ theirs }) => `${JSON.stringify(theirs)}\n`).join(''),
    encoding: 'utf8',
    maxBuffer: 2 ** 30,
  });
  if (driver.status !== 0)
    throw new Error(`the driver ended with ${driver.status}: ${driver.stderr.slice(-2000)}`);
  const played = driver.stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  const counts = { numAnswers: 0, numEqual: 0, numEqualEpisodes: 0 };
  for (const [index, { answers, theirs }] of episodes.entries()) {
    const isEqual = (answer, step) => {
      const [text, commands, won] = played[index][step];
      const expected =
        theirs.actions[step - 1] === 'help' && answer[0].startsWith('Available') ? answer[0] : text;
      return JSON.stringify(answer) === JSON.stringify([expected, commands, won]);
    };
    const differs = answers.findIndex((answer, step) => !isEqual(answer, step));
    counts.numAnswers += answers.length;
    counts.numEqual += answers.filter(isEqual).length;
    if (differs < 0) counts.numEqualEpisodes += 1;
    else console.log(spec.name, index, theirs.actions[differs - 1], answers[differs], played[index][differs]);
  }
  table.add(
    `${spec.name}: episodes with every answer equal`,
    counts.numEqualEpisodes,
    `of ${numTasks}`,
    { least: numTasks },
    { required: true },
  );
  table.add(`${spec.name}: answers compared`, counts.numAnswers, '');
  table.add(
    `${spec.name}: answers equal`,
    counts.numEqual,
    '',
    { least: counts.numAnswers },
    { required: true },
  );
}

if (values.python === undefined) {
  console.log('household-fidelity: skipped, because --python names no Python with alfworld');
  process.exit();
}
const table = new FigureTable('household against the engine of ALFWorld');
compare(household, values.python, table);
if (values['old-python'] !== undefined) compare(householdPut, values['old-python'], table);
table.save(
  'TextWorld 1.6.2 with domain, grammar, goals and type tables of alfworld 0.4.2 (household) and 0.3.5 (household-put).',
);
