import { setMaxListeners } from 'node:events';
import type { LikeliestOfPrompt } from '@retrace/chat';
import type { Recipe } from '@retrace/config';
import { EndpointError } from '@retrace/endpoints';
import type { TeacherTop, TransformerConfig } from '@retrace/policy';
import { TinkerError, type TinkerErrorCode } from '@retrace/tinker';
import { TrainerError } from '../trainer-error.js';
import { requireTopK } from './teacher-model.js';
import { refused, teacherServer, type TeacherServer, type TeacherServerOptions } from './teacher-server.js';
import type { AskedTokens, Teacher, TeacherAnswer } from './teacher.js';

/** Longest time that the start waits for a server that is down; the first update waits longer. */
const START_MS = 5_000;
/** Errors of a Tinker server that the next start would meet again. */
const FINAL_CODES: ReadonlySet<TinkerErrorCode> = new Set(['REFUSED', 'MODEL_LOST', 'CHECKPOINT_UNKNOWN']);

/** The server that teaches, where the recipe names one. @throws TrainerError as `EndpointTeacher.open` */
export async function openEndpointTeacher(
  { distillation }: Pick<Recipe, 'distillation'>,
  { shape: { maxPositions, vocabSize }, ...options }: OpeningOptions,
): Promise<EndpointTeacher | null> {
  const endpoint = distillation?.teacher.endpoint;
  if (!endpoint) return null;
  const topK = distillation.topK ?? null;
  return EndpointTeacher.open({ ...options, endpoint, maxPositions, vocabSize, topK });
}

interface OpeningOptions extends Pick<
  TeacherServerOptions,
  'tokenizer' | 'variables' | 'onNotice' | 'signal'
> {
  /** Of the policy that learns. */
  readonly shape: Pick<TransformerConfig, 'maxPositions' | 'vocabSize'>;
}

interface EndpointTeacherOptions extends TeacherServerOptions {
  /** Ids of the policy that learns. */
  readonly vocabSize: number;
}

/** A server that scores the tokens of prompts for the recipe's teacher. A request waits, until its deadline, for a server that is down. */
export class EndpointTeacher implements Teacher {
  private readonly server: TeacherServer;
  /** Whether the server was checked and has not been down since; after that, another server may answer at its address. */
  private isChecked = false;

  private constructor(private readonly options: EndpointTeacherOptions) {
    this.server = teacherServer(options, () => {
      this.isChecked = false;
    });
  }

  /**
   * Checks the server where it answers soon; otherwise the first update waits for it.
   *
   * @throws TrainerError `TEACHER_REFUSED` for a server that refuses, has another tokenizer than the policy, or reads shorter contexts, or does
   *   not tell as many likeliest tokens as the recipe compares
   */
  static async open(options: EndpointTeacherOptions): Promise<EndpointTeacher> {
    requireTopK(options.topK ?? 0, options.vocabSize);
    const teacher = new EndpointTeacher(options);
    try {
      await teacher.check(Math.min(START_MS, teacher.server.deadlineMs));
    } catch (error) {
      const reason = asTeacherError(error, options.endpoint.url);
      const isDown = reason instanceof TrainerError && reason.code === 'TEACHER_UNAVAILABLE';
      if (!isDown && !options.signal.aborted) {
        await teacher.close();
        throw reason;
      }
    }
    return teacher;
  }

  /**
   * @throws TrainerError as `open`, `TEACHER_REFUSED` where the server has no logprob of a token, `TEACHER_UNAVAILABLE` where it does not answer until
   *   the deadline; the signal's reason once it aborts
   */
  async read({ batch, mask: ofActions }: AskedTokens): Promise<TeacherAnswer> {
    const { tokenIds, sequenceOffsets, actionTokens } = batch;
    const rows = new Int32Array(tokenIds.length).fill(-1);
    let numRows = 0;
    actionTokens.forEach((n, a) => {
      if (ofActions[a] === 1) rows[n] = numRows++;
    });
    const { topK } = this.options;
    const told = {
      logprobs: new Float32Array(numRows),
      top: topK === null ? null : newTop(topK, numRows),
    };
    // The first failure ends the others, also those that wait for their turn.
    const failed = new AbortController();
    const signal = AbortSignal.any([this.options.signal, failed.signal]);
    // Each request under way adds a listener.
    setMaxListeners(0, signal);
    const scores = Array.from({ length: sequenceOffsets.length - 1 }, (_, s) =>
      this.readSequence({ batch, rows }, s, { into: told, signal }),
    );
    try {
      await Promise.all(scores);
      if (!this.isChecked) await this.check();
    } catch (error) {
      failed.abort(error);
      await Promise.allSettled(scores);
      throw asTeacherError(error, this.options.endpoint.url);
    }
    const rowsOfActions = actionTokens.map((n) => rows[n]);
    return {
      logprobs: Float32Array.from(rowsOfActions, (row) => (row < 0 ? 0 : told.logprobs[row])),
      top: told.top && { ...told.top, rows: rowsOfActions },
    };
  }

  close(): Promise<void> {
    return this.server.close();
  }

  private async check(deadlineMs = this.server.deadlineMs): Promise<void> {
    this.isChecked = true;
    try {
      await this.server.check(deadlineMs);
    } catch (error) {
      this.isChecked = false;
      throw error;
    }
  }

  /** Reads the tokens of sequence `s` that are asked about. */
  private async readSequence(
    { batch: { tokenIds, sequenceOffsets }, rows }: SequencesAsked,
    s: number,
    { into, signal }: { readonly into: ToldTokens; readonly signal: AbortSignal },
  ): Promise<void> {
    const [from, end] = [sequenceOffsets[s], endOfAsked(rows, sequenceOffsets, s)];
    if (end === from) return;
    const { url } = this.options.endpoint;
    const context = Array.from(tokenIds.subarray(from, end));
    const { logprobs, likeliest } = await this.server.score(context, signal);
    for (let n = from; n < end; n++) {
      const [row, place] = [rows[n], n - from];
      if (row < 0) continue;
      if (!Number.isFinite(logprobs[place])) throw refused(url, withoutLogprob(context, place));
      into.logprobs[row] = logprobs[place];
      if (into.top !== null) this.copyLikeliest(likeliest, place, { top: into.top, row });
    }
  }

  private copyLikeliest(
    likeliest: LikeliestOfPrompt | null,
    place: number,
    { top: { topK, ids, logprobs }, row }: { readonly top: TopRows; readonly row: number },
  ): void {
    const { vocabSize, endpoint } = this.options;
    const [from, end] = [place * topK, (place + 1) * topK];
    const named = likeliest?.ids.subarray(from, end) ?? new Int32Array();
    const known = likeliest?.logprobs.subarray(from, end) ?? new Float32Array();
    if (named.length !== topK || known.some(Number.isNaN))
      throw refused(endpoint.url, `it has no likeliest tokens at position ${place} of its context`);
    const outside = named.find((id) => id >= vocabSize);
    if (outside !== undefined) {
      const what = `token ${outside} is among its ${topK} likeliest at position ${place} of its context`;
      throw refused(
        endpoint.url,
        `${what}, and the policy has ids 0 … ${vocabSize - 1}; lower distillation.topK`,
      );
    }
    ids.set(named, row * topK);
    logprobs.set(known, row * topK);
  }
}

/** Tables of likeliest tokens whose rows are not assigned to tokens. */
type TopRows = Omit<TeacherTop, 'rows'>;

/** Answers about the R tokens that are asked about. */
interface ToldTokens {
  /** [R] */
  readonly logprobs: Float32Array;
  readonly top: TopRows | null;
}

function newTop(topK: number, numRows: number): TopRows {
  const length = numRows * topK;
  return { topK, ids: new Int32Array(length), logprobs: new Float32Array(length) };
}

/** Tokens of sequences, with the row [N] in which the answer about each is written; −1 for those that are not asked about. */
interface SequencesAsked extends Pick<AskedTokens, 'batch'> {
  readonly rows: Int32Array;
}

/** End of the part of a sequence that has the tokens which are asked about; its start where there is none. */
function endOfAsked(rows: Int32Array, sequenceOffsets: Int32Array, s: number): number {
  let end = sequenceOffsets[s + 1];
  while (end > sequenceOffsets[s] && rows[end - 1] < 0) end--;
  return end;
}

function withoutLogprob(context: readonly number[], position: number): string {
  return `it has no logprob of token ${context[position]}, at position ${position} of its context; a teacher must give each token a probability`;
}

/** Converts to an error of the trainer, which is final where the next start would fail in the same way. */
function asTeacherError(error: unknown, url: string): unknown {
  if (!(error instanceof EndpointError || error instanceof TinkerError)) return error;
  if (isFinal(error)) return refused(url, error.message, error);
  const message = `distillation.teacher.endpoint: no answer of ${url} in time (${error.message})`;
  return new TrainerError('TEACHER_UNAVAILABLE', message, { cause: error });
}

function isFinal(error: EndpointError | TinkerError): boolean {
  if (error instanceof TinkerError) return FINAL_CODES.has(error.code);
  return error.code === 'UNSUPPORTED' || (error.code === 'HTTP_STATUS' && !error.isTemporary);
}
