import { describeProblem } from '@retrace/trajectory';
import { RecordingError, type RecordFault, type RecordingErrorCode } from '../recording-error.js';
import type { EpisodeProgress } from './episode-progress.js';

/** A record that the state of its episode, as this process knows it, doesn't allow; another process may have changed that state. */
export class PlaceRefusal extends RecordingError {
  constructor(
    code: RecordingErrorCode,
    readonly state: EpisodeProgress,
    fault: RecordFault,
  ) {
    super(code, `Record ${fault.index}: ${describeProblem(fault)}`, { faults: [fault] });
    this.name = 'RecordingError';
  }
}
