import type { Json } from '@retrace/trajectory';
import { refusal, TextWorld, type Outcome } from '../text-world/text-world.js';
import {
  applyCommand,
  listCommands,
  HELD,
  isSolved,
  startHousehold,
  type Command,
  type HouseholdDialect,
  type HouseholdState,
} from './household-rules.js';
import { parseHouseholdTask, type Household } from './household-task.js';
import { answerText, introText, NOTHING_HAPPENS } from './household-texts.js';

export interface HouseholdOptions {
  /** Name in snapshots. */
  readonly world: string;
  readonly dialect: HouseholdDialect;
  readonly maxSteps: number;
  /** Words that answers are limited to; null for none. */
  readonly words: ReadonlySet<string> | null;
}

/** The least and most that the marks of a state can be. */
const MAX_THING_MARKS = 31;
const MAX_RECEPTACLE_MARKS = 3;

/**
 * A room of a home: find things, carry one at a time, open, heat, cool, clean, light, and put them where they belong.
 *
 * Rules, sentences and lists of actions of ALFWorld (arXiv:2010.03768), its odd ones included: going where one stands already does nothing,
 * only what is held can be examined, heating needs no open microwave, a lamp
 * can't be turned off, and from the middle of the room `look` sees nothing. Differences: each receptacle stands at a place
 * of its own, an action that does nothing costs −0.1 (0 there), `help` has words of its own. Reward 1 and end when the task is solved.
 */
export class HouseholdWorld extends TextWorld<Household, HouseholdState> {
  private readonly dialect: HouseholdDialect;
  private readonly form: RegExp;
  private listed: { readonly state: HouseholdState; readonly commands: ReadonlyMap<string, Command> } | null =
    null;

  constructor({ dialect, ...options }: HouseholdOptions) {
    super(options);
    this.dialect = dialect;
    this.form = dialect === 'move' ? MOVE_FORM : PUT_FORM;
  }

  /** Everything that can be done now, by the words for it. */
  get commands(): ReadonlyMap<string, Command> {
    const { state } = this;
    if (this.listed?.state !== state) {
      this.listed = { state, commands: listCommands(this.rules, state, this.dialect) };
    }
    return this.listed.commands;
  }

  protected parseTask(task: Json): Household {
    return parseHouseholdTask(task);
  }

  protected begin(household: Household): { state: HouseholdState; text: string } {
    return { state: startHousehold(household), text: introText(household) };
  }

  protected act(action: string): { state: HouseholdState; outcome: Outcome } {
    const command = this.commands.get(action);
    if (command === undefined) {
      const parsedAction = this.form.test(action) ? action : null;
      return { state: this.state, outcome: refusal(NOTHING_HAPPENS, parsedAction) };
    }
    const state = applyCommand(this.rules, this.state, command);
    const text = answerText(this.rules, state, { command, dialect: this.dialect });
    const solved = isSolved(this.rules, state);
    const outcome: Outcome = {
      text,
      parsedAction: action,
      isValid: true,
      rewards: solved ? [['goal', 1]] : [],
      isSolved: solved,
    };
    return { state, outcome };
  }

  /** Where everything is and in which state; not which receptacles have been looked into. */
  protected describeState(): string {
    const { at, places, thingMarks, receptacleMarks } = this.state;
    const opened = receptacleMarks.map((marks) => marks & 1).join('');
    return `${this.rules.hash}@${at}:${places.join(',')}:${thingMarks.join(',')}:${opened}`;
  }

  protected listActions(): readonly string[] {
    return [...this.commands.keys()].sort();
  }

  protected readState(state: Json, { receptacles, things }: Household): HouseholdState | null {
    const { at, places, thingMarks, receptacleMarks } = (state ?? {}) as Partial<HouseholdState>;
    const last = receptacles.length - 1;
    if (!areIntegers([at], 1, [-1, last]) || !areIntegers(places, things.length, [HELD, last])) return null;
    if (places.filter((place) => place === HELD).length > 1) return null;
    if (!areIntegers(thingMarks, things.length, [0, MAX_THING_MARKS])) return null;
    if (!areIntegers(receptacleMarks, receptacles.length, [0, MAX_RECEPTACLE_MARKS])) return null;
    return { at: at as number, places, thingMarks, receptacleMarks };
  }
}

function areIntegers(
  values: unknown,
  length: number,
  [least, most]: readonly [number, number],
): values is readonly number[] {
  const isInside = (value: unknown): boolean =>
    Number.isSafeInteger(value) && (value as number) >= least && (value as number) <= most;
  return Array.isArray(values) && values.length === length && values.every(isInside);
}

const NAME = '[a-z]+ [1-9]';
const SHARED_FORM = `look|inventory|(?:go to|open|close|examine|use) ${NAME}|take ${NAME} from ${NAME}|(?:heat|cool|clean|slice) ${NAME} with ${NAME}`;
const MOVE_FORM = new RegExp(`^(?:${SHARED_FORM}|help|move ${NAME} to ${NAME})$`);
const PUT_FORM = new RegExp(`^(?:${SHARED_FORM}|put ${NAME} in/on ${NAME})$`);
