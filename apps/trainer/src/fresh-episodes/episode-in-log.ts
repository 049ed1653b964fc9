import { concatEpisodeColumns, type EpisodeTexts } from '@retrace/store';
import {
  columnsOfEpisodes,
  EpisodePlaces,
  type AnyEvent,
  type ColumnsStep,
  type EpisodeColumns,
  type EpisodeEnded,
  type EpisodeStarted,
  type SealedEpisode,
  type StepRecorded,
} from '@retrace/trajectory';

/** A whole episode, as far as an update reads it. */
export interface WholeEpisode {
  /** Columns, or for an episode of few steps what they are made of: that takes no more memory, and a batch of such episodes gets its columns at once. */
  readonly content: { readonly columns: EpisodeColumns } | { readonly sealed: SealedEpisode };
  /** Null where they are not kept. */
  readonly texts: EpisodeTexts | null;
}

const FEW_STEPS = 4;

/** Of the objects and arrays of an episode or of an open step, beside their content. */
const BYTES_PER_EPISODE = 2_500;
const BYTES_PER_STEP = 800;
/** Id, logprob, version and mask. */
const BYTES_PER_TOKEN = 13;

/**
 * An episode as its events come out of the log, in any order. The first event of a place counts, as `EpisodePlaces` decides for whoever gives
 * the events; what comes at a place later is not even looked at, as it is either the same or does not count.
 */
export class EpisodeInLog {
  readonly places = new EpisodePlaces();
  private started: EpisodeStarted | null = null;
  private ended: EpisodeEnded | null = null;
  private steps: (ColumnsStep | undefined)[] = [];
  private texts: (EpisodeTexts['steps'][number] | undefined)[] = [];
  private numSteps = 0;
  private sealed: WholeEpisode | null = null;
  private group: string | null = null;
  private bytes = BYTES_PER_EPISODE;

  constructor(
    private readonly episodeId: string,
    private readonly keepsTexts: boolean,
  ) {}

  /** The episode once its start, its end and all its steps are there. */
  get whole(): WholeEpisode | null {
    return this.sealed;
  }

  /** Null before the start of the episode was read. */
  get groupId(): string | null {
    return this.group;
  }

  /** Memory, about. */
  get numBytes(): number {
    return this.bytes;
  }

  /** Takes an event that got its place. */
  take(event: AnyEvent): void {
    if (this.sealed !== null) return;
    if (event.kind === 'EpisodeStarted') this.takeStart(event.payload);
    else if (event.kind === 'EpisodeEnded') this.ended ??= event.payload;
    else if (event.kind === 'StepRecorded') this.takeStep(event.payload);
    this.sealed = this.seal();
  }

  private takeStart(payload: EpisodeStarted): void {
    this.started ??= payload;
    this.group = this.started.groupId;
  }

  private takeStep(payload: StepRecorded): void {
    const { step } = payload;
    if (this.steps[step] !== undefined) return;
    this.numSteps += 1;
    // Each by its name: an object that is spread into another one grows field by field, which took a third of the time here.
    this.steps[step] = {
      step,
      reward: payload.reward,
      anchor: payload.anchor,
      actionValid: payload.actionValid,
      keptPrefixTokens: payload.keptPrefixTokens,
      sampling: payload.sampling,
      tokenIds: payload.tokenIds,
      actionMask: payload.actionMask,
      tokenLogprobs: payload.tokenLogprobs,
      tokenPolicyVersions: payload.tokenPolicyVersions,
    };
    this.bytes += BYTES_PER_STEP + BYTES_PER_TOKEN * payload.tokenIds.length;
    if (!this.keepsTexts) return;
    const { observation, action, parsedAction, rewardNames, rewardValues } = payload;
    this.texts[step] = { observation, action, parsedAction, rewardNames, rewardValues: [...rewardValues] };
  }

  private seal(): WholeEpisode | null {
    const { episodeId, started, ended } = this;
    if (started === null || ended?.numSteps !== this.numSteps) return null;
    const { environment, task, groupId } = started;
    const { finalObservation, endReason, success, finalTokenIds, finalKeptPrefixTokens } = ended;
    const ending = { endReason, success, finalTokenIds, finalKeptPrefixTokens };
    const whole = { episodeId, groupId, steps: this.steps as ColumnsStep[], ended: ending };
    const steps = this.texts as EpisodeTexts['steps'];
    const texts = this.keepsTexts ? { environment, task, finalObservation, steps } : null;
    this.started = null;
    this.ended = null;
    this.steps = [];
    this.texts = [];
    if (texts !== null) this.bytes += bytesOfTexts(texts);
    if (this.numSteps <= FEW_STEPS) return { content: { sealed: whole }, texts };
    const columns = columnsOfEpisodes([whole]);
    this.bytes = countBytes(columns) + (texts === null ? 0 : bytesOfTexts(texts));
    return { content: { columns }, texts };
  }
}

/** The columns of episodes, in this order. */
export function toEpisodeColumns(episodes: readonly WholeEpisode[]): EpisodeColumns {
  const parts: EpisodeColumns[] = [];
  let few: SealedEpisode[] = [];
  for (const { content } of episodes) {
    if ('sealed' in content) {
      few.push(content.sealed);
      continue;
    }
    if (few.length > 0) parts.push(columnsOfEpisodes(few));
    few = [];
    parts.push(content.columns);
  }
  if (few.length > 0 || parts.length === 0) parts.push(columnsOfEpisodes(few));
  return parts.length === 1 ? parts[0] : concatEpisodeColumns(parts);
}

function countBytes(columns: EpisodeColumns): number {
  let numBytes = BYTES_PER_EPISODE;
  for (const column of Object.values<ArrayLike<unknown>>(columns as never))
    if (ArrayBuffer.isView(column)) numBytes += column.byteLength;
  for (const anchor of columns.anchors) numBytes += anchor?.length ?? 0;
  return numBytes;
}

/** Texts beyond Latin-1 take two bytes a character, and so count all. */
function bytesOfTexts({ task, finalObservation, steps }: EpisodeTexts): number {
  let numCharacters = JSON.stringify(task).length + finalObservation.length;
  for (const { observation, action, parsedAction } of steps)
    numCharacters += observation.length + action.length + (parsedAction?.length ?? 0) + 100;
  return 2 * numCharacters;
}
