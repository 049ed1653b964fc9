import { setMaxListeners } from 'node:events';
import type { Recipe } from '@retrace/config';
import { EndpointError } from '@retrace/endpoints';
import { TinkerError, type TinkerErrorCode } from '@retrace/tinker';
import { TrainerError } from '../trainer-error.js';
import { refused, teacherServer, type TeacherServer, type TeacherServerOptions } from './teacher-server.js';
import type { AskedTokens, Teacher, TeacherAnswer } from './teacher.js';

/** Longest time that the start waits for a server that is down; the first update waits longer. */
const START_MS = 5_000;
/** Errors of a Tinker server that the next start would meet again. */
const FINAL_CODES: ReadonlySet<TinkerErrorCode> = new Set(['REFUSED', 'MODEL_LOST', 'CHECKPOINT_UNKNOWN']);

/** The server that teaches, where the recipe names one. @throws TrainerError as `EndpointTeacher.open` */
export async function openEndpointTeacher(
  { distillation }: Pick<Recipe, 'distillation'>,
  options: Omit<TeacherServerOptions, 'endpoint'>,
): Promise<EndpointTeacher | null> {
  const endpoint = distillation?.teacher.endpoint;
  return endpoint ? EndpointTeacher.open({ ...options, endpoint }) : null;
}

/** A server that scores the tokens of prompts for the recipe's teacher. A request waits, until its deadline, for a server that is down. */
export class EndpointTeacher implements Teacher {
  private readonly server: TeacherServer;
  /** Whether the server was checked and has not been down since; after that, another server may answer at its address. */
  private isChecked = false;

  private constructor(private readonly options: TeacherServerOptions) {
    this.server = teacherServer(options, () => {
      this.isChecked = false;
    });
  }

  /**
   * Checks the server where it answers soon; otherwise the first update waits for it.
   *
   * @throws TrainerError `TEACHER_REFUSED` for a server that refuses, has another tokenizer than the policy, or reads shorter contexts
   */
  static async open(options: TeacherServerOptions): Promise<EndpointTeacher> {
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
    const mask = new Uint8Array(tokenIds.length);
    actionTokens.forEach((n, a) => (mask[n] = ofActions[a]));
    const ofAll = new Float32Array(tokenIds.length);
    // The first failure ends the others, also those that wait for their turn.
    const failed = new AbortController();
    const signal = AbortSignal.any([this.options.signal, failed.signal]);
    // Each request under way adds a listener.
    setMaxListeners(0, signal);
    const scores = Array.from({ length: sequenceOffsets.length - 1 }, (_, s) =>
      this.readSequence({ batch, mask }, s, { into: ofAll, signal }),
    );
    try {
      await Promise.all(scores);
      if (!this.isChecked) await this.check();
    } catch (error) {
      failed.abort(error);
      await Promise.allSettled(scores);
      throw asTeacherError(error, this.options.endpoint.url);
    }
    return { logprobs: Float32Array.from(actionTokens, (n) => ofAll[n]), top: null };
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
    { batch: { tokenIds, sequenceOffsets }, mask }: SequencesAsked,
    s: number,
    { into, signal }: { readonly into: Float32Array; readonly signal: AbortSignal },
  ): Promise<void> {
    const [from, end] = [sequenceOffsets[s], endOfAsked(mask, sequenceOffsets, s)];
    if (end === from) return;
    const { url } = this.options.endpoint;
    const context = Array.from(tokenIds.subarray(from, end));
    const scored = await this.server.score(context, signal);
    for (let n = from; n < end; n++) {
      if (mask[n] === 0) continue;
      if (!Number.isFinite(scored[n - from])) throw refused(url, withoutLogprob(context, n - from));
      into[n] = scored[n - from];
    }
  }
}

/** Tokens of sequences, with a mask [N] of those that are asked about. */
type SequencesAsked = Pick<AskedTokens, 'batch' | 'mask'>;

/** End of the part of a sequence that has the tokens which are asked about; its start where there is none. */
function endOfAsked(mask: Uint8Array, sequenceOffsets: Int32Array, s: number): number {
  let end = sequenceOffsets[s + 1];
  while (end > sequenceOffsets[s] && mask[end - 1] === 0) end--;
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
