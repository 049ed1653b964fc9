import type { Pcg32 } from '@retrace/random';
import { ANY_MISSION, drawAnyMission, type AnyMissionRules } from './any-mission.js';
import { DOOR_FAMILIES } from './door-families.js';
import { NINE_ROOMS, type GridFamily } from './family.js';
import { GO_TO_FAMILIES } from './go-to-families.js';
import type { LevelTask } from './level.js';
import { LevelBuilder, UnsuitableDraw } from './level-builder.js';
import { THING_FAMILIES } from './thing-families.js';

function anyMission(
  rules: Partial<AnyMissionRules>,
  rooms: Omit<GridFamily, 'draw'> = NINE_ROOMS,
): GridFamily {
  return {
    ...rooms,
    draw: (builder) => ({ mission: drawAnyMission(builder, { ...ANY_MISSION, ...rules }) }),
  };
}

const FAMILIES = {
  ...GO_TO_FAMILIES,
  ...DOOR_FAMILIES,
  ...THING_FAMILIES,
  'synth-s5r2': anyMission(
    { forms: ['one'], hasLocations: false, needsUnlocking: false },
    { roomSize: 5, rows: 2, columns: 3 },
  ),
  'synth-loc': anyMission({ forms: ['one'], needsUnlocking: false }),
  'synth-seq': anyMission({ needsUnlocking: false }),
  'mini-boss-level': anyMission(
    { numThings: 7, lockedRoomChance: 0.25 },
    { roomSize: 5, rows: 2, columns: 2 },
  ),
  'boss-level': anyMission({}),
  'boss-level-no-unlock': anyMission({ lockedRoomChance: 0, needsUnlocking: false }),
} as const satisfies Readonly<Record<string, GridFamily>>;

export type GridFamilyName = keyof typeof FAMILIES;

/** Families of levels by the names of BabyAI's, in the order in which AgentGym counts them. */
export const GRID_FAMILIES: readonly GridFamilyName[] = [
  'go-to-red-ball-grey', 'go-to-red-ball', 'go-to-red-ball-no-dists', 'go-to-obj-s6', 'go-to-local-s8n7', 'go-to-obj-maze-s7',
  'go-to-imp-unlock', 'go-to-seq-s5r2', 'go-to-red-blue-ball', 'go-to-door', 'go-to-obj-door', 'open', 'open-red-door', 'open-door-loc',
  'open-red-blue-doors-debug', 'open-doors-order-n4-debug', 'pickup', 'unblock-pickup', 'pickup-loc', 'pickup-dist-debug', 'pickup-above',
  'put-next-local-s6n4', 'put-next-s7n4-carrying', 'unlock', 'unlock-local-dist', 'key-in-box', 'unlock-pickup-dist',
  'blocked-unlock-pickup', 'unlock-to-unlock', 'action-obj-door', 'find-obj-s7', 'key-corridor-s6r3', 'one-room-s20',
  'move-two-across-s8n9', 'synth-s5r2', 'synth-loc', 'synth-seq', 'mini-boss-level', 'boss-level', 'boss-level-no-unlock',
]; // oxfmt-ignore

/** Draws a level of a family by BabyAI's rules. Whether it can be solved is for the caller to check. */
export function drawLevel(random: Pcg32, name: GridFamilyName): LevelTask {
  const { draw, roomSize, rows, columns } = FAMILIES[name];
  for (;;) {
    try {
      const builder = new LevelBuilder(random, { family: name, roomSize, rows, columns });
      const { mission, maxMoves } = draw(builder) as ReturnType<GridFamily['draw']>;
      return builder.build(mission, maxMoves);
    } catch (error) {
      if (!(error instanceof UnsuitableDraw)) throw error;
    }
  }
}
