/**
 * Plays 100 drawn tasks of `crafting-open` step by step in TextCraft of AgentGym, too: the recipes are given to its classes as files, and
 * every answer and end is compared. A third of the actions are changed so that many are refused. Rewards of refused actions differ by
 * design (−0.1 here, 0 there) and are not compared.
 *
 *   npm run test:long -- textcraft-fidelity -- --source path/to/AgentGym/agentenv-textcraft [--python python3]
 *
 * The Python needs fastapi, uvicorn, gymnasium and numpy. Takes seconds.
 */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { craftingOpen, Pcg32 } from '@retrace/environments';
import { FigureTable } from '../../bench/figure-table.mjs';

const NUM_TASKS = 100;
const CHANGED_FRACTION = 0.35;
const DRIVER = fileURLToPath(new URL('../support/textcraft_driver.py', import.meta.url));

const { values } = parseArgs({
  options: { source: { type: 'string' }, python: { type: 'string', default: 'python3' } },
});

const idOf = (name) => `minecraft:${name.replaceAll(' ', '_')}`;

/** A command as the recipe file that TextCraft reads. */
function recipeFile(command, tags) {
  const [, count, output, inputs] = /^craft (\d+) (.*) using (.*)$/.exec(command);
  const tagNames = new Set(Object.values(tags));
  const ingredients = inputs.split(', ').flatMap((portion) => {
    const [, inputCount, name] = /^(\d+) (.*)$/.exec(portion);
    return Array(Number(inputCount)).fill(tagNames.has(name) ? { tag: idOf(name) } : { item: idOf(name) });
  });
  const group = output in tags ? { group: tags[output].replaceAll(' ', '_') } : {};
  const result = { item: idOf(output), count: Number(count) };
  return { type: 'minecraft:crafting_shapeless', ingredients, result, ...group };
}

/** Now and then another action, most of which TextCraft refuses. */
function change(action, task, random) {
  if (random.nextFloat() >= CHANGED_FRACTION) return action;
  const others = [...task.recipes, 'jump', 'inventory now', 'get 2 gold', `get 1 ${task.goal}`];
  const forms = [
    () => others[random.nextBelow(others.length)],
    () => action.replace(/\d+/, (count) => String(Number(count) + 1)),
    () => `${action}, 1 gold`,
    () => action.replaceAll(' ', '_').replace('_', ' ').replace('_', ' '),
  ];
  return forms[random.nextBelow(forms.length)]();
}

function playTask(index) {
  const sampled = craftingOpen.sampleTask({ split: 'test', index, seed: 7 });
  const { task } = sampled;
  const random = new Pcg32(index);
  const agent = craftingOpen.agents.find(({ name }) => name === (index % 2 === 0 ? 'expert' : 'random'));
  const world = craftingOpen.create();
  let observation = world.reset(sampled);
  const answers = [[observation.text, 0, false]];
  const actions = [];
  for (;;) {
    const action = change(
      agent.act(world, observation, () => random.nextFloat()),
      task,
      random,
    );
    const result = world.step(action);
    actions.push(action);
    answers.push([result.observation.text, Number(result.terminated), result.terminated]);
    observation = result.observation;
    if (result.terminated || result.truncated) break;
  }
  const recipes = task.recipes.map((command) => recipeFile(command, task.tags));
  return { theirs: { recipes, commands: task.recipes.join('\n'), goal: idOf(task.goal), actions }, answers };
}

if (values.source === undefined) {
  console.log('textcraft-fidelity: skipped, because --source does not name a folder agentenv-textcraft');
  process.exit();
}
const episodes = Array.from({ length: NUM_TASKS }, (_, index) => playTask(index));
const driver = spawnSync(values.python, [DRIVER], {
  cwd: values.source,
  input: episodes.map(({ theirs }) => `${JSON.stringify(theirs)}\n`).join(''),
  encoding: 'utf8',
  maxBuffer: 2 ** 28,
  env: { ...process.env, PYGAME_HIDE_SUPPORT_PROMPT: '1' },
});
if (driver.status !== 0)
  throw new Error(`the driver ended with ${driver.status}: ${driver.stderr.slice(-2000)}`);
const played = driver.stdout
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line));

let numEqual = 0;
let numAnswers = 0;
let numEqualEpisodes = 0;
for (const [index, { answers, theirs }] of episodes.entries()) {
  const differs = answers.findIndex(
    (answer, step) => JSON.stringify(answer) !== JSON.stringify(played[index][step]),
  );
  numAnswers += answers.length;
  numEqual += answers.filter(
    (answer, step) => JSON.stringify(answer) === JSON.stringify(played[index][step]),
  ).length;
  if (differs < 0) numEqualEpisodes += 1;
  else console.log(index, theirs.actions[differs - 1], answers[differs], played[index][differs]);
}
const table = new FigureTable('crafting against TextCraft of AgentGym');
table.add(
  'episodes with every answer equal',
  numEqualEpisodes,
  `of ${NUM_TASKS}`,
  { least: NUM_TASKS },
  { required: true },
);
table.add('answers compared', numAnswers, '');
table.add('answers equal', numEqual, '', { least: numAnswers }, { required: true });
table.save(
  'Classes CraftingTree and TextCraftEnv of AgentGym 3ef9235, with the recipes of each task as files.',
);
