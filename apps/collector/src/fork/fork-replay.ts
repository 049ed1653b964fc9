import type { Observation, StepResult } from '@retrace/environments';
import type { StepRecorded } from '@retrace/trajectory';
import { concatTokens } from '../turn/concat-tokens.js';
import type { Prompt, Turn } from '../turn/turn.js';
import { forcedTurn, recordedTurn } from './fork-context.js';
import type { ForkStart } from './fork-start.js';

const MAX_SHOWN_CHARACTERS = 120;

/**
 * Brings a new episode to the step that it is forked from: answers its prompts with the recorded turns, checks that the environment says what was
 * recorded, and remembers the resulting context.
 */
export class ForkReplay {
  private at = 0;
  /** Tokens of the context so far that no actor has seen. */
  private context: Int32Array | null = new Int32Array(0);
  private hasActed = false;
  private forced: Turn | null = null;
  /** All steps up to the one that is forked, with those of the episodes that its episode was itself forked from. */
  private readonly steps: readonly StepRecorded[];
  /** Number of steps before the one that is forked. */
  private readonly numReplayed: number;

  constructor(private readonly fork: ForkStart) {
    const { origin, steps, step } = fork.point;
    this.steps = [...origin.steps, ...steps.slice(0, step + 1)];
    this.numReplayed = this.steps.length - 1;
  }

  /** Whether the episode is still before the step. */
  get isReplaying(): boolean {
    return this.at < this.numReplayed;
  }

  /** Whether it is at the step, and nothing was done there yet. */
  get isAtStep(): boolean {
    return !this.isReplaying && !this.hasActed;
  }

  /** Seed from which the environment draws its chance before the next action; null leaves its chance as it is. */
  get chanceSeed(): number | null {
    if (this.hasActed) return null;
    const own = this.isAtStep ? this.fork.chanceSeed : null;
    return own ?? this.fork.point.origin.chanceSeeds.get(this.at) ?? null;
  }

  /** Says how an observation differs from the recorded one; null where it does not, and after the replay. */
  checkObservation({ text, anchor }: Observation): string | null {
    if (this.hasActed) return null;
    const { observation, anchor: recorded } = this.recorded;
    const found = difference('observation', text, observation) ?? difference('anchor', anchor, recorded);
    return found === null ? null : `step ${this.at} differs from the recorded one: ${found}`;
  }

  /** Says how the outcome of a replayed step differs from the recorded one, or goes on to the next step. */
  checkResult(result: StepResult): string | null {
    const { reward, terminated, truncated } = this.recorded;
    const found =
      difference('reward', result.reward, reward) ??
      difference('terminated', result.terminated, terminated) ??
      difference('truncated', result.truncated, truncated);
    if (found !== null) return `step ${this.at} differs from the recorded one: ${found}`;
    this.at += 1;
    return null;
  }

  /** The recorded or forced turn that answers a prompt; null where the policy is to act. */
  turnFor(prompt: Prompt): Turn | null {
    const turn = this.isReplaying ? this.recordedTurnFor(prompt) : this.takeForced();
    if (turn !== null && this.context !== null) {
      this.context = concatTokens(
        this.context.subarray(0, prompt.keptPrefixTokens),
        prompt.tokenIds,
        turn.tokenIds,
      );
    }
    return turn;
  }

  /**
   * The prompt with the whole context in it, which an actor needs at its first request; later the prompt itself. The first step of a fork is recorded
   * with it, so that the fork holds every token that its policy read.
   */
  wholePrompt(prompt: Prompt): Prompt {
    const { context } = this;
    if (context === null) return prompt;
    const tokenIds = concatTokens(context.subarray(0, prompt.keptPrefixTokens), prompt.tokenIds);
    return { ...prompt, keptPrefixTokens: 0, tokenIds };
  }

  /** Records that an actor was asked; from then on the actor keeps the context. */
  asked(): void {
    this.hasActed = true;
    this.context = null;
  }

  /** Whether the turn is the first action that the caller chose. */
  isForced(turn: Turn): boolean {
    return turn === this.forced;
  }

  /** The first step of a fork is recorded with the whole context as its prompt. */
  private recordedTurnFor(prompt: Prompt): Turn {
    const { recorded } = this;
    const isWhole = recorded.keptPrefixTokens === 0 && prompt.keptPrefixTokens > 0;
    return recordedTurn(recorded, isWhole ? this.wholePrompt(prompt) : prompt, this.fork.speech);
  }

  private takeForced(): Turn | null {
    const { forcedAction, speech } = this.fork;
    if (forcedAction === null || this.hasActed) return null;
    this.hasActed = true;
    this.forced = forcedTurn(forcedAction, speech);
    return this.forced;
  }

  private get recorded(): StepRecorded {
    return this.steps[this.at];
  }
}

function difference(name: string, played: unknown, recorded: unknown): string | null {
  return played === recorded ? null : `${name} is ${shown(played)} instead of ${shown(recorded)}`;
}

function shown(value: unknown): string {
  const text = JSON.stringify(value);
  return text.length > MAX_SHOWN_CHARACTERS ? `${text.slice(0, MAX_SHOWN_CHARACTERS)}…` : text;
}
