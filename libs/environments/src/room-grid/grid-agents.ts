import { pick } from '@retrace/random';
import type { Environment, ScriptedAgent } from '../environment.js';
import { EnvironmentError } from '../errors.js';
import { planMoves } from './grid-plan.js';
import type { Level } from './level.js';
import { makeMove, type GridState } from './moves.js';
import { makeMoves, RoomGrid } from './room-grid.js';

/** Knows the whole level: takes the action that leads farthest along its plan; a random one where it has none. */
export const gridExpert: ScriptedAgent = {
  name: 'expert',
  act(environment, _observation, random) {
    const { rules, gridState, situation } = asGrid(environment);
    const actions = [...situation.movesByAction].filter(([, moves]) => moves.length > 0);
    const plan = planMoves(rules.level, gridState);
    const planned = plan === null ? null : actionAlong(rules.level, gridState, plan, actions);
    return (
      planned ??
      pick(
        actions.map(([action]) => action),
        random,
      )
    );
  },
};

/** The action whose effect is that of the whole plan, else the one that ends farthest on its way; null for none. */
function actionAlong(
  level: Level,
  start: GridState,
  plan: readonly number[],
  actions: readonly (readonly [action: string, moves: readonly number[]])[],
): string | null {
  const places = new Map<string, number>();
  let state = start;
  for (const [i, move] of plan.entries()) {
    state = makeMove(level, state, move);
    places.set(describePose(state), i + 1);
  }
  const aim = describeEffect(state);
  const changes = aim !== describeEffect(start);
  let best: { readonly action: string; readonly place: number; readonly numMoves: number } | null = null;
  for (const [action, moves] of actions) {
    const end = makeMoves(level, start, moves);
    const isAim = changes && describeEffect(end) === aim;
    const place = isAim ? plan.length + 1 : (places.get(describePose(end)) ?? 0);
    const { numMoves } = end;
    const isBetter =
      best === null || place > best.place || (place === best.place && numMoves < best.numMoves);
    if (place > 0 && isBetter) best = { action, place, numMoves };
  }
  return best?.action ?? null;
}

/** Everything except pose and number of moves. */
function describeEffect({ carrying, things, progress }: GridState): string {
  const { isDone, status } = progress;
  return JSON.stringify([carrying, things.map(({ x, y, state }) => [x, y, state]), isDone, status]);
}

function describePose(state: GridState): string {
  return `${state.x},${state.y},${state.heading} ${describeEffect(state)}`;
}

function asGrid(environment: Environment): RoomGrid {
  if (environment instanceof RoomGrid) return environment;
  throw new EnvironmentError('WRONG_ENVIRONMENT', 'this agent plays grid only');
}
