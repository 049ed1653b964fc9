import type { Pcg32 } from '../random/pcg32.js';
import { COLORS, MOVABLE_KINDS, type DoorState, type Join, type LevelTask, type Verb } from './level.js';

/** Families of levels, by BabyAI's names in other words. */
export const GRID_FAMILIES = [
  'go-to-red-ball', 'go-to', 'pick-up', 'put-next', 'sequence', 'open-door', 'go-to-other-room', 'pick-up-other-room',
  'unlock', 'unlock-pick-up',
] as const; // prettier-ignore
export type GridFamily = (typeof GRID_FAMILIES)[number];

interface FamilyRules {
  readonly roomSize: number;
  readonly columns: number;
  readonly rows: number;
  readonly numThings: number;
}

const ONE_ROOM: FamilyRules = { roomSize: 8, columns: 1, rows: 1, numThings: 6 };
const TWO_ROOMS: FamilyRules = { roomSize: 6, columns: 2, rows: 1, numThings: 4 };
const FOUR_ROOMS: FamilyRules = { roomSize: 6, columns: 2, rows: 2, numThings: 5 };

const RULES: Readonly<Record<GridFamily, FamilyRules>> = {
  'go-to-red-ball': ONE_ROOM,
  'go-to': ONE_ROOM,
  'pick-up': ONE_ROOM,
  'put-next': { ...ONE_ROOM, numThings: 4 },
  sequence: ONE_ROOM,
  'open-door': FOUR_ROOMS,
  'go-to-other-room': FOUR_ROOMS,
  'pick-up-other-room': FOUR_ROOMS,
  unlock: TWO_ROOMS,
  'unlock-pick-up': TWO_ROOMS,
};

/** Draws a level of a family. Whether it can be solved is for the caller to check: things may block a way. */
export function drawLevel(random: Pcg32, family: GridFamily): LevelTask {
  return new DrawnLevel(random, family).draw();
}

class DrawnLevel {
  private readonly rules: FamilyRules;
  private readonly walls: string[][];
  private readonly things: [string, string, number, number, DoorState | null][] = [];
  private agent: readonly [number, number, number] = [0, 0, 0];

  constructor(
    private readonly random: Pcg32,
    private readonly family: GridFamily,
  ) {
    this.rules = RULES[family];
    const { roomSize, columns, rows } = this.rules;
    const pitch = roomSize - 1;
    this.walls = Array.from({ length: pitch * rows + 1 }, (_, y) =>
      Array.from({ length: pitch * columns + 1 }, (__, x) =>
        x % pitch === 0 || y % pitch === 0 ? '#' : '.',
      ),
    );
    this.agent = [...this.freeCell(0, 0), random.nextBelow(4)];
  }

  draw(): LevelTask {
    const { family } = this;
    const isLocked = family === 'unlock' || family === 'unlock-pick-up';
    const doorColor = this.pick(COLORS);
    if (isLocked) {
      this.addDoor(0, 0, true, ['locked', doorColor]);
      this.addThing('key', doorColor, 0, 0);
      if (family === 'unlock-pick-up') this.addThing('box', this.pick(COLORS), 1, 0);
    } else this.addDoors();
    const { columns, rows, numThings } = this.rules;
    if (family === 'go-to-red-ball') this.addThing('ball', 'red', 0, 0);
    while (this.things.filter(([kind]) => kind !== 'door').length < numThings) {
      const kind = isLocked ? 'ball' : this.pick(MOVABLE_KINDS);
      this.addThing(kind, this.pick(COLORS), this.random.nextBelow(columns), this.random.nextBelow(rows));
    }
    const instructions = this.instructions();
    const join = family === 'sequence' ? this.pick<Join>(['then', 'after', 'and']) : 'and';
    const walls = this.walls.map((row) => row.join(''));
    return {
      family,
      roomSize: this.rules.roomSize,
      walls,
      things: this.things,
      agent: this.agent,
      instructions,
      join,
    };
  }

  private instructions(): LevelTask['instructions'] {
    switch (this.family) {
      case 'go-to-red-ball':
        return [['go to', 'red ball', null]];
      case 'open-door':
        return [['open', this.nameOfOne('door'), null]];
      case 'unlock':
        return [['open', this.nameOfOne('door'), null]];
      case 'unlock-pick-up':
        return [['pick up', this.nameOfOne('box'), null]];
      case 'pick-up':
      case 'pick-up-other-room':
        return [['pick up', this.nameOfOne(null), null]];
      case 'put-next':
        return [['put', this.nameOfOne(null), this.nameOfOne(null)]];
      case 'sequence':
        return [this.oneOfSequence(), this.oneOfSequence()];
      default:
        return [['go to', this.nameOfOne(null), null]];
    }
  }

  private oneOfSequence(): LevelTask['instructions'][number] {
    return [this.pick<Verb>(['go to', 'pick up']), this.nameOfOne(null), null];
  }

  /** Color and kind of a thing; `null` for any that can be carried. */
  private nameOfOne(wanted: string | null): string {
    const named = this.things.filter(([kind]) => (wanted === null ? kind !== 'door' : kind === wanted));
    const [kind, color] = this.pick(named);
    return `${color} ${kind}`;
  }

  /** A closed door between all rooms that are beside each other. */
  private addDoors(): void {
    const { columns, rows } = this.rules;
    for (let row = 0; row < rows; row++) {
      for (let column = 0; column < columns; column++) {
        if (column + 1 < columns) this.addDoor(column, row, true, ['closed', this.pick(COLORS)]);
        if (row + 1 < rows) this.addDoor(column, row, false, ['closed', this.pick(COLORS)]);
      }
    }
  }

  /** A door in the wall to the right of a room, or below it. */
  private addDoor(
    column: number,
    row: number,
    toRight: boolean,
    [state, color]: readonly [DoorState, string],
  ): void {
    const pitch = this.rules.roomSize - 1;
    const along = 1 + this.random.nextBelow(pitch - 1);
    const x = toRight ? (column + 1) * pitch : column * pitch + along;
    const y = toRight ? row * pitch + along : (row + 1) * pitch;
    this.walls[y][x] = '.';
    this.things.push(['door', color, x, y, state]);
  }

  private addThing(kind: string, color: string, column: number, row: number): void {
    this.things.push([kind, color, ...this.freeCell(column, row), null]);
  }

  private freeCell(column: number, row: number): [number, number] {
    const pitch = this.rules.roomSize - 1;
    for (;;) {
      const x = column * pitch + 1 + this.random.nextBelow(pitch - 1);
      const y = row * pitch + 1 + this.random.nextBelow(pitch - 1);
      const isTaken = this.things.some((thing) => thing[2] === x && thing[3] === y);
      if (!isTaken && (this.agent[0] !== x || this.agent[1] !== y)) return [x, y];
    }
  }

  private pick<T>(choices: readonly T[]): T {
    return choices[this.random.nextBelow(choices.length)];
  }
}
