import { pick } from '@retrace/random';
import type { Environment, ScriptedAgent } from '../environment.js';
import { EnvironmentError } from '../errors.js';
import { DIRECTIONS } from '../grid/directions.js';
import { Sokoban } from './sokoban.js';
import { solveRoom } from './solve-room.js';

/** Takes a way with the fewest moves, which also has the largest return; moves at random once a room can't be solved any more. */
export const sokobanExpert: ScriptedAgent = {
  name: 'expert',
  act(environment, _observation, random) {
    const { room, state } = asSokoban(environment);
    const solution = solveRoom(room, state);
    return solution === null ? pick(DIRECTIONS, random) : DIRECTIONS[solution[0]];
  },
};

function asSokoban(environment: Environment): Sokoban {
  if (environment instanceof Sokoban) return environment;
  throw new EnvironmentError('WRONG_ENVIRONMENT', 'this agent plays sokoban only');
}
