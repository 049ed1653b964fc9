import { describe, expect, it } from 'vitest';
import { describeCell, readGrid } from './read-grid';

describe('readGrid', () => {
  it('reads a sokoban room, in which the player is drawn', () => {
    const grid = readGrid('####/#+*#/#$.#/#__#/####');
    expect(grid?.width).toBe(4);
    expect(grid?.cells.map(describeCell)).toEqual([
      ...['wall', 'wall', 'wall', 'wall'],
      ...['wall', 'player on target', 'box on target', 'wall'],
      ...['wall', 'box', 'target', 'wall'],
      ...['wall', 'floor', 'floor', 'wall'],
      ...['wall', 'wall', 'wall', 'wall'],
    ]);
  });

  it('reads a lake, whose player is the number of a cell', () => {
    const grid = readGrid('_O/_G@2');
    expect(grid?.cells.map(describeCell)).toEqual(['floor', 'hole', 'player', 'goal']);
    expect(readGrid('_O/_G@3')?.cells.map(describeCell)[3]).toBe('player on goal');
  });

  it.each([
    null,
    '',
    'dragon|monk',
    '__O_@1',
    '__/___@1',
    '__/_x@1',
    '__/__',
    '__/__@4',
    '@_/_@',
    'https://host/path',
  ])('finds no grid in %j', (anchor) => {
    expect(readGrid(anchor)).toBeNull();
  });
});
