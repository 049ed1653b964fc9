/**
 * Plays levels of AgentGym's BabyAI, each of its forty families several times, step by step in `grid`, too: the state of the real MiniGrid
 * after a reset is read into a task with the rules `agentgym`, the expert and the random agent play it here, a fifth of their actions changed so
 * that many are refused, and AgentGym's server class is given the same actions. Text and end of every answer are compared, and the reward of
 * every action that is carried out; a refused one pays −0.1 here by design, and there the last reward again.
 *
 *   npm run test:long -- babyai-fidelity [-- --agentgym path/to/a/repository/of/AgentGym] [--rounds 3]
 *
 * AgentGym's server is installed once, from GitHub without the option, and asked over HTTP, and once more in one process. Takes a minute.
 */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { grid } from '@retrace/environments';
import { Pcg32 } from '@retrace/random';
import { FigureTable } from '../../bench/figure-table.mjs';
import { installAgentGym } from '../support/agentgym.mjs';
import { AgentGymEpisode, startAgentGym } from '../support/agentgym-http.mjs';
import { makeDataDirectory } from '../support/cli.mjs';

const NUM_FAMILIES = 40;
const CHANGED_FRACTION = 0.2;
const MOST_ACTIONS = 40;
const DRIVER = fileURLToPath(new URL('../support/babyai_driver.py', import.meta.url));

const { values } = parseArgs({
  options: {
    agentgym: { type: 'string' },
    rounds: { type: 'string', default: '3' },
  },
});

function drive({ python, folder }, cases) {
  const driver = spawnSync(python, [DRIVER], {
    cwd: folder('babyai'),
    input: cases.map((one) => `${JSON.stringify(one)}\n`).join(''),
    encoding: 'utf8',
    maxBuffer: 2 ** 29,
    env: { ...process.env, PYGAME_HIDE_SUPPORT_PROMPT: '1' },
  });
  if (driver.status !== 0)
    throw new Error(`the driver ended with ${driver.status}: ${driver.stderr.slice(-2000)}`);
  return driver.stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
}

/** Now and then another action, which may be refused. */
function change(action, random) {
  if (random.nextFloat() >= CHANGED_FRACTION) return action;
  const others = [
    'jump',
    '',
    'drop',
    'toggle',
    'check available actions',
    'move forward',
    'Turn Left',
    'pickup red ball 1',
  ];
  const forms = [
    () => others[random.nextBelow(others.length)],
    () => action.replace(/\d+$/, '2'),
    () => `go to ${action}`,
  ];
  return forms[random.nextBelow(forms.length)]();
}

function playHere(index, task) {
  const random = new Pcg32(index);
  const agent = grid.agents.find(({ name }) => name === (index % 3 === 0 ? 'random' : 'expert'));
  const world = grid.create();
  let observation = world.reset({ task, seed: 0 });
  const answers = [{ text: observation.text, reward: 0, terminated: false, isCarriedOut: true }];
  const actions = [];
  while (actions.length < MOST_ACTIONS) {
    const action = change(agent.act(world, observation, () => random.nextFloat()), random); // oxfmt-ignore
    const isCarriedOut = world.situation.movesByAction.get(action.toLowerCase())?.length > 0;
    const result = world.step(action);
    actions.push(action);
    const { reward, terminated } = result;
    answers.push({ text: result.observation.text, reward, terminated, isCarriedOut });
    observation = result.observation;
    if (terminated || result.truncated) break;
  }
  return { actions, answers };
}

function agrees(ours, [text, reward, done]) {
  const paysTheSame = !ours.isCarriedOut || Math.abs(ours.reward - reward) < 1e-9;
  return ours.text === text && ours.terminated === done && paysTheSame;
}

/** The same actions, on the server as it is. */
async function playOverHttp(episodes, directory) {
  const server = await startAgentGym('babyai', { agentgym: values.agentgym, directory });
  const answerOf = ({ observation, reward, done }) => [observation, reward, done];
  try {
    const played = [];
    for (const [index, { actions }] of episodes.entries()) {
      const episode = await AgentGymEpisode.open(server.url);
      const answers = [answerOf(await episode.reset(index))];
      for (const action of actions) answers.push(answerOf(await episode.step(action)));
      await episode.close();
      played.push(answers);
    }
    return played;
  } finally {
    server.stop();
  }
}

function compare(how, { episodes, tasks, played }, table) {
  let numEqual = 0;
  let numAnswers = 0;
  let numEqualEpisodes = 0;
  for (const [index, { answers, actions }] of episodes.entries()) {
    const equal = answers.map((answer, step) => agrees(answer, played[index][step]));
    numAnswers += answers.length;
    numEqual += equal.filter(Boolean).length;
    const differs = equal.indexOf(false);
    if (differs < 0) numEqualEpisodes += 1;
    else
      console.log(index, tasks[index].family, actions[differs - 1], answers[differs], played[index][differs]);
  }
  const unit = `of ${episodes.length}`;
  table.add(`${how}: episodes with every answer equal`, numEqualEpisodes, unit, { least: episodes.length }, { required: true }); // oxfmt-ignore
  table.add(`${how}: answers compared`, numAnswers, '');
  table.add(`${how}: answers equal`, numEqual, '', { least: numAnswers }, { required: true });
}

const installed = await installAgentGym(values.agentgym);
if ('unavailable' in installed) {
  console.log(`babyai-fidelity: skipped, because ${installed.unavailable}`);
  process.exit();
}
const indices = Array.from({ length: NUM_FAMILIES * Number(values.rounds) }, (_, index) => index);
const tasks = drive(
  installed,
  indices.map((index) => ({ index })),
);
const episodes = tasks.map((task, index) => playHere(index, task));
const table = new FigureTable('grid against BabyAI of AgentGym');
const families = new Set(tasks.map(({ family }) => family));
table.add('families', families.size, '', { least: NUM_FAMILIES }, { required: true });
const inProcess = drive(
  installed,
  episodes.map(({ actions }, index) => ({ index, actions })),
);
compare('in process', { episodes, tasks, played: inProcess }, table);
const folder = makeDataDirectory();
try {
  compare('over HTTP', { episodes, tasks, played: await playOverHttp(episodes, folder.path) }, table);
} finally {
  folder.remove();
}
const numEnded = episodes.filter(({ answers }) => answers.at(-1).terminated).length;
table.add('episodes that ended with the task solved', numEnded, '');
table.save(
  'AgentGym 3ef9235 on MiniGrid 2.3.1 (PyPI), task indices from 0: its server unmodified over HTTP, and its class BabyAIEnv. The state of MiniGrid is read into tasks with the rules "agentgym". Rewards of refused actions differ by design: −0.1 here, the last reward again there.',
);
