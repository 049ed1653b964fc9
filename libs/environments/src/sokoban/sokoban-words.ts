import { DIRECTIONS } from '../grid/directions.js';
import type { SokobanRoom, SokobanState } from './sokoban-room.js';

/**
 * The words of rooms of one size. A cell is called by column letter and row number (`a1` top left), and every fact is one word:
 * `goal_c4 wall_b3 box_d2 you_b2`. The outermost cells are always walls and never named. A box on its target is two facts,
 * `goal_c4` and `box_c4`.
 */
export class SokobanWords {
  /** Every word of observations and actions. */
  readonly all: readonly string[];
  private readonly cells: readonly string[];

  constructor(private readonly side: number) {
    this.cells = Array.from(
      { length: side * side },
      (_, cell) => `${'abcdefgh'[cell % side]}${Math.floor(cell / side) + 1}`,
    );
    const inner = this.cells.filter((_, cell) => this.isInner(cell));
    const facts = ['goal', 'wall', 'box', 'you'].flatMap((role) => inner.map((name) => `${role}_${name}`));
    this.all = [...DIRECTIONS, ...facts];
  }

  /** The part of the observation that stays as it is: targets, then the walls between them. */
  describeRoom({ walls, targets }: SokobanRoom): string {
    const named = (role: string, cells: Uint8Array): string[] =>
      this.cells.flatMap((name, cell) =>
        cells[cell] === 1 && this.isInner(cell) ? [`${role}_${name}`] : [],
      );
    return [...named('goal', targets), ...named('wall', walls)].join(' ');
  }

  /** The part that changes: boxes, then the player. */
  describeState({ player, boxes }: SokobanState): string {
    return [...boxes.map((cell) => `box_${this.cells[cell]}`), `you_${this.cells[player]}`].join(' ');
  }

  private isInner(cell: number): boolean {
    const [row, column] = [Math.floor(cell / this.side), cell % this.side];
    return Math.min(row, column) > 0 && Math.max(row, column) < this.side - 1;
  }
}
