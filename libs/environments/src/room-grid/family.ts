import type { LevelTask } from './level.js';
import type { LevelBuilder, RoomsOptions } from './level-builder.js';

export interface DrawnMission {
  readonly mission: LevelTask['mission'];
  /** Where it is not measured by the size of the level. */
  readonly maxMoves?: number;
}

/** A family of levels: its rooms, and how they are filled. */
export interface GridFamily extends Pick<RoomsOptions, 'roomSize' | 'rows' | 'columns'> {
  /** Draws what is in the rooms, and the mission. @throws UnsuitableDraw where it does not fit */
  readonly draw: (builder: LevelBuilder) => DrawnMission;
}

/** Nine rooms of 8×8 cells, walls included, are BabyAI's usual size. */
export const NINE_ROOMS = { roomSize: 8, rows: 3, columns: 3 } as const;
export const ONE_ROOM = { roomSize: 8, rows: 1, columns: 1 } as const;
/** The room in the middle of nine. */
export const MIDDLE = [1, 1] as const;
