export type Ground = 'floor' | 'wall' | 'hole' | 'goal' | 'target';

export interface GridCell {
  readonly ground: Ground;
  readonly box: boolean;
  readonly player: boolean;
}

export interface DrawnGrid {
  readonly width: number;
  /** Row by row from the top left. */
  readonly cells: readonly GridCell[];
}

const cell = (ground: Ground, parts: Partial<GridCell> = {}): GridCell => ({
  ground,
  box: false,
  player: false,
  ...parts,
});

/** Characters of drawn grids: those of Sokoban levels, and the hole and goal of lakes. */
const CELLS: ReadonlyMap<string, GridCell> = new Map([
  ['_', cell('floor')],
  ['#', cell('wall')],
  ['O', cell('hole')],
  ['G', cell('goal')],
  ['.', cell('target')],
  ['$', cell('floor', { box: true })],
  ['*', cell('target', { box: true })],
  ['@', cell('floor', { player: true })],
  ['+', cell('target', { player: true })],
]);

/**
 * Reads the grid from the anchor of a step, by which worlds on a grid identify their state: rows of characters joined by `/`, with the
 * player drawn in them or its cell number after an `@` at the end (`__O_/____/_O__/__G_@5`). Null where the anchor is no such
 * drawing: fewer than two rows, rows of different lengths, another character, or not exactly one player.
 */
export function readGrid(anchor: string | null): DrawnGrid | null {
  const [, drawing, playerCell] = /^(.*?)(?:@(\d+))?$/s.exec(anchor ?? '') ?? [];
  const rows = drawing.split('/');
  const width = rows[0].length;
  if (rows.length < 2 || width < 2 || rows.some((row) => row.length !== width)) return null;
  const known = [...rows.join('')].map((character) => CELLS.get(character));
  const cells = known.filter((one) => one !== undefined);
  if (cells.length !== known.length) return null;
  const placed =
    playerCell === undefined
      ? cells
      : cells.map((one, index) => (index === Number(playerCell) ? { ...one, player: true } : one));
  return placed.filter(({ player }) => player).length === 1 ? { width, cells: placed } : null;
}

/** Names what is in a cell: "box on target", "player". */
export function describeCell({ ground, box, player }: GridCell): string {
  const thing = box ? 'box' : player ? 'player' : '';
  if (thing === '') return ground;
  return ground === 'floor' ? thing : `${thing} on ${ground}`;
}
