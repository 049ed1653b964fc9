import { toFingerprint } from '@retrace/trajectory';
import type { EpisodeProgressRow } from '@retrace/store';
import { EpisodeProgress } from './episode-progress.js';

/** Makes the state of an episode from its stored records, which come in log order. */
export function restoreState(
  { runId, episodeId, partition }: Pick<EpisodeProgress, 'runId' | 'episodeId' | 'partition'>,
  rows: readonly EpisodeProgressRow[],
): EpisodeProgress {
  const state = new EpisodeProgress(runId, episodeId, partition);
  const inOrder = new Map<number, EpisodeProgressRow>();
  for (const row of rows) {
    state.endOffset = Math.max(state.endOffset, row.offset + 1);
    const kind =
      row.kind === 'RewardAssigned' ? 'reward' : row.kind === 'EpisodeAnnotated' ? 'annotation' : null;
    if (kind === null) {
      if (!inOrder.has(row.seq)) inOrder.set(row.seq, row);
    } else if (state.fingerprintAt(kind, row.seq) === undefined) {
      state.add(kind, row.seq, toFingerprint(row.checksum));
    }
  }
  for (let seq = 0; ; seq++) {
    const row = inOrder.get(seq);
    if (row === undefined) return state;
    const fingerprint = toFingerprint(row.checksum);
    if (row.kind === 'EpisodeStarted') state.start(fingerprint);
    else if (row.kind === 'StepRecorded') state.addStep(fingerprint, row, row.contextTokens);
    else state.end(fingerprint);
  }
}
