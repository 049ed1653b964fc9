import { reActAction } from '@retrace/agents';
import type { Json } from '@retrace/trajectory';
import type { Environment, Observation, ResetOptions, StepResult } from '../environment.js';
import { EnvironmentError } from '../errors.js';
import { INVALID_ACTION_NAMES, INVALID_ACTION_REWARD, INVALID_ACTION_VALUES } from '../invalid-action.js';
import { SnapshotFields } from '../snapshot-fields.js';
import { MARKS, markGuess } from './marks.js';
import { WORDLE_WORDS } from './wordle-words.js';

export const NUM_GUESSES = 6;

const WORLD = 'wordle';
const IS_WORD = new Set(WORDLE_WORDS);
const LETTERS = [...'abcdefghijklmnopqrstuvwxyz'];
const SOLVED_PARTS = { names: ['solved'], values: [1] };
const NO_PARTS = { names: [], values: [] };

/** Every word of observations and actions, which are spelled letter by letter: `c r a n e`. */
export const WORDLE_VOCABULARY: readonly string[] = [
  ...LETTERS,
  'start',
  'invalid',
  ...Array.from({ length: NUM_GUESSES }, (_, turn) => `turn_${turn + 1}`),
  ...LETTERS.flatMap((letter) => MARKS.map((mark) => `${letter}_${mark}`)),
];

/**
 * Guess a secret word of five letters in six turns; each guess is marked letter by letter.
 *
 * The secret is the task and never changes (AgentGym draws it again as long as other words fit the marks), and marks count letters truly.
 * An observation is all guesses so far: `turn_1 c_absent r_absent a_present n_correct e_absent`. A guess is a word of the list, in one piece or
 * spelled. Any other text is an invalid action: −0.1 and the turn. Reward 1 (`solved`) for the secret, which ends the episode, as the
 * sixth turn does (`terminated`: nothing can follow it). Success = the secret was guessed.
 */
export class Wordle implements Environment {
  private secret: string | null = null;
  /** Guesses in order; null for a turn that was lost. */
  private guesses: (string | null)[] = [];
  private over = true;

  reset({ task }: ResetOptions): Observation {
    this.secret = parseWordleTask(task);
    this.guesses = [];
    this.over = false;
    return this.observe();
  }

  step(action: string): StepResult {
    const secret = this.requireSecret();
    if (this.over)
      throw new EnvironmentError('EPISODE_OVER', 'the episode is over: reset before the next step');
    const guess = parseGuess(action);
    const actionValid = guess !== null && IS_WORD.has(guess);
    this.guesses.push(actionValid ? guess : null);
    const solved = guess === secret;
    this.over = solved || this.guesses.length === NUM_GUESSES;
    const parts = solved ? SOLVED_PARTS : NO_PARTS;
    return {
      observation: this.observe(),
      reward: actionValid ? Number(solved) : INVALID_ACTION_REWARD,
      rewardNames: actionValid ? parts.names : INVALID_ACTION_NAMES,
      rewardValues: actionValid ? parts.values : INVALID_ACTION_VALUES,
      terminated: this.over,
      truncated: false,
      parsedAction: guess,
      actionValid,
      success: this.over ? solved : null,
      info: null,
    };
  }

  snapshot(): Json {
    const { guesses, over } = this;
    return { world: WORLD, task: { secret: this.requireSecret() }, guesses: [...guesses], over };
  }

  restore(snapshot: Json): Observation {
    const fields = new SnapshotFields(WORLD, snapshot);
    const guesses = fields.json('guesses');
    const over = fields.boolean('over');
    const isGuess = (guess: Json): guess is string | null => guess === null || IS_WORD.has(guess as string);
    if (!Array.isArray(guesses) || guesses.length > NUM_GUESSES || !guesses.every(isGuess)) {
      throw fields.fault('guesses', `be a list of at most ${NUM_GUESSES} words of the list or null`);
    }
    this.reset({ task: fields.task, seed: 0 });
    this.guesses = [...guesses];
    this.over = over;
    return this.observe();
  }

  close(): void {
    this.over = true;
  }

  /** The valid guesses of the running episode with their marks: all that an agent may know. */
  get known(): readonly { readonly guess: string; readonly marks: readonly string[] }[] {
    const secret = this.requireSecret();
    return this.guesses.flatMap((guess) =>
      guess === null ? [] : [{ guess, marks: markGuess(secret, guess) }],
    );
  }

  get numTurnsLeft(): number {
    return NUM_GUESSES - this.guesses.length;
  }

  /** Lists no legal actions: they are the whole list of words. The order of the guesses does not matter for what is known. */
  private observe(): Observation {
    const secret = this.requireSecret();
    const turns = this.guesses.map((guess, turn) => {
      if (guess === null) return `turn_${turn + 1} invalid`;
      const marks = markGuess(secret, guess).map((mark, place) => `${guess[place]}_${mark}`);
      return `turn_${turn + 1} ${marks.join(' ')}`;
    });
    const known = this.known.map(({ guess, marks }) => `${guess}:${marks.map((mark) => mark[0]).join('')}`);
    return {
      text: turns.length === 0 ? 'start' : turns.join(' '),
      anchor: known.sort().join(' '),
      legalActions: null,
    };
  }

  private requireSecret(): string {
    if (this.secret === null) throw new EnvironmentError('NOT_RESET', 'wordle: reset before the first step');
    return this.secret;
  }
}

/** Reads five letters, in one piece or with blanks between all of them, in any case, by themselves or after `Action:`. */
function parseGuess(text: string): string | null {
  const word = (reActAction(text) ?? text).trim().toLowerCase();
  return /^([a-z]{5}|[a-z](\s+[a-z]){4})$/.test(word) ? word.replaceAll(/\s+/g, '') : null;
}

/** @throws EnvironmentError `INVALID_TASK` unless the task is `{ secret }` with a word of the list */
function parseWordleTask(task: Json): string {
  const secret = task !== null && typeof task === 'object' && 'secret' in task ? task.secret : undefined;
  if (typeof secret === 'string' && IS_WORD.has(secret)) return secret;
  throw new EnvironmentError(
    'INVALID_TASK',
    `task.secret is ${JSON.stringify(secret)}, must be one of the ${WORDLE_WORDS.length} words of the list, in small letters`,
  );
}
