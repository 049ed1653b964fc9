import type { EnvironmentSpec } from '../environment.js';
import { randomAgent } from '../random-agents.js';
import { deriveSeed } from '../random/derive-seed.js';
import { Pcg32 } from '../random/pcg32.js';
import { defineEnvironment } from '../registry.js';
import { splitOf } from '../task-split.js';
import { drawLevel, GRID_FAMILIES } from './draw-level.js';
import { costLeft, gridExpert } from './grid-agents.js';
import { GRID_WORDS } from './grid-words.js';
import { parseLevelTask, type Level, type LevelTask } from './level.js';
import { startState, type GridState } from './moves.js';
import { GRID_MAX_STEPS, RoomGrid } from './room-grid.js';

const words = new Set(GRID_WORDS);

/** Rooms in BabyAI's words: ten families of levels, each drawn as often as the others. */
export const grid = defineEnvironment({
  name: 'grid',
  description:
    'BabyAI in text: go to, pick up, open, put next and unlock in one to four rooms, at most 60 actions',
  maxSteps: GRID_MAX_STEPS,
  words: GRID_WORDS,
  actionWords: null,
  splitsAreDisjoint: true,
  offersAnchors: true,
  create: () => new RoomGrid(words),
  sampleTask({ split, index, seed }) {
    const taskSeed = deriveSeed('grid', seed, split, index);
    const random = new Pcg32(taskSeed);
    const family = GRID_FAMILIES[random.nextBelow(GRID_FAMILIES.length)];
    for (;;) {
      const task = drawLevel(random, family);
      if (splitOf(JSON.stringify(task)) === split && isSuitable(task))
        return { task: { ...task }, seed: taskSeed };
    }
  },
  familyOf: (task) => parseLevelTask(task).family,
  agents: [randomAgent([]), gridExpert],
} satisfies EnvironmentSpec);

/** Whether it asks for two things where it names two, and they can be reached. */
function isSuitable(task: LevelTask): boolean {
  const targets = task.instructions.flatMap(([, target, beside]) =>
    beside === null ? [target] : [target, beside],
  );
  if (new Set(targets).size < targets.length) return false;
  if (
    task.family === 'put-next' &&
    targets.some((name) => task.things.filter(([kind, color]) => name === `${color} ${kind}`).length > 1)
  )
    return false;
  const level = parseLevelTask({ ...task });
  const start = startState(level);
  const cost = costLeft(level, start);
  return cost > 0 && cost < Infinity && canEndStages(level, start);
}

/** Whether nothing that is named is shut in. */
function canEndStages(level: Level, start: GridState): boolean {
  const goTo = level.instructions.flatMap(({ target, beside }) =>
    beside === null ? [target] : [target, beside],
  );
  const opened = start.things.map((thing) =>
    thing.door === null ? thing : { ...thing, door: 'open' as const },
  );
  return goTo.every((target) => {
    const single = { ...level, instructions: [{ verb: 'go to' as const, target, beside: null }] };
    return costLeft(single, { ...start, things: opened, isFulfilled: [false] }) < Infinity;
  });
}
