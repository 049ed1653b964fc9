import { deriveSeed, Pcg32 } from '@retrace/random';
import type { EnvironmentSpec } from '../environment.js';
import { DIRECTIONS } from '../grid/directions.js';
import { randomAgent, randomVocabularyAgent } from '../random-agents.js';
import { defineEnvironment } from '../registry.js';
import { requireInteger } from '../require-integer.js';
import { splitOf } from '../task-split.js';
import { drawRoom } from './draw-room.js';
import { sokobanExpert } from './sokoban-agents.js';
import { MAX_BOXES, formatRoom, type SokobanRoom } from './sokoban-room.js';
import { SokobanWords } from './sokoban-words.js';
import { Sokoban } from './sokoban.js';

export interface SokobanRules {
  readonly name: string;
  /** Rows and columns of the rooms, outer walls included (default 6). */
  readonly side?: number;
  /** Boxes of the rooms that are drawn (default 1). */
  readonly numBoxes?: number;
  /** Fewest and most moves of the shortest solution of the rooms that are drawn (default 4 and 15). */
  readonly minMoves?: number;
  readonly maxMoves?: number;
  /** Moves after which an episode is cut (default twice `maxMoves`). */
  readonly maxSteps?: number;
}

/**
 * Makes a sokoban with rooms of the given size and number of boxes; give it to `defineEnvironment`. Whether a room is for training or
 * held out depends only on its walls and targets, so training never passes through the start of a held-out room.
 *
 * @throws EnvironmentError `INVALID_ARGUMENT` unless side is 5 to 8, numBoxes 1 to 3, and 1 ≤ minMoves ≤ maxMoves ≤ maxSteps
 */
export function sokobanSpec(rules: SokobanRules): EnvironmentSpec {
  const { name, side = 6, numBoxes = 1, minMoves = 4, maxMoves = 15, maxSteps = 2 * maxMoves } = rules;
  requireInteger('side', side, { least: 5, most: 8 });
  requireInteger('numBoxes', numBoxes, { least: 1, most: MAX_BOXES });
  requireInteger('maxMoves', maxMoves, { least: 1, most: maxSteps });
  requireInteger('minMoves', minMoves, { least: 1, most: maxMoves });
  const words = new SokobanWords(side);
  const boxes = numBoxes === 1 ? 'the box onto the target' : `${numBoxes} boxes onto the targets`;
  return {
    name,
    description: `Random ${side}×${side} rooms: push ${boxes} in at most ${maxSteps} moves`,
    maxSteps,
    words: words.all,
    actionWords: DIRECTIONS,
    splitsAreDisjoint: true,
    offersAnchors: true,
    create: () => new Sokoban({ side, maxSteps, words }),
    sampleTask({ split, index, seed }) {
      const taskSeed = deriveSeed(name, seed, split, index);
      const accepts = ({ walls, targets }: SokobanRoom): boolean =>
        splitOf(Array.from(walls, (wall, cell) => wall + 2 * targets[cell]).join('')) === split;
      const { room, start } = drawRoom(new Pcg32(taskSeed), { side, numBoxes, minMoves, maxMoves, accepts });
      return { task: { room: formatRoom(room, start) }, seed: taskSeed };
    },
    agents: [randomAgent(DIRECTIONS), randomVocabularyAgent(words.all), sokobanExpert],
  };
}

/** Rooms with one box. */
export const sokoban = defineEnvironment(sokobanSpec({ name: 'sokoban' }));

/** Rooms with two boxes, which can block each other. */
export const sokobanTwoBoxes = defineEnvironment(
  sokobanSpec({ name: 'sokoban-two-boxes', numBoxes: 2, minMoves: 6, maxMoves: 25 }),
);
