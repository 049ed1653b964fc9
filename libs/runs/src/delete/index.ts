export { deleteEpisodesOfRun, type EpisodesDeletion } from './delete-episodes.js';
export { deleteRun, hasTraces } from './delete-run.js';
