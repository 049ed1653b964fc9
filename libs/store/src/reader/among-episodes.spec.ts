import { describe, expect, it } from 'vitest';
import { amongEpisodes } from './among-episodes.js';

const FIRST = '019a0000-0000-7000-8000-000000000001';
const SECOND = '019a0000-0000-7000-8000-000000000002';

describe('amongEpisodes', () => {
  it('writes all ids in one literal', () => {
    expect(amongEpisodes([FIRST, SECOND])).toBe(`episode_id IN splitByChar(' ', '${FIRST} ${SECOND}')`);
  });

  it.each([`${FIRST}' OR 1 = 1 --`, '', FIRST.toUpperCase().replace('0000', 'ABCD')])(
    'refuses the id %j',
    (id) => {
      expect(() => amongEpisodes([FIRST, id])).toThrow(
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
