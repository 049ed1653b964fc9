import type { ActionFormat, ParseContext, ParsedTurn, WrittenTurn } from './action-format.js';
import { AgentFormatError } from './errors.js';
import { checkedFormat } from './formats/checked-format.js';

/** A turn as a format of one's own reads it. */
export interface CustomParsedTurn {
  /** Actions for the environment, in their order; [] where there is nothing to carry out. */
  readonly actions: readonly string[];
  readonly thought?: string | null;
  /** Whether the text keeps to the format (default: whether it has an action). */
  readonly valid?: boolean;
  /** One sentence that the agent can be told; only for a turn that is not valid. */
  readonly problem?: string | null;
}

/** Default export of a file that a recipe names as `agent.formatModule`, or what a function of the recipe's options returns there. */
export interface CustomFormatSpec {
  readonly name: string;
  /** Tells the agent how to answer: the placeholder `instructions` of the templates. */
  readonly prompt: string;
  /** Texts after which generating may stop; they stay in the text that is parsed (default: none). */
  readonly stopStrings?: readonly string[];
  /** Reads a turn: an action, null for a turn without one, or all that it says. */
  parse(text: string, context: ParseContext): string | null | CustomParsedTurn;
  /**
   * Writes a turn that `parse` reads as its thought and actions: for imitation, and for conversations without thoughts. By default the only action is the
   * text.
   */
  write?(turn: WrittenTurn): string;
}

const EXAMPLE = 'must be export default { name, prompt, parse }, with write for imitation';

/**
 * The format of a file.
 *
 * @throws AgentFormatError `INVALID_OPTION` naming what is missing or of another kind; from `parse` also for a turn that it reads as something else
 */
export function customFormat(exported: unknown): ActionFormat {
  const { name, prompt, parse, write, stopStrings = [] } = (exported ?? {}) as Partial<CustomFormatSpec>;
  const refuse = (what: string) => new AgentFormatError('INVALID_OPTION', `${what}; ${EXAMPLE}`);
  if (typeof name !== 'string' || name === '') throw refuse('name must be a text that is not empty');
  if (typeof prompt !== 'string') throw refuse(`prompt of the format "${name}" must be a text`);
  if (typeof parse !== 'function') throw refuse(`parse of the format "${name}" must be a function`);
  if (write !== undefined && typeof write !== 'function')
    throw refuse(`write of the format "${name}" must be a function`);
  if (!areTexts(stopStrings)) throw refuse(`stopStrings of the format "${name}" must be a list of texts`);
  const spec = exported as CustomFormatSpec;
  return checkedFormat({
    name,
    instructions: prompt,
    stopStrings,
    parse: (text, context) => readTurn(name, spec.parse(text, context)),
    write: (turn) => (write === undefined ? soleText(name, turn) : spec.write?.(turn)) ?? '',
  });
}

function readTurn(name: string, read: unknown): ParsedTurn {
  const turn = (
    typeof read === 'string' ? { actions: [read] } : (read ?? { actions: [] })
  ) as CustomParsedTurn;
  const { actions, thought = null, valid = actions?.length > 0, problem = null } = turn;
  const fault = (what: string) =>
    new AgentFormatError('INVALID_OPTION', `parse of the format "${name}" returned ${what}`);
  if (!areTexts(actions))
    throw fault(`${JSON.stringify(read)}, must be a text, null, or have a list of actions`);
  if (typeof valid !== 'boolean') throw fault(`valid ${JSON.stringify(valid)}, must be true or false`);
  if (!isTextOrNull(thought) || !isTextOrNull(problem))
    throw fault('a thought or problem that is neither a text nor null');
  const told = valid ? null : (problem ?? 'Your answer has no action in the format that was asked for.');
  return { actions, thought, valid, problem: told, toolCalls: [] };
}

function soleText(name: string, { actions, thought = '' }: WrittenTurn): string {
  if (actions.length === 1 && thought === '') return actions[0];
  throw new AgentFormatError(
    'NOT_WRITABLE',
    `the format "${name}" cannot say thought ${JSON.stringify(thought)}, actions ${JSON.stringify(actions)}: its file exports no write`,
  );
}

function areTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((each) => typeof each === 'string');
}

function isTextOrNull(value: unknown): value is string | null {
  return value === null || typeof value === 'string';
}
