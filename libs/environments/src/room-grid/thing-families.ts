import { ANY_MISSION, drawAnyMission, requireSensible } from './any-mission.js';
import { MIDDLE, NINE_ROOMS, ONE_ROOM, type DrawnMission, type GridFamily } from './family.js';
import { clause, only, UnsuitableDraw, type LevelBuilder } from './level-builder.js';

const ONLY_THINGS = { needsUnblocking: false };

/** Many things in nine rooms. @param isBlocked one of them can't be reached without moving another */
function pickUpAnywhere(builder: LevelBuilder, numThings: number, isBlocked: boolean): DrawnMission {
  builder.placeAgent();
  builder.connectAll();
  const things = builder.addThings(numThings, { areUnique: false });
  if (builder.areAllReachable() === isBlocked)
    throw new UnsuitableDraw('things that can or cannot be reached');
  return { mission: only(clause('pick up', builder.pick(things))) };
}

/** Five things in a room, one of them named by its kind, its color or both; a wrong one fails the task. */
function pickUpNamed(builder: LevelBuilder): DrawnMission {
  const things = builder.addThings(5, { areUnique: true });
  builder.placeAgent([0, 0]);
  const { kind, color } = builder.pick(things);
  const text = builder.pick([kind, `${color} object`, `${color} ${kind}`]);
  return { mission: only(clause('pick up', text, null, true)) };
}

/** Two rooms made into one, with things in both. The agent carries what is to be put beside a thing of the other room. */
function putNextCarrying(builder: LevelBuilder): DrawnMission {
  builder.placeAgent([0, 0]);
  const sides = ([[0, 0], [1, 0]] as const).map((room) => builder.addThings(4, { room, areUnique: true })); // oxfmt-ignore
  builder.removeWall([0, 0], 0);
  const [left, right] = sides.map((things) => builder.pick(things));
  const [moved, fixed] = builder.chance() ? [right, left] : [left, right];
  const put = clause('put', moved, fixed);
  requireSensible(builder, put, ONLY_THINGS);
  builder.carrying = builder.things.indexOf(moved);
  return { mission: only(put), maxMoves: 8 * builder.options.roomSize ** 2 };
}

function moveTwoAcross(builder: LevelBuilder): DrawnMission {
  builder.placeAgent([0, 0]);
  const sides = ([[0, 0], [1, 0]] as const).map((room) => builder.addThings(9, { room, areUnique: true })); // oxfmt-ignore
  builder.removeWall([0, 0], 0);
  const [[a, d], [b, c]] = sides.map((things) => builder.pickSome(things, 2));
  const parts = [[clause('put', a, b)], [clause('put', c, d)]];
  for (const [put] of parts) requireSensible(builder, put, ONLY_THINGS);
  return { mission: { parts, order: 'then' }, maxMoves: 16 * builder.options.roomSize ** 2 };
}

/** Three rooms in the middle made into one, a ball behind a locked door on the right, its key behind a door on the left. */
function keyCorridor(builder: LevelBuilder): DrawnMission {
  const { rows } = builder.options;
  for (let row = 1; row < rows; row++) builder.removeWall([1, row], 3);
  const row = builder.below(rows);
  const { color } = builder.addDoor([2, row], { side: 2, isLocked: true });
  builder.addThing([2, row], 'ball');
  builder.addThing([0, builder.below(rows)], 'key', color);
  builder.placeAgent([1, Math.floor(rows / 2)]);
  builder.connectAll();
  return { mission: only(clause('pick up', 'ball')), maxMoves: 30 * builder.options.roomSize ** 2 };
}

function anyActionHere(builder: LevelBuilder): DrawnMission {
  const things = builder.addThings(5, { room: MIDDLE, areUnique: true });
  const doors = Array.from({ length: 4 }, () => builder.addDoor(MIDDLE, { isLocked: false }));
  builder.placeAgent(MIDDLE);
  const thing = builder.pick([...things, ...doors]);
  const other = thing.kind === 'door' ? 'open' : 'pick up';
  return { mission: only(clause(builder.chance() ? 'go to' : other, thing)) };
}

/** Families about picking things up and putting them somewhere. */
export const THING_FAMILIES = {
  pickup: { ...NINE_ROOMS, draw: (builder) => pickUpAnywhere(builder, 18, false) },
  'unblock-pickup': { ...NINE_ROOMS, draw: (builder) => pickUpAnywhere(builder, 20, true) },
  'pickup-loc': {
    ...ONE_ROOM,
    draw: (builder) => ({
      mission: drawAnyMission(builder, {
        ...ANY_MISSION,
        numThings: 8,
        verbs: ['pick up'],
        forms: ['one'],
        lockedRoomChance: 0,
        needsUnblocking: false,
      }),
    }),
  },
  'pickup-dist-debug': { ...ONE_ROOM, roomSize: 7, draw: pickUpNamed },
  'pickup-above': {
    ...NINE_ROOMS,
    roomSize: 6,
    draw(builder) {
      const thing = builder.addThing([1, 0]);
      builder.addDoor(MIDDLE, { side: 3, isLocked: false });
      builder.placeAgent(MIDDLE);
      builder.connectAll();
      return { mission: only(clause('pick up', thing)), maxMoves: 8 * builder.options.roomSize ** 2 };
    },
  },
  'put-next-local-s6n4': {
    ...ONE_ROOM,
    roomSize: 6,
    draw(builder) {
      builder.placeAgent();
      const things = builder.addThings(4, { areUnique: true });
      builder.requireReachable();
      const [moved, fixed] = builder.pickSome(things, 2);
      const put = clause('put', moved, fixed);
      requireSensible(builder, put, ONLY_THINGS);
      return { mission: only(put) };
    },
  },
  'put-next-s7n4-carrying': { roomSize: 7, rows: 1, columns: 2, draw: putNextCarrying },
  'action-obj-door': { ...NINE_ROOMS, roomSize: 7, draw: anyActionHere },
  'find-obj-s7': {
    ...NINE_ROOMS,
    roomSize: 7,
    draw(builder) {
      const { kind } = builder.addThing(builder.anyRoom());
      builder.placeAgent(MIDDLE);
      builder.connectAll();
      return { mission: only(clause('pick up', kind)), maxMoves: 20 * builder.options.roomSize ** 2 };
    },
  },
  'key-corridor-s6r3': { ...NINE_ROOMS, roomSize: 6, draw: keyCorridor },
  'one-room-s20': {
    ...ONE_ROOM,
    roomSize: 20,
    draw(builder) {
      builder.addThing([0, 0], 'ball');
      builder.placeAgent();
      return { mission: only(clause('pick up', 'ball')) };
    },
  },
  'move-two-across-s8n9': { roomSize: 8, rows: 1, columns: 2, draw: moveTwoAcross },
} as const satisfies Readonly<Record<string, GridFamily>>;
