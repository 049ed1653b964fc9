import type { EpisodeTexts } from '@retrace/store';
import {
  columnsOfEpisodes,
  EpisodePlaces,
  type AnyEvent,
  type ColumnsStep,
  type EpisodeColumns,
  type EpisodeEnded,
  type EpisodeStarted,
  type StepRecorded,
} from '@retrace/trajectory';

/** A whole episode, as far as an update reads it. */
export interface WholeEpisode {
  readonly columns: EpisodeColumns;
  /** Null where they are not kept. */
  readonly texts: EpisodeTexts | null;
}

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
  private bytes = BYTES_PER_EPISODE;

  constructor(
    private readonly episodeId: string,
    private readonly keepsTexts: boolean,
  ) {}

  /** The episode once its start, its end and all its steps are there. */
  get whole(): WholeEpisode | null {
    return this.sealed;
  }

  /** Memory, about. */
  get numBytes(): number {
    return this.bytes;
  }

  /** Takes an event that got its place. */
  take(event: AnyEvent): void {
    if (this.sealed !== null) return;
    if (event.kind === 'EpisodeStarted') this.started ??= event.payload;
    else if (event.kind === 'EpisodeEnded') this.ended ??= event.payload;
    else if (event.kind === 'StepRecorded') this.takeStep(event.payload);
    this.sealed = this.seal();
  }

  private takeStep(payload: StepRecorded): void {
    const { step } = payload;
    if (this.steps[step] !== undefined) return;
    this.numSteps += 1;
    const { reward, anchor, actionValid, keptPrefixTokens, sampling } = payload;
    const { tokenIds, actionMask, tokenLogprobs, tokenPolicyVersions } = payload;
    this.steps[step] = {
      ...{ step, reward, anchor, actionValid, keptPrefixTokens, sampling },
      ...{ tokenIds, actionMask, tokenLogprobs, tokenPolicyVersions },
    };
    this.bytes += BYTES_PER_STEP + BYTES_PER_TOKEN * tokenIds.length;
    if (!this.keepsTexts) return;
    const { observation, action, parsedAction, rewardNames, rewardValues } = payload;
    this.texts[step] = { observation, action, parsedAction, rewardNames, rewardValues: [...rewardValues] };
  }

  private seal(): WholeEpisode | null {
    const { episodeId, started, ended } = this;
    if (started === null || ended?.numSteps !== this.numSteps) return null;
    const columns = columnsOfEpisodes([
      { episodeId, groupId: started.groupId, steps: this.steps as ColumnsStep[], ended },
    ]);
    const { environment, task } = started;
    const { finalObservation } = ended;
    const steps = this.texts as EpisodeTexts['steps'];
    const texts = this.keepsTexts ? { environment, task, finalObservation, steps } : null;
    this.steps = [];
    this.texts = [];
    this.bytes = bytesOf(columns) + (texts === null ? 0 : bytesOfTexts(texts));
    return { columns, texts };
  }
}

function bytesOf(columns: EpisodeColumns): number {
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
