/**
 * Plays tasks step by step in `crafting-open` and in TextCraft of AgentGym, and compares every answer and end:
 *
 * - 100 drawn tasks of ours, whose recipes are given to TextCraft's classes as files;
 * - 100 of its 544 goals over HTTP, on its server as it is: a task of ours is read from what the server says at the reset.
 *
 * A third of the actions are changed so that many are refused. Rewards of refused actions differ by design (−0.1 here, 0 there) and are not
 * compared. Over HTTP no item is got that only recipes outside the list make, because our task knows the list only.
 *
 *   npm run test:long -- textcraft-fidelity [-- --agentgym path/to/a/repository/of/AgentGym]
 *
 * Without the option AgentGym comes from GitHub; some Python packages are installed once. Takes a minute.
 */
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { craftingOpen } from '@retrace/environments';
import { Pcg32 } from '@retrace/random';
import { FigureTable } from '../../bench/figure-table.mjs';
import { installAgentGym } from '../support/agentgym.mjs';
import { AgentGymEpisode, startAgentGym } from '../support/agentgym-http.mjs';
import { makeDataDirectory } from '../support/cli.mjs';

const NUM_TASKS = 100;
const CHANGED_FRACTION = 0.35;
/** Every fifth of the 544 goals. */
const HTTP_STRIDE = 5;
const DRIVER = fileURLToPath(new URL('../support/textcraft_driver.py', import.meta.url));

const { values } = parseArgs({
  options: { agentgym: { type: 'string' } },
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

/** Plays a task here: every answer as [text, reward of the goal, end], and the actions. */
function playHere(sampled, index, mayDo = () => true) {
  const { task } = sampled;
  const random = new Pcg32(index);
  const agent = craftingOpen.agents.find(({ name }) => name === (index % 2 === 0 ? 'expert' : 'random'));
  const world = craftingOpen.create();
  let observation = world.reset(sampled);
  const answers = [[observation.text, 0, false]];
  const actions = [];
  for (;;) {
    const wanted = agent.act(world, observation, () => random.nextFloat());
    const action = change(wanted, task, random);
    if (!mayDo(action)) {
      // Always known to both.
      observation = { ...observation, legalActions: observation.legalActions.filter((one) => mayDo(one)) };
      continue;
    }
    const result = world.step(action);
    actions.push(action);
    answers.push([result.observation.text, Number(result.terminated), result.terminated]);
    observation = result.observation;
    if (result.terminated || result.truncated) return { answers, actions };
  }
}

function playDrawn(index) {
  const sampled = craftingOpen.sampleTask({ split: 'test', index, seed: 7 });
  const { task } = sampled;
  const { answers, actions } = playHere(sampled, index);
  const recipes = task.recipes.map((command) => recipeFile(command, task.tags));
  return { theirs: { recipes, commands: task.recipes.join('\n'), goal: idOf(task.goal), actions }, answers };
}

/** Plays all drawn tasks in one process of TextCraft's classes. */
function playInProcess({ python, folder }) {
  const episodes = Array.from({ length: NUM_TASKS }, (_, index) => playDrawn(index));
  const driver = spawnSync(python, [DRIVER], {
    cwd: folder('textcraft'),
    input: episodes.map(({ theirs }) => `${JSON.stringify(theirs)}\n`).join(''),
    encoding: 'utf8',
    maxBuffer: 2 ** 28,
    env: { ...process.env, PYGAME_HIDE_SUPPORT_PROMPT: '1' },
  });
  if (driver.status !== 0)
    throw new Error(`the driver ended with ${driver.status}: ${driver.stderr.slice(-2000)}`);
  const played = driver.stdout.trim().split('\n');
  return episodes.map(({ answers, theirs }, index) => ({
    ...{ answers, actions: theirs.actions },
    played: JSON.parse(played[index]),
  }));
}

const nameOf = (id) => id.replace('minecraft:', '').replaceAll('_', ' ');

/** Items that recipe files make, and the kind of each that has one. */
function readRecipeFiles(folder) {
  const made = new Set();
  const kinds = new Map();
  for (const file of readdirSync(folder)) {
    const { result, group } = JSON.parse(readFileSync(join(folder, file), 'utf8'));
    if (result === undefined) continue;
    const item = nameOf(result.item ?? result);
    made.add(item);
    const kind = group && nameOf(group);
    if (kind && kind !== item) {
      kinds.set(item, kind);
      made.add(kind);
    }
  }
  return { made, kinds };
}

/** The task of ours that a server's first observation describes. */
function taskOf(observation, kinds) {
  const goal = /\nGoal: craft (.*)\.$/.exec(observation)[1];
  const recipes = observation.split('\n').filter((line) => line.startsWith('craft '));
  const listed = new Set(recipes.map((command) => /^craft \d+ (.*) using/.exec(command)[1]));
  const tags = [...listed].filter((item) => kinds.has(item) && !listed.has(kinds.get(item)));
  return {
    task: { goal, recipes, tags: Object.fromEntries(tags.map((item) => [item, kinds.get(item)])) },
    listed,
  };
}

/** Plays the server's own goals over HTTP. */
async function playOverHttp(directory) {
  const server = await startAgentGym('textcraft', { agentgym: values.agentgym, directory });
  const { made, kinds } = readRecipeFiles(join(server.folder, 'agentenv_textcraft', 'recipes'));
  const episodes = [];
  try {
    const episode = await AgentGymEpisode.open(server.url);
    for (let index = 0; index < NUM_TASKS; index++) {
      const { observation } = await episode.reset(index * HTTP_STRIDE);
      const { task, listed } = taskOf(observation, kinds);
      const isKnown = (action) => {
        const got = /^get \d+ (.*)$/.exec(action)?.[1];
        const name = got?.replaceAll('_', ' ');
        return name === undefined || listed.has(name) || !made.has(name);
      };
      const { answers, actions } = playHere({ task, seed: 0 }, index, isKnown);
      const played = [[observation, 0, false]];
      for (const action of actions) {
        const told = await episode.step(action);
        played.push([told.observation, told.reward, told.done]);
      }
      episodes.push({ answers, actions, played });
    }
  } finally {
    server.stop();
  }
  return episodes;
}

function compare(how, episodes, table) {
  let numEqual = 0;
  let numAnswers = 0;
  let numEqualEpisodes = 0;
  for (const [index, { answers, actions, played }] of episodes.entries()) {
    const isEqual = answers.map((answer, step) => JSON.stringify(answer) === JSON.stringify(played[step]));
    numAnswers += answers.length;
    numEqual += isEqual.filter(Boolean).length;
    const differs = isEqual.indexOf(false);
    if (differs < 0) numEqualEpisodes += 1;
    else console.log(index, actions[differs - 1], answers[differs], played[differs]);
  }
  const unit = `of ${episodes.length}`;
  table.add(`${how}: episodes with every answer equal`, numEqualEpisodes, unit, { least: NUM_TASKS }, { required: true }); // oxfmt-ignore
  table.add(`${how}: answers compared`, numAnswers, '');
  table.add(`${how}: answers equal`, numEqual, '', { least: numAnswers }, { required: true });
}

const installed = await installAgentGym(values.agentgym);
if ('unavailable' in installed) {
  console.log(`textcraft-fidelity: skipped, because ${installed.unavailable}`);
  process.exit();
}
const table = new FigureTable('crafting against TextCraft of AgentGym');
compare('in process', playInProcess(installed), table);
const folder = makeDataDirectory();
try {
  compare('over HTTP', await playOverHttp(folder.path), table);
} finally {
  folder.remove();
}
table.save(
  'AgentGym 3ef9235. In process: classes CraftingTree and TextCraftEnv, with the recipes of each task of ours as files. Over HTTP: its server unmodified, every fifth of its goals.',
);
