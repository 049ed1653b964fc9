import { MIDDLE, NINE_ROOMS, ONE_ROOM, type GridFamily } from './family.js';
import { clause, only, UnsuitableDraw, type DrawnThing, type LevelBuilder } from './level-builder.js';
import { drawAnyMission, ANY_MISSION } from './any-mission.js';
import type { MissionTask } from './mission.js';

function goTo(thing: DrawnThing): { readonly mission: MissionTask } {
  return { mission: only(clause('go to', thing)) };
}

function goToRedBall(
  builder: LevelBuilder,
  numOthers: number,
  color?: string,
): { readonly mission: MissionTask } {
  builder.placeAgent();
  const ball = builder.addThing([0, 0], 'ball', 'red');
  const others = builder.addThings(numOthers, { areUnique: false });
  if (color !== undefined) for (const thing of others) thing.color = color;
  builder.requireReachable();
  return goTo(ball);
}

function goToAnything(builder: LevelBuilder, numThings: number): { readonly mission: MissionTask } {
  builder.placeAgent();
  builder.connectAll();
  const things = builder.addThings(numThings, { areUnique: false });
  builder.requireReachable();
  return goTo(builder.pick(things));
}

/** Four doors of the middle room, which may be locked. */
function addMiddleDoors(builder: LevelBuilder): DrawnThing[] {
  return Array.from({ length: 4 }, () => builder.addDoor(MIDDLE));
}

/** A thing behind a locked door, whose key is elsewhere. */
function goToBehindLock(builder: LevelBuilder): { readonly mission: MissionTask } {
  const lockedRoom = addLockAndKey(builder);
  builder.connectAll();
  addThingsElsewhere(builder, lockedRoom, 2);
  builder.requireReachable();
  return goTo(builder.addThings(1, { room: lockedRoom, areUnique: false })[0]);
}

/** A locked door out of a random room, and its key in another room. */
export function addLockAndKey(builder: LevelBuilder): readonly [number, number] {
  const lockedRoom = builder.anyRoom();
  const { color } = builder.addDoor(lockedRoom, { isLocked: true });
  for (;;) {
    const keyRoom = builder.anyRoom();
    if (keyRoom[0] === lockedRoom[0] && keyRoom[1] === lockedRoom[1]) continue;
    builder.addThing(keyRoom, 'key', color);
    return lockedRoom;
  }
}

/** Things in each room except the locked one, and the agent in one of them. */
export function addThingsElsewhere(
  builder: LevelBuilder,
  lockedRoom: readonly [number, number],
  countPerRoom: number,
): void {
  for (let column = 0; column < builder.options.columns; column++) {
    for (let row = 0; row < builder.options.rows; row++) {
      if (column === lockedRoom[0] && row === lockedRoom[1]) continue;
      builder.addThings(countPerRoom, { room: [column, row], areUnique: false });
    }
  }
  do builder.placeAgent();
  while (builder.agentIsIn(lockedRoom));
}

/** Families whose mission is to go somewhere. */
export const GO_TO_FAMILIES = {
  'go-to-red-ball-grey': { ...ONE_ROOM, draw: (builder) => goToRedBall(builder, 7, 'grey') },
  'go-to-red-ball': { ...ONE_ROOM, draw: (builder) => goToRedBall(builder, 7) },
  'go-to-red-ball-no-dists': { ...ONE_ROOM, draw: (builder) => goToRedBall(builder, 0) },
  'go-to-obj-s6': {
    ...ONE_ROOM,
    // The room of AgentGym's version of MiniGrid, in spite of the name.
    roomSize: 4,
    draw(builder) {
      builder.placeAgent();
      return goTo(builder.addThings(1, { areUnique: true })[0]);
    },
  },
  'go-to-local-s8n7': { ...ONE_ROOM, draw: (builder) => goToAnything(builder, 7) },
  'go-to-obj-maze-s7': { ...NINE_ROOMS, roomSize: 7, draw: (builder) => goToAnything(builder, 1) },
  'go-to-imp-unlock': { ...NINE_ROOMS, draw: goToBehindLock },
  'go-to-seq-s5r2': {
    roomSize: 5,
    rows: 2,
    columns: 2,
    draw: (builder) => ({
      mission: drawAnyMission(builder, {
        ...ANY_MISSION,
        numThings: 4,
        verbs: ['go to'],
        lockedRoomChance: 0,
        hasLocations: false,
        needsUnblocking: false,
      }),
    }),
  },
  'go-to-red-blue-ball': {
    ...ONE_ROOM,
    draw(builder) {
      builder.placeAgent();
      const others = builder.addThings(7, { areUnique: false });
      if (others.some(({ kind, color }) => kind === 'ball' && (color === 'red' || color === 'blue')))
        throw new UnsuitableDraw('more than one red or blue ball');
      const ball = builder.addThing([0, 0], 'ball', builder.pick(['red', 'blue']));
      builder.requireReachable();
      return goTo(ball);
    },
  },
  'go-to-door': {
    ...NINE_ROOMS,
    roomSize: 7,
    draw(builder) {
      const doors = addMiddleDoors(builder);
      builder.placeAgent(MIDDLE);
      return goTo(builder.pick(doors));
    },
  },
  'go-to-obj-door': {
    ...NINE_ROOMS,
    draw(builder) {
      builder.placeAgent(MIDDLE);
      const things = builder.addThings(8, { room: MIDDLE, areUnique: false });
      const doors = addMiddleDoors(builder);
      builder.requireReachable();
      return goTo(builder.pick([...things, ...doors]));
    },
  },
} as const satisfies Readonly<Record<string, GridFamily>>;
