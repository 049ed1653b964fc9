import { describe, expect, it } from 'vitest';
import { withFewEpisodes, withoutTokens } from './shortened-answers.js';

describe('an episode for an agent', () => {
  it('has everything but the tokens of its steps, whatever else is named so', () => {
    const messages = [{ role: 'user', content: 'how many?', tokens: 3 }];
    const episode = { task: { tokens: 'gold' }, steps: [{ step: 0, messages, tokens: { ids: [1, 2] } }] };
    const shortened = { task: { tokens: 'gold' }, steps: [{ step: 0, messages }] };
    expect(withoutTokens.shorten(episode)).toEqual(shortened);
  });
});

describe('a what-if for an agent', () => {
  it('has the episodes whose advantages differ most, and tells how many it has not', () => {
    const episodes = Array.from({ length: 50 }, (_, i) => ({
      ...{ episodeId: `${i}`, recordedAdvantage: 0, changedAdvantage: i % 2 === 0 ? i : -i },
    }));
    const whatIf = { status: 'finished', updates: [{ updateNumber: 1, episodes, everyToken: [1] }] };
    const { status, updates } = withFewEpisodes.shorten(whatIf) as typeof whatIf;
    expect(status).toBe('finished');
    expect(updates[0]).toMatchObject({ updateNumber: 1, numEpisodesLeftOut: 30 });
    expect(updates[0]).not.toHaveProperty('everyToken');
    expect(updates[0].episodes.map(({ episodeId }) => Number(episodeId))).toEqual(
      Array.from({ length: 20 }, (_, i) => 49 - i),
    );
  });
});
