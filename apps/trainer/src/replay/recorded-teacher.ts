import type { EventLog } from '@retrace/log';
import type { UpdateTokensTraced } from '@retrace/trajectory';
import { decodeEvent } from '@retrace/trajectory/codec';
import { TrainerError } from '../trainer-error.js';
import type { AskedTokens, Teacher, TeacherAnswer } from '../teacher/teacher.js';
import { placesOfActions, type TokenPlaces } from '../update/result/token-trace.js';

interface RecordedTeacherOptions {
  readonly log: Pick<EventLog, 'read'>;
  readonly updateNumber: number;
  /** Offsets of the records `UpdateTokensTraced` of the update in stream `control`. */
  readonly offsets: readonly number[];
  /** Whether the update is made again as it was, so that a token without a record had no weight in its loss. */
  readonly isUnchanged: boolean;
}

/** Reads what a teacher said of the tokens that an update trained from the record of the update: its server may answer otherwise now, or be gone. */
export class RecordedTeacher implements Teacher {
  constructor(private readonly options: RecordedTeacherOptions) {}

  /** @throws TrainerError `NOT_REPLAYABLE` where tokens that may count now have no record */
  async read({ columns, batch, mask }: AskedTokens): Promise<TeacherAnswer> {
    const { offsets, isUnchanged } = this.options;
    const known = new Map<string, number>();
    for (const offset of offsets) {
      const traced = await this.readTokens(offset);
      const logprobs = traced?.teacherLogprobs ?? null;
      if (traced === null || logprobs === null) continue;
      for (let m = 0; m < logprobs.length; m++) known.set(makeKey(traced, m), logprobs[m]);
    }
    const places = placesOfActions(columns, batch);
    const logprobs = Float32Array.from(mask, (_, a) => known.get(makeKey(places, a)) ?? Number.NaN);
    const numUnknown = mask.filter((bit, a) => bit === 1 && Number.isNaN(logprobs[a])).length;
    if (numUnknown > 0 && (!isUnchanged || offsets.length === 0)) throw this.unknown(numUnknown);
    return { logprobs, top: null };
  }

  private async readTokens(offset: number): Promise<UpdateTokensTraced | null> {
    const [record] = await this.options.log.read('control', 0, offset, { maxRecords: 1 });
    if (record?.offset !== offset) return null;
    const decoded = decodeEvent(record.bytes);
    return decoded.ok && decoded.event.kind === 'UpdateTokensTraced' ? decoded.event.payload : null;
  }

  private unknown(numUnknown: number): TrainerError {
    const what = `update ${this.options.updateNumber}: nothing is recorded of what the teacher's server said of ${numUnknown} tokens`;
    const rule = 'only tokens that its optimizer steps trained are recorded, and a server is not asked again';
    return new TrainerError('NOT_REPLAYABLE', `${what}; ${rule}`);
  }
}

function makeKey({ episodes, steps, positions }: TokenPlaces, i: number): string {
  return `${episodes[i]} ${steps[i]} ${positions[i]}`;
}
