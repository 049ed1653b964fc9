import { pick } from '@retrace/random';
import type { Environment, ScriptedAgent } from '../environment.js';
import { EnvironmentError } from '../errors.js';
import { FrozenLake } from './frozen-lake.js';
import { MOVES, distancesToGoal, manhattanDistance, neighbour } from './lake-map.js';

const ALL_MOVES: readonly number[] = MOVES.map((_, move) => move);

/** Shortest path; a random one of the moves that are equally good. */
export const lakeExpert: ScriptedAgent = {
  name: 'expert',
  act(environment, _observation, random) {
    const lake = asLake(environment);
    const distances = distancesToGoal(lake.map);
    const here = distances[lake.position];
    return MOVES[
      pick(
        ALL_MOVES.filter((move) => distances[neighbour(lake.position, move)] < here),
        random,
      )
    ];
  },
};

/** Walks toward the goal regardless of holes: a random one of the moves that come nearer. */
export const lakeGreedy: ScriptedAgent = {
  name: 'greedy',
  act(environment, _observation, random) {
    return MOVES[pick(movesToward(asLake(environment)), random)];
  },
};

/** Walks toward the goal as `greedy`, but avoids a hole one cell ahead if another move comes nearer, too. */
export const lakeGreedyAvoid: ScriptedAgent = {
  name: 'greedy-avoid',
  act(environment, _observation, random) {
    const lake = asLake(environment);
    const nearer = movesToward(lake);
    const safe = nearer.filter((move) => lake.map.holes[neighbour(lake.position, move)] === 0);
    return MOVES[pick(safe.length > 0 ? safe : nearer, random)];
  },
};

function movesToward(lake: FrozenLake): number[] {
  const here = manhattanDistance(lake.position, lake.map.goal);
  return ALL_MOVES.filter((move) => manhattanDistance(neighbour(lake.position, move), lake.map.goal) < here);
}

function asLake(environment: Environment): FrozenLake {
  if (environment instanceof FrozenLake) return environment;
  throw new EnvironmentError('WRONG_ENVIRONMENT', 'this agent plays frozen lake only');
}
