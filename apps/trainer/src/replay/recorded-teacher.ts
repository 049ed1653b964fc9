import type { Recipe } from '@retrace/config';
import type { EventLog } from '@retrace/log';
import type { TeacherTop } from '@retrace/policy';
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
  /** How many likeliest tokens the recipe compares; null: none. */
  readonly topK: number | null;
}

/** A token in the record of an update: entry `m` of one of its parts. */
interface RecordedToken {
  readonly traced: UpdateTokensTraced;
  readonly m: number;
}

/** The teacher of an update that is made again, where a server taught; null for one whose weights the engine holds, or none. */
export function openRecordedTeacher(
  { distillation }: Pick<Recipe, 'distillation'>,
  options: Omit<RecordedTeacherOptions, 'topK'>,
): RecordedTeacher | null {
  return distillation?.teacher.endpoint
    ? new RecordedTeacher({ ...options, topK: distillation.topK ?? null })
    : null;
}

/** Reads what a teacher said of the tokens that an update trained from the record of the update: its server may answer otherwise now, or be gone. */
class RecordedTeacher implements Teacher {
  constructor(private readonly options: RecordedTeacherOptions) {}

  /** @throws TrainerError `NOT_REPLAYABLE` where tokens that may count now have no record, or too few likeliest tokens in it */
  async read({ columns, batch, mask }: AskedTokens): Promise<TeacherAnswer> {
    const { offsets, isUnchanged, topK } = this.options;
    const known = new Map<string, RecordedToken>();
    for (const offset of offsets) {
      const traced = await this.readTokens(offset);
      const logprobs = traced?.teacherLogprobs ?? null;
      if (traced === null || logprobs === null) continue;
      for (let m = 0; m < logprobs.length; m++) known.set(makeKey(traced, m), { traced, m });
    }
    const places = placesOfActions(columns, batch);
    const recorded = Array.from(mask, (_, a) => known.get(makeKey(places, a)) ?? null);
    const logprobs = Float32Array.from(
      recorded,
      (token) => token?.traced.teacherLogprobs?.[token.m] ?? Number.NaN,
    );
    const numUnknown = mask.filter((bit, a) => bit === 1 && Number.isNaN(logprobs[a])).length;
    if (numUnknown > 0 && (!isUnchanged || offsets.length === 0)) throw this.unknown(numUnknown);
    return { logprobs, top: topK === null ? null : this.likeliest(recorded, topK) };
  }

  /** The likeliest `topK` of the recorded tokens, which may be more; a token without a record has no row. */
  private likeliest(recorded: readonly (RecordedToken | null)[], topK: number): TeacherTop {
    let numRows = 0;
    const rows = Int32Array.from(recorded, (token) => (token === null ? -1 : numRows++));
    const ids = new Int32Array(numRows * topK);
    const logprobs = new Float32Array(numRows * topK);
    recorded.forEach((token, a) => {
      if (token === null) return;
      const { teacherLogprobs, teacherTopIds, teacherTopLogprobs } = token.traced;
      const numRecorded = (teacherTopIds?.length ?? 0) / (teacherLogprobs?.length ?? 1);
      if (numRecorded < topK) throw this.unknownLikeliest(numRecorded, topK);
      const from = token.m * numRecorded;
      ids.set(teacherTopIds?.subarray(from, from + topK) ?? [], rows[a] * topK);
      logprobs.set(teacherTopLogprobs?.subarray(from, from + topK) ?? [], rows[a] * topK);
    });
    return { topK, rows, ids, logprobs };
  }

  private async readTokens(offset: number): Promise<UpdateTokensTraced | null> {
    const [record] = await this.options.log.read('control', 0, offset, { maxRecords: 1 });
    if (record?.offset !== offset) return null;
    const decoded = decodeEvent(record.bytes);
    return decoded.ok && decoded.event.kind === 'UpdateTokensTraced' ? decoded.event.payload : null;
  }

  private unknownLikeliest(numRecorded: number, topK: number): TrainerError {
    const what = `update ${this.options.updateNumber}: distillation.topK is ${topK}`;
    const rule = `the record has ${numRecorded} likeliest tokens of the teacher's server at each place, which is not asked again`;
    return new TrainerError('NOT_REPLAYABLE', `${what}; ${rule}`);
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
