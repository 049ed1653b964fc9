import type { Split } from '@retrace/trajectory';
import { deriveSeed, Pcg32, pick } from '@retrace/random';
import { splitOf } from '../task-split.js';
import {
  LAMP,
  LAMP_PLACES,
  ROOM_CONTENTS,
  ROOM_KINDS,
  THING_KINDS,
  type RoomKind,
} from './household-kinds.js';
import type { HouseholdFamily, HouseholdTask } from './household-task.js';

export type RoomSize = 'large' | 'small';

/** Rooms of each kind, as in ALFRED. */
const NUM_ROOMS = 30;
/** Rooms of the test split, which training never sees. */
const NUM_TEST_ROOMS = 6;

const ROOMS_OF_FAMILY: Readonly<Record<HouseholdFamily, readonly RoomKind[]>> = {
  place: ROOM_KINDS,
  'place-two': ROOM_KINDS,
  'examine-in-light': ['livingroom', 'bedroom'],
  clean: ['kitchen', 'bathroom'],
  heat: ['kitchen'],
  cool: ['kitchen'],
};

/** Where a family's things are treated: they do not belong there in the end. */
const NO_TARGETS: Readonly<Partial<Record<HouseholdFamily, string>>> = {
  clean: 'sinkbasin',
  heat: 'microwave',
  cool: 'fridge',
};

type Room = HouseholdTask['receptacles'];

/**
 * The rooms of a kind, all different: the first six are for tests, as ALFWorld's unseen rooms are, the others for training and validation.
 */
export function drawRooms(kind: RoomKind, size: RoomSize): readonly Room[] {
  const rooms = new Map<string, Room>();
  for (let attempt = 0; rooms.size < NUM_ROOMS; attempt++) {
    const random = new Pcg32(deriveSeed('household-room', kind, size, attempt));
    const room: Record<string, number> = {};
    for (const [receptacle, ...ranges] of ROOM_CONTENTS[kind]) {
      const [least, most] = ranges[size === 'large' ? 0 : 1];
      const count = least + random.nextBelow(most - least + 1);
      if (count > 0) room[receptacle] = count;
    }
    rooms.set(JSON.stringify(room), room);
  }
  return [...rooms.values()];
}

export interface DrawOptions {
  readonly families: readonly HouseholdFamily[];
  readonly size: RoomSize;
  readonly rooms: Readonly<Record<RoomKind, readonly Room[]>>;
}

/** Draws a task of a split: test tasks in rooms of their own; of the others, a tenth is for validation by hash of their content. */
export function drawHouseholdTask(random: Pcg32, split: Split, options: DrawOptions): HouseholdTask {
  const choose = <T>(choices: readonly T[]): T => pick(choices, () => random.nextFloat());
  const family = choose(options.families);
  for (;;) {
    const kind = choose(ROOMS_OF_FAMILY[family]);
    const rooms = options.rooms[kind];
    const room = choose(split === 'test' ? rooms.slice(0, NUM_TEST_ROOMS) : rooms.slice(NUM_TEST_ROOMS));
    const task = new TaskDraw(random, { kind, room, size: options.size }).draw(family);
    if (task === null) continue;
    const isValidation = splitOf(JSON.stringify(task)) === 'validation';
    if (split === 'test' || isValidation === (split === 'validation')) return task;
  }
}

/** The drawing of one task in a room. */
class TaskDraw {
  private readonly names: readonly string[];

  constructor(
    private readonly random: Pcg32,
    private readonly place: { readonly kind: RoomKind; readonly room: Room; readonly size: RoomSize },
  ) {
    this.names = Object.entries(place.room).flatMap(([kind, count]) =>
      Array.from({ length: count }, (_, i) => `${kind} ${i + 1}`),
    );
  }

  /** null where the room has no such task. */
  draw(family: HouseholdFamily): HouseholdTask | null {
    const { kind: room, room: receptacles } = this.place;
    const goal = this.drawGoal(family);
    if (goal === null) return null;
    const { thing, target } = goal;
    const things: (readonly [string, string])[] = [];
    for (const kind of this.drawKinds(thing)) {
      const isGoal = kind === thing;
      const least = isGoal && family === 'place-two' ? 2 : 1;
      const count = least + this.random.nextBelow(this.place.size === 'large' ? 3 : 1);
      // A thing of the task must not be where it belongs already.
      const places = this.placesOf(THING_KINDS[kind].fits).filter(
        (name) => !isGoal || !name.startsWith(`${target} `),
      );
      if (places.length === 0) continue;
      for (let i = 0; i < count; i++) things.push([kind, this.choose(places)]);
    }
    if (family === 'examine-in-light') things.push([LAMP, this.choose(this.placesOf(LAMP_PLACES))]);
    return { family, room, thing, target, wording: this.random.nextBelow(2), receptacles, things };
  }

  private drawGoal(family: HouseholdFamily): { readonly thing: string; readonly target: string } | null {
    const { kind: room, room: receptacles } = this.place;
    const isTreatment = family === 'clean' || family === 'heat' || family === 'cool';
    const things = Object.keys(THING_KINDS).filter((name) => {
      const { rooms, fits, allows } = THING_KINDS[name];
      return rooms.has(room) && (!isTreatment || allows.has(family)) && this.placesOf(fits).length > 0;
    });
    const thing = this.choose(things);
    if (family === 'examine-in-light') {
      return this.placesOf(LAMP_PLACES).length === 0 ? null : { thing, target: LAMP };
    }
    const kinds = Object.keys(receptacles).filter((kind) => THING_KINDS[thing].fits.has(kind));
    const targets = kinds.filter((kind) => kind !== NO_TARGETS[family]);
    // It has to start somewhere else.
    return kinds.length < 2 || targets.length === 0 ? null : { thing, target: this.choose(targets) };
  }

  /** Kinds of things in the room, the task's among them. */
  private drawKinds(thing: string): string[] {
    const share = this.place.size === 'large' ? 0.6 : 0.3;
    return Object.keys(THING_KINDS).filter(
      (name) =>
        name === thing ||
        (THING_KINDS[name].rooms.has(this.place.kind) &&
          this.random.nextFloat() < share &&
          this.placesOf(THING_KINDS[name].fits).length > 0),
    );
  }

  private placesOf(kinds: ReadonlySet<string>): string[] {
    return this.names.filter((name) => kinds.has(name.slice(0, name.lastIndexOf(' '))));
  }

  private choose<T>(choices: readonly T[]): T {
    return choices[this.random.nextBelow(choices.length)];
  }
}
