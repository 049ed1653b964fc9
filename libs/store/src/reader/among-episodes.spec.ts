import { describe, expect, it } from 'vitest';
import { amongEpisodes } from './among-episodes.js';

const FIRST = '019a0000-0000-7000-8000-000000000001';
const SECOND = '019a0000-0000-7000-8000-000000000002';

describe('the condition that a row is of some episodes', () => {
  it('names all of them in one literal', () => {
    expect(amongEpisodes([FIRST, SECOND])).toBe(`episode_id IN splitByChar(' ', '${FIRST} ${SECOND}')`);
  });

  it.each([`${FIRST}' OR 1 = 1 --`, '', FIRST.toUpperCase().replace('0000', 'ABCD')])('refuses %j', (id) => {
    expect(() => amongEpisodes([FIRST, id])).toThrow(
      expect.objectContaining({
        code: 'INVALID_ID',
        message: `episode id is '${id}'; must be a lower-case UUID`,
      }),
    );
  });

  it('holds for no row where there are none, also not for the records of no episode', () => {
    expect(amongEpisodes([])).toBe('false');
  });
});
