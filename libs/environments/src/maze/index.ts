import { deriveSeed, Pcg32, pick } from '@retrace/random';
import type { Environment, EnvironmentSpec, ScriptedAgent } from '../environment.js';
import { EnvironmentError } from '../errors.js';
import { DIRECTIONS } from '../grid/directions.js';
import { randomAgent, randomVocabularyAgent } from '../random-agents.js';
import { defineEnvironment } from '../registry.js';
import { splitOf } from '../task-split.js';
import { drawMaze } from './draw-maze.js';
import { distancesToGoal, formatMaze, walk, type MazeMap } from './maze-map.js';
import { MAZE_WORDS } from './maze-words.js';
import { MAZE_MAX_STEPS, Maze } from './maze.js';

/** The maze of LMRL-Gym, which AgentGym serves too: row 8, column 6 is the goal, any of the other 25 open cells the start. */
const LMRL_MAZE: readonly string[] = [
  '#############',
  '#_____#_____#',
  '###_#####_###',
  '###_#####_###',
  '###_#####_###',
  '###_______###',
  '######_######',
  '######_######',
  '######G######',
  '#############',
];

const DRAWN_RULES = { side: 9, loopProbability: 0.1, minMoves: 4, maxMoves: 30 };

/** Takes a shortest way; it knows the whole maze. */
const mazeExpert: ScriptedAgent = {
  name: 'expert',
  act(environment, _observation, random) {
    const { map, position } = asMaze(environment);
    const distances = distancesToGoal(map);
    const nearer = DIRECTIONS.filter(
      (_, direction) => distances[walk(map, position, direction)] < distances[position],
    );
    return pick(nearer, random);
  },
};

const shared = {
  maxSteps: MAZE_MAX_STEPS,
  words: MAZE_WORDS,
  actionWords: DIRECTIONS,
  offersAnchors: true,
  create: () => new Maze(),
  agents: [randomAgent(DIRECTIONS), randomVocabularyAgent(MAZE_WORDS), mazeExpert],
} satisfies Partial<EnvironmentSpec>;

/** A maze for each task. Whether it is for training or held out depends on its walls and its goal, not on the start. */
export const maze = defineEnvironment({
  ...shared,
  name: 'maze',
  description:
    'Random 9×9 mazes: find the way to the goal in at most 50 moves, told only the walls next to you',
  splitsAreDisjoint: true,
  sampleTask({ split, index, seed }) {
    const taskSeed = deriveSeed('maze', seed, split, index);
    const accepts = ({ walls, goal }: Omit<MazeMap, 'start'>): boolean =>
      splitOf(`${walls.join('')}@${goal}`) === split;
    const map = drawMaze(new Pcg32(taskSeed), { ...DRAWN_RULES, accepts });
    return { task: { maze: formatMaze(map) }, seed: taskSeed };
  },
});

/** One and the same maze from each of its cells: a policy can learn it by heart, so all splits share their tasks. */
export const lmrlMaze = defineEnvironment({
  ...shared,
  name: 'lmrl-maze',
  description: "LMRL-Gym's maze, from any of its cells: find the way to the goal in at most 50 moves",
  splitsAreDisjoint: false,
  sampleTask({ split, index, seed }) {
    const taskSeed = deriveSeed('lmrl-maze', seed, split, index);
    const width = LMRL_MAZE[0].length;
    const open = [...LMRL_MAZE.join('')].flatMap((character, cell) => (character === '_' ? [cell] : []));
    const start = pick(open, () => new Pcg32(taskSeed).nextFloat());
    const rows = LMRL_MAZE.map((row, index) =>
      [...row].map((character, column) => (index * width + column === start ? 'S' : character)).join(''),
    );
    return { task: { maze: rows }, seed: taskSeed };
  },
});

function asMaze(environment: Environment): Maze {
  if (environment instanceof Maze) return environment;
  throw new EnvironmentError('WRONG_ENVIRONMENT', 'this agent plays mazes only');
}
