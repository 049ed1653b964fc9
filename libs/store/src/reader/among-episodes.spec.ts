import { describe, expect, it } from 'vitest';
import { amongEpisodes } from './among-episodes.js';

const first = '019a0000-0000-7000-8000-000000000001';
const second = '019a0000-0000-7000-8000-000000000002';

describe('amongEpisodes', () => {
  it('writes all ids in one literal', () => {
    expect(amongEpisodes([first, second])).toBe(`episode_id IN splitByChar(' ', '${first} ${second}')`);
  });

  it.each([`${first}' OR 1 = 1 --`, '', first.toUpperCase().replace('0000', 'ABCD')])(
    'refuses the id %j',
    (id) => {
      expect(() => amongEpisodes([first, id])).toThrow(
        expect.objectContaining({
          code: 'INVALID_ID',
          message: `episode id is '${id}'; must be a lower-case UUID`,
        }),
      );
    },
  );

  it('matches no row for no ids, also not the control records, whose episode id is empty', () => {
    expect(amongEpisodes([])).toBe('false');
  });
});
