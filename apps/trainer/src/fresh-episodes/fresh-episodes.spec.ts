import { openStoreFixture } from '@retrace/store-server/testing';
import { describe } from 'vitest';
import { freshEpisodesContract } from './fresh-episodes.contract.js';

describe('FreshEpisodes, of a log on LMDB', () => {
  freshEpisodesContract(openStoreFixture);
});
