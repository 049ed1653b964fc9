import { MIDDLE, NINE_ROOMS, type DrawnMission, type GridFamily } from './family.js';
import { addLockAndKey, addThingsElsewhere } from './go-to-families.js';
import { clause, only, type LevelBuilder, type Side } from './level-builder.js';
import { LOCATION_NAMES } from './mission.js';
import { COLORS } from './thing.js';

const SIDES: readonly Side[] = [0, 1, 2, 3];

/** The middle room of nine 6×6 ones, where each move counts for more than in the other levels. */
const SIX = { ...NINE_ROOMS, roomSize: 6 } as const;
const TWO_ROOMS = { roomSize: 6, rows: 1, columns: 2 } as const;
const SIX_SQUARED = 36;

function openDoorsInOrder(builder: LevelBuilder): DrawnMission {
  const doors = builder
    .pickSome(COLORS, 4)
    .map((color) => builder.addDoor(MIDDLE, { color, isLocked: false }));
  builder.placeAgent(MIDDLE);
  const [first, second] = builder.pickSome(doors, 2).map((door) => clause('open', door, null, true));
  const order = builder.pick([null, 'then', 'after'] as const);
  const parts = order === null ? [[first]] : [[first], [second]];
  return { mission: { parts, order }, maxMoves: 20 * SIX_SQUARED };
}

function unlockAnywhere(builder: LevelBuilder): DrawnMission {
  const lockedRoom = addLockAndKey(builder);
  const [{ color }] = builder.things;
  // In half of the levels the locked door is the only one of its color.
  builder.connectAll(builder.chance() ? COLORS.filter((other) => other !== color) : COLORS);
  addThingsElsewhere(builder, lockedRoom, 3);
  builder.requireReachable();
  return { mission: only(clause('open', `${color} door`)) };
}

/** A box behind a locked door, with the key on this side. */
function boxBehindLock(builder: LevelBuilder, isBlocked: boolean): DrawnMission {
  const box = builder.addThing([1, 0], 'box');
  const door = builder.addDoor([0, 0], { side: 0, isLocked: true });
  if (isBlocked)
    builder.put({ kind: 'ball', color: builder.pick(COLORS), x: door.x - 1, y: door.y, state: null });
  builder.addThing([0, 0], 'key', door.color);
  if (!isBlocked) builder.addThings(4, { areUnique: true });
  builder.placeAgent([0, 0]);
  if (isBlocked) return { mission: only(clause('pick up', 'box')), maxMoves: 16 * SIX_SQUARED };
  return { mission: only(clause('pick up', box)) };
}

/** Families about doors and keys. */
export const DOOR_FAMILIES = {
  open: {
    ...NINE_ROOMS,
    draw(builder) {
      builder.placeAgent();
      builder.connectAll();
      builder.addThings(18, { areUnique: false });
      builder.requireReachable();
      return {
        mission: only(clause('open', builder.pick(builder.things.filter(({ kind }) => kind === 'door')))),
      };
    },
  },
  'open-red-door': {
    roomSize: 5,
    rows: 1,
    columns: 2,
    draw(builder) {
      const door = builder.addDoor([0, 0], { side: 0, color: 'red', isLocked: false });
      builder.placeAgent([0, 0]);
      return { mission: only(clause('open', door)) };
    },
  },
  'open-door-loc': {
    ...NINE_ROOMS,
    draw(builder) {
      const colors = builder.pickSome(COLORS, SIDES.length);
      for (const side of SIDES) builder.addDoor(MIDDLE, { side, color: colors[side], isLocked: false });
      builder.placeAgent(MIDDLE);
      return { mission: only(clause('open', `door ${builder.pick(LOCATION_NAMES)}`)) };
    },
  },
  'open-red-blue-doors-debug': {
    ...SIX,
    draw(builder) {
      const red = builder.addDoor(MIDDLE, { side: 2, color: 'red', isLocked: false });
      const blue = builder.addDoor(MIDDLE, { side: 0, color: 'blue', isLocked: false });
      builder.placeAgent(MIDDLE);
      const parts = [[clause('open', red, null, true)], [clause('open', blue)]];
      return { mission: { parts, order: 'then' }, maxMoves: 20 * SIX_SQUARED };
    },
  },
  'open-doors-order-n4-debug': { ...SIX, draw: openDoorsInOrder },
  unlock: { ...NINE_ROOMS, draw: unlockAnywhere },
  'unlock-local-dist': {
    ...NINE_ROOMS,
    draw(builder) {
      const { color } = builder.addDoor(MIDDLE, { isLocked: true });
      builder.addThing(MIDDLE, 'key', color);
      builder.addThings(3, { room: MIDDLE, areUnique: true });
      builder.placeAgent(MIDDLE);
      return { mission: only(clause('open', 'door')) };
    },
  },
  'key-in-box': {
    ...NINE_ROOMS,
    draw(builder) {
      const { color } = builder.addDoor(MIDDLE, { isLocked: true });
      const { x, y } = builder.addThing(MIDDLE, 'box');
      builder.put({ kind: 'key', color, x, y, state: 'boxed' });
      builder.placeAgent(MIDDLE);
      return { mission: only(clause('open', 'door')) };
    },
  },
  'unlock-pickup-dist': { ...TWO_ROOMS, draw: (builder) => boxBehindLock(builder, false) },
  'blocked-unlock-pickup': { ...TWO_ROOMS, draw: (builder) => boxBehindLock(builder, true) },
  'unlock-to-unlock': {
    roomSize: 6,
    rows: 1,
    columns: 3,
    draw(builder) {
      const [outer, inner] = builder.pickSome(COLORS, 2);
      builder.addDoor([0, 0], { side: 0, color: outer, isLocked: true });
      builder.addThing([2, 0], 'key', outer);
      builder.addDoor([1, 0], { side: 0, color: inner, isLocked: true });
      builder.addThing([1, 0], 'key', inner);
      builder.addThing([0, 0], 'ball');
      builder.placeAgent([1, 0]);
      return { mission: only(clause('pick up', 'ball')), maxMoves: 30 * SIX_SQUARED };
    },
  },
} as const satisfies Readonly<Record<string, GridFamily>>;
