export const COLORS = ['red', 'green', 'blue', 'purple', 'yellow', 'grey'] as const;
export type Color = (typeof COLORS)[number];
/** Kinds that can be carried. */
export const MOVABLE_KINDS = ['key', 'ball', 'box'] as const;
export type MovableKind = (typeof MOVABLE_KINDS)[number];
export const KINDS: readonly string[] = [...MOVABLE_KINDS, 'door'];
export const DOOR_STATES = ['open', 'closed', 'locked'] as const;
export type DoorState = (typeof DOOR_STATES)[number];

/** Of a door whether it can be passed; `boxed`: inside a box; `gone`: a box that was opened. */
export type ThingState = DoorState | 'boxed' | 'gone';
export const THING_STATES: readonly string[] = [...DOOR_STATES, 'boxed', 'gone'];

/** Steps along each heading: right, down, left, up. Turning right adds 1. */
export const HEADINGS: readonly (readonly [x: number, y: number])[] = [
  [1, 0],
  [0, 1],
  [-1, 0],
  [0, -1],
];

/** An object or a door. Walls belong to the level. */
export interface Thing {
  readonly kind: string;
  readonly color: string;
  readonly x: number;
  readonly y: number;
  /** null for what is on the floor, or carried. */
  readonly state: ThingState | null;
}

/** Whether it is out of the world for now. */
export function isHidden({ state }: Thing): boolean {
  return state === 'boxed' || state === 'gone';
}
