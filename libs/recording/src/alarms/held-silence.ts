import { holdsAt, readSilences, type StoredSilence, type StoreReader } from '@retrace/store';
import { RecordingError } from '../recording-error.js';

/**
 * Requires that a silence holds of exactly this rule and run, of which an empty id stands for all.
 *
 * @param nowUs microseconds since the Unix epoch
 * @throws RecordingError `SILENCE_UNKNOWN`, which names another silence of the rule that holds; StoreError
 */
export async function requireSilence(
  reader: StoreReader,
  { runId, rule }: Pick<StoredSilence, 'runId' | 'rule'>,
  nowUs: number,
): Promise<void> {
  const ofRule = (await readSilences(reader, null)).filter(
    (silence) => silence.rule === rule && holdsAt(silence, nowUs),
  );
  if (ofRule.some((silence) => silence.runId === runId)) return;
  // The one of all runs rather than that of another run.
  const other = ofRule.find((silence) => silence.runId === '') ?? ofRule.at(0);
  const name = rule === '' ? 'alarms without a rule' : rule;
  const instead =
    other === undefined ? '' : `; one ${makePlace(other.runId)} does, until ${formatEnd(other)}`;
  throw new RecordingError('SILENCE_UNKNOWN', `No silence of ${name} ${makePlace(runId)} holds${instead}`);
}

function makePlace(runId: string): string {
  return runId === '' ? 'in all runs' : `in run ${runId}`;
}

function formatEnd({ untilUs }: StoredSilence): string {
  return new Date(Math.floor(untilUs / 1000)).toISOString();
}
