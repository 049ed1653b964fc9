import type { Pcg32 } from '@retrace/random';
import type { LevelTask } from './level.js';
import { readTarget, type ClauseTask, type MissionTask } from './mission.js';
import { COLORS, HEADINGS, MOVABLE_KINDS, type DoorState, type MovableKind } from './thing.js';

/** Thrown where what was drawn does not fit; the level is drawn again. */
export class UnsuitableDraw extends Error {}

export interface RoomsOptions {
  readonly family: string;
  readonly roomSize: number;
  readonly rows: number;
  readonly columns: number;
}

export interface DrawnThing {
  readonly kind: string;
  color: string;
  readonly x: number;
  readonly y: number;
  readonly state: DoorState | 'boxed' | null;
}

/** Sides of a room: right, down, left, up. */
export type Side = 0 | 1 | 2 | 3;
const SIDES: readonly Side[] = [0, 1, 2, 3];

interface Room {
  readonly column: number;
  readonly row: number;
  /** By side: whether a door or an opening leads out; null where the level ends. */
  readonly isOpen: (boolean | null)[];
  /** As BabyAI has it: whether the door drawn last from this room was locked. */
  isLocked: boolean;
}

const MOST_TRIES = 1000;

/** Draws the parts of a level: rooms, doors, things and the agent, by the rules of BabyAI's room grids (arXiv:1810.08272). */
export class LevelBuilder {
  readonly things: DrawnThing[] = [];
  agent: readonly [x: number, y: number, heading: number];
  carrying = -1;
  private readonly walls: string[][];
  private readonly rooms: readonly Room[];
  /** By room and side: where along the wall its door would be. */
  private readonly doorOffsets = new Map<string, number>();
  private readonly pitch: number;

  constructor(
    readonly random: Pcg32,
    readonly options: RoomsOptions,
  ) {
    const { roomSize, rows, columns } = options;
    const pitch = roomSize - 1;
    this.pitch = pitch;
    this.walls = Array.from({ length: pitch * rows + 1 }, (_, y) =>
      Array.from({ length: pitch * columns + 1 }, (__, x) =>
        x % pitch === 0 || y % pitch === 0 ? '#' : '.',
      ),
    );
    this.rooms = Array.from({ length: rows * columns }, (_, place) => {
      const [column, row] = [place % columns, Math.floor(place / columns)];
      const isInner = [column < columns - 1, row < rows - 1, column > 0, row > 0];
      return { column, row, isOpen: isInner.map((inner) => (inner ? false : null)), isLocked: false };
    });
    // Things keep away from the middle where the agent waits until it is placed.
    const middle = Math.floor(roomSize / 2);
    this.agent = [Math.floor(columns / 2) * pitch + middle, Math.floor(rows / 2) * pitch + middle, 0];
  }

  /** A number from 0 to `end` − 1. */
  below(end: number): number {
    return this.random.nextBelow(end);
  }

  chance(): boolean {
    return this.below(2) === 1;
  }

  pick<T>(choices: readonly T[]): T {
    if (choices.length === 0) throw new UnsuitableDraw('nothing to choose from');
    return choices[this.below(choices.length)];
  }

  /** Some of a list, in random order. */
  pickSome<T>(choices: readonly T[], count: number): T[] {
    const left = [...choices];
    return Array.from({ length: count }, () => left.splice(this.below(left.length), 1)[0]);
  }

  /** A room's column and row. */
  anyRoom(): readonly [column: number, row: number] {
    return [this.below(this.options.columns), this.below(this.options.rows)];
  }

  addThing(
    [column, row]: readonly [number, number],
    kind: MovableKind = this.pick(MOVABLE_KINDS),
    color: string = this.pick(COLORS),
  ): DrawnThing {
    const isNear = (x: number, y: number): boolean =>
      Math.abs(x - this.agent[0]) + Math.abs(y - this.agent[1]) < 2;
    const [x, y] = this.freeCell(column, row, (at, down) => !isNear(at, down));
    return this.put({ kind, color, x, y, state: null });
  }

  /** Puts a thing on a cell without asking whether it is free. */
  put(thing: DrawnThing): DrawnThing {
    this.things.push(thing);
    return thing;
  }

  /** Things of random kinds and colors, in one room or in random ones. @param areUnique none is of a kind and color that is there already */
  addThings(
    count: number,
    { room, areUnique }: { readonly room?: readonly [number, number]; readonly areUnique: boolean },
  ): DrawnThing[] {
    const added: DrawnThing[] = [];
    while (added.length < count) {
      const [kind, color] = [this.pick(MOVABLE_KINDS), this.pick(COLORS)];
      const isKnown = this.things.some((thing) => thing.kind === kind && thing.color === color);
      if (!(areUnique && isKnown)) added.push(this.addThing(room ?? this.anyRoom(), kind, color));
    }
    return added;
  }

  addDoor(
    [column, row]: readonly [number, number],
    door: { readonly side?: Side; readonly color?: string; readonly isLocked?: boolean } = {},
  ): DrawnThing {
    const room = this.roomAt(column, row);
    const side = door.side ?? this.pick(SIDES.filter((candidate) => room.isOpen[candidate] === false));
    const isLocked = door.isLocked ?? this.chance();
    const color = door.color ?? this.pick(COLORS);
    const [x, y] = this.doorPlace(room, side);
    room.isLocked = isLocked;
    this.connect(room, side);
    this.walls[y][x] = '.';
    return this.put({ kind: 'door', color, x, y, state: isLocked ? 'locked' : 'closed' });
  }

  removeWall([column, row]: readonly [number, number], side: Side): void {
    const room = this.roomAt(column, row);
    this.connect(room, side);
    for (let along = 1; along < this.pitch; along++) {
      const [x, y] = this.wallPlace(room, side, along);
      this.walls[y][x] = '.';
    }
  }

  /** Places the agent on a free cell of a room, not in front of a thing. */
  placeAgent([column, row]: readonly [number, number] = this.anyRoom()): void {
    for (;;) {
      this.agent = [-1, -1, 0];
      const [x, y] = this.freeCell(column, row, () => true);
      this.agent = [x, y, this.below(4)];
      const [stepX, stepY] = HEADINGS[this.agent[2]];
      if (this.thingAt(x + stepX, y + stepY) === undefined) return;
    }
  }

  /** Adds closed doors until all rooms can be reached, none to a room behind a locked door. */
  connectAll(colors: readonly string[] = COLORS): void {
    for (let tries = 0; tries < 5 * MOST_TRIES; tries++) {
      if (this.reachableRooms() === this.rooms.length) return;
      const room = this.pick(this.rooms);
      const side = this.pick(SIDES);
      if (room.isOpen[side] !== false || room.isLocked || this.neighbor(room, side).isLocked) continue;
      this.addDoor([room.column, room.row], { side, color: this.pick(colors), isLocked: false });
    }
    throw new UnsuitableDraw('rooms that cannot be connected');
  }

  /** Whether every thing can be reached without moving another, doors taken for open. */
  areAllReachable(): boolean {
    const seen = new Set<string>();
    const stack: (readonly [number, number])[] = [[this.agent[0], this.agent[1]]];
    for (let cell = stack.pop(); cell !== undefined; cell = stack.pop()) {
      const [x, y] = cell;
      if (this.walls[y][x] === '#' || seen.has(`${x},${y}`)) continue;
      seen.add(`${x},${y}`);
      const thing = this.thingAt(x, y);
      if (thing !== undefined && thing.kind !== 'door') continue;
      for (const [stepX, stepY] of HEADINGS) stack.push([x + stepX, y + stepY]);
    }
    return this.things.every(({ x, y }) => seen.has(`${x},${y}`));
  }

  /** @throws UnsuitableDraw unless every thing can be reached without moving another */
  requireReachable(): void {
    if (!this.areAllReachable()) throw new UnsuitableDraw('a thing that cannot be reached');
  }

  /** Things that a description fits, with the agent where it is now. */
  fitting(description: string): readonly DrawnThing[] {
    const [x, y, heading] = this.agent;
    const scene = { things: this.things, agent: { x, y, heading }, roomSize: this.options.roomSize };
    return [...(readTarget(description, scene)?.things ?? [])].map((index) => this.things[index]);
  }

  isInRoom({ x, y }: DrawnThing, [column, row]: readonly [number, number]): boolean {
    const [left, top] = [column * this.pitch, row * this.pitch];
    return x >= left && x <= left + this.pitch && y >= top && y <= top + this.pitch;
  }

  /** Whether the agent is in a room. */
  agentIsIn([column, row]: readonly [number, number]): boolean {
    return (
      Math.floor(this.agent[0] / this.pitch) === column && Math.floor(this.agent[1] / this.pitch) === row
    );
  }

  /** The task, whose reward is measured by `maxMoves`, or by the cells of all rooms for each place that must be walked to. */
  build(mission: MissionTask, maxMoves?: number): LevelTask {
    const { family, roomSize, rows, columns } = this.options;
    const numWalks = mission.parts.flat().reduce((sum, [verb]) => sum + (verb === 'put' ? 2 : 1), 0);
    return {
      family,
      rules: 'retrace',
      roomSize,
      walls: this.walls.map((row) => row.join('')),
      things: this.things.map(({ kind, color, x, y, state }) => [kind, color, x, y, state] as const),
      agent: this.agent,
      carrying: this.carrying,
      mission,
      maxMoves: maxMoves ?? numWalks * roomSize ** 2 * rows * columns,
    };
  }

  private thingAt(x: number, y: number): DrawnThing | undefined {
    return this.things.find((thing) => thing.x === x && thing.y === y);
  }

  private freeCell(
    column: number,
    row: number,
    isAllowed: (x: number, y: number) => boolean,
  ): [number, number] {
    for (let tries = 0; tries < MOST_TRIES; tries++) {
      const x = column * this.pitch + 1 + this.below(this.pitch - 1);
      const y = row * this.pitch + 1 + this.below(this.pitch - 1);
      const isAgent = this.agent[0] === x && this.agent[1] === y;
      if (!isAgent && this.thingAt(x, y) === undefined && isAllowed(x, y)) return [x, y];
    }
    throw new UnsuitableDraw('no free cell');
  }

  private roomAt(column: number, row: number): Room {
    return this.rooms[row * this.options.columns + column];
  }

  private neighbor({ column, row }: Room, side: Side): Room {
    return this.roomAt(column + HEADINGS[side][0], row + HEADINGS[side][1]);
  }

  private connect(room: Room, side: Side): void {
    room.isOpen[side] = true;
    this.neighbor(room, side).isOpen[(side + 2) % 4] = true;
  }

  private doorPlace(room: Room, side: Side): [number, number] {
    const key =
      side < 2 ? `${room.column},${room.row},${side}` : this.doorKey(this.neighbor(room, side), side);
    const along = this.doorOffsets.get(key) ?? 1 + this.below(this.pitch - 1);
    this.doorOffsets.set(key, along);
    return this.wallPlace(room, side, along);
  }

  private doorKey({ column, row }: Room, side: Side): string {
    return `${column},${row},${side - 2}`;
  }

  /** A cell of the wall on a side of a room. */
  private wallPlace({ column, row }: Room, side: Side, along: number): [number, number] {
    const [left, top] = [column * this.pitch, row * this.pitch];
    if (side === 0) return [left + this.pitch, top + along];
    if (side === 1) return [left + along, top + this.pitch];
    return side === 2 ? [left, top + along] : [left + along, top];
  }

  private reachableRooms(): number {
    const [x, y] = this.agent;
    const start = this.roomAt(Math.floor(x / this.pitch), Math.floor(y / this.pitch));
    const seen = new Set([start]);
    for (const room of seen) {
      for (const side of SIDES) if (room.isOpen[side] === true) seen.add(this.neighbor(room, side));
    }
    return seen.size;
  }
}

/** A clause about things by kind and color. */
export function clause(
  verb: ClauseTask[0],
  thing: DrawnThing | string,
  beside: DrawnThing | string | null = null,
  isStrict = false,
): ClauseTask {
  const nameOf = (named: DrawnThing | string): string =>
    typeof named === 'string' ? named : `${named.color} ${named.kind}`;
  return [verb, nameOf(thing), beside === null ? null : nameOf(beside), isStrict];
}

/** A mission of one clause. */
export function only(single: ClauseTask): MissionTask {
  return { parts: [[single]], order: null };
}
