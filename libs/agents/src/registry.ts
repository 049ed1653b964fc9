import type { ActionFormat, ActionFormatOptions } from './action-format.js';
import { AgentFormatError } from './errors.js';
import { actionListFormat } from './formats/action-list.js';
import { bareFormat } from './formats/bare.js';
import { checkedFormat } from './formats/checked-format.js';
import { FUNCTION_CALLING, JSON_TOOL_CALL, jsonCallFormat } from './formats/json-tool-call.js';
import { reactFormat } from './formats/react.js';
import { searchAnswerFormat } from './formats/search-answer.js';
import { taggedFormat } from './formats/tagged.js';
import { PLAN_ACTION, THINK_ACTION, THINK_ANSWER } from './formats/tagged-formats.js';
import { toolCallFormat } from './formats/tool-call.js';
import { toolUseFormat } from './formats/tool-use.js';

type FormatMaker = (options: ActionFormatOptions) => ActionFormat;

const FORMATS: ReadonlyMap<string, FormatMaker> = new Map<string, FormatMaker>([
  ['bare', bareFormat],
  ['react', reactFormat],
  ['think-action', (options) => taggedFormat(THINK_ACTION, options)],
  ['think-answer', (options) => taggedFormat(THINK_ANSWER, options)],
  ['plan-action', (options) => taggedFormat(PLAN_ACTION, options)],
  ['action-list', actionListFormat],
  ['search-answer', searchAnswerFormat],
  ['json-tool-call', (options) => jsonCallFormat(JSON_TOOL_CALL, options)],
  ['function-calling', (options) => jsonCallFormat(FUNCTION_CALLING, options)],
  ['tool-call', toolCallFormat],
  ['tool-use', toolUseFormat],
]);

/** Names of all formats. */
export function listActionFormats(): readonly string[] {
  return [...FORMATS.keys()];
}

/**
 * Makes a format, once per run.
 *
 * @throws AgentFormatError `UNKNOWN_FORMAT` for a name that is none, `INVALID_OPTION` for an option out of its range or a tool
 * whose schema is none
 */
export function actionFormat(name: string, options: ActionFormatOptions): ActionFormat {
  const make = FORMATS.get(name);
  if (make === undefined) {
    throw new AgentFormatError(
      'UNKNOWN_FORMAT',
      `Unknown action format "${name}"; known are ${listActionFormats().join(', ')}`,
    );
  }
  const { maxActions } = options;
  if (maxActions !== undefined && (!Number.isInteger(maxActions) || maxActions < 1)) {
    throw new AgentFormatError(
      'INVALID_OPTION',
      `maxActions: got ${maxActions}, must be a whole number from 1`,
    );
  }
  return checkedFormat(make(options));
}
