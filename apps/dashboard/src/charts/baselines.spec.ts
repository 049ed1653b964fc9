import { describe, expect, it } from 'vitest';
import { placeLabels } from './baselines';

describe('placeLabels', () => {
  it('leaves labels with enough space where they are', () => {
    expect(placeLabels([200, 150, 20], 14)).toEqual([200, 150, 20]);
  });

  it('moves a label up when it would cover the one below it', () => {
    expect(placeLabels([200, 195, 190], 14)).toEqual([200, 186, 172]);
  });

  it('moves labels down from the top of the canvas, and those below them out of the way', () => {
    expect(placeLabels([18, 10, 2], 14)).toEqual([35, 21, 7]);
  });
});
