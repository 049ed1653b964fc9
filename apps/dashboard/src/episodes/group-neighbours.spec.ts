import { describe, expect, it } from 'vitest';
import { groupNeighbours } from './group-neighbours';

const members = [
  { episodeId: 'd', groupMember: 2 },
  { episodeId: 'c', groupMember: 0 },
  { episodeId: 'b', groupMember: 1 },
  { episodeId: 'a', groupMember: 1 },
];
const idsBeside = (episodeId: string) => {
  const { previous, next } = groupNeighbours(members, episodeId);
  return [previous?.episodeId, next?.episodeId];
};

describe('the neighbours of an episode in its group', () => {
  it('are the members before and after it, those with one place by id', () => {
    expect(idsBeside('a')).toEqual(['c', 'b']);
    expect(idsBeside('b')).toEqual(['a', 'd']);
  });

  it('are missing at the ends, and where the episode is no member', () => {
    expect(idsBeside('c')).toEqual([undefined, 'a']);
    expect(idsBeside('d')).toEqual(['b', undefined]);
    expect(idsBeside('x')).toEqual([undefined, undefined]);
    expect(groupNeighbours([{ episodeId: 'a', groupMember: 0 }], 'a')).toEqual({
      previous: null,
      next: null,
    });
  });
});
