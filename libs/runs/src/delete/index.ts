export { deleteEpisodesOfRun, type EpisodesDeletion } from './delete-episodes.js';
export { deleteRun, hasTraces, type DeletionSession, type RunDeletion } from './delete-run.js';
