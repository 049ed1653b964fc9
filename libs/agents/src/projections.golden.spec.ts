import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { ActionFormatOptions, ParsedTurn, ToolSchema } from './action-format.js';
import { actionFormat } from './registry.js';

interface Answer {
  readonly case: string;
  readonly text: string;
  readonly actions: readonly string[];
  readonly valid: boolean;
}

const { projections } = JSON.parse(
  readFileSync(new URL('../../../test/golden/agents/projections.json', import.meta.url), 'utf8'),
) as { readonly projections: Readonly<Record<string, readonly Answer[]>> };

/** Cases in which a lenient format differs from a projection, under the reason. */
type Differences = Readonly<
  Record<string, Readonly<Record<string, Partial<Pick<ParsedTurn, 'actions' | 'valid'>>>>>
>;

interface Comparison {
  readonly projection: string;
  readonly format: string;
  readonly options?: Omit<ActionFormatOptions, 'strict'>;
  readonly legalActions?: readonly string[];
  readonly differences: Differences;
}

const FRAGMENT =
  'a reply without an action executes nothing, where theirs executes its last characters or ""';
const UNCLOSED = 'an action without an end is read to the end of the text, and stays invalid';
const CLOSES_AFTER = 'an end tag counts only after its start tag, where theirs executes "" as valid';
const AFTER_THOUGHT = 'an action inside the thought is thought of, and not executed';
const ANY_CASE = 'tags count in any case, also those of the thought';
const OPENED_BY_PROMPT = 'the prompt may have opened the thought';
const ANY_LANGUAGE = 'agents may think and act in Chinese';
const EMPTY = 'an empty action is invalid, where theirs executes "" as valid';

const FRAGMENTS = {
  'no action': { actions: [] },
  'words only': { actions: [] },
  nothing: { actions: [] },
} as const;

const TAG_DIFFERENCES: Differences = {
  [FRAGMENT]: FRAGMENTS,
  [UNCLOSED]: { 'an action without an end': { actions: ['go to desk 1'], valid: false } },
  [CLOSES_AFTER]: { 'an end before the start': { actions: ['look'], valid: true } },
  [AFTER_THOUGHT]: { 'an action in the thought': { actions: ['look'], valid: true } },
  [ANY_CASE]: { 'capitals in the tags': { valid: true } },
  [OPENED_BY_PROMPT]: { 'an end of a thought without a start': { valid: true } },
  [ANY_LANGUAGE]: { 'a thought in Chinese': { valid: true } },
  [EMPTY]: { 'an empty action': { actions: [], valid: false } },
  'the action follows the thought; one before it is not found': {
    'an action before the thought': { actions: [], valid: false },
  },
};

const text = { type: 'string' } as const;
const tool = (name: string, action: string | undefined, ...names: readonly string[]): ToolSchema => ({
  name,
  action,
  parameters: {
    type: 'object',
    properties: Object.fromEntries(names.map((each) => [each, text])),
    required: names,
    additionalProperties: false,
  },
});

const COMPARISONS: readonly Comparison[] = [
  {
    projection: 'verl-agent alfworld',
    format: 'think-action',
    legalActions: ['go to desk 1', 'look', 'inventory'],
    differences: TAG_DIFFERENCES,
  },
  {
    projection: 'verl-agent webshop',
    format: 'think-action',
    differences: {
      ...TAG_DIFFERENCES,
      'capitals stay where the environment lists no actions': {
        'capitals in the action': { actions: ['Go To Desk 1'] },
      },
    },
  },
  {
    projection: 'verl-agent sokoban',
    format: 'think-action',
    legalActions: ['up', 'down', 'left', 'right'],
    differences: {
      ...TAG_DIFFERENCES,
      [FRAGMENT]: FRAGMENTS,
      [UNCLOSED]: { 'an action without an end': { actions: ['left'] } },
      [CLOSES_AFTER]: { 'an end before the start': { actions: ['up'], valid: true } },
      [AFTER_THOUGHT]: { 'an action in the thought': { actions: ['up'], valid: true } },
      [ANY_LANGUAGE]: {},
      [EMPTY]: { 'an empty action': { actions: [] } },
      'the environment finds its words in an action, and refuses what it does not know': {
        'words around the move': { actions: ['move up'] },
        'capitals in the action': { actions: ['Go To Desk 1'], valid: true },
        'an action that is not admissible': { actions: ['fly away'], valid: true },
      },
    },
  },
  {
    projection: 'verl-agent search',
    format: 'search-answer',
    differences: {
      'a reply without a block executes nothing, where theirs sends ""': {
        'a search without an end': { actions: [] },
        neither: { actions: [] },
        nothing: { actions: [] },
      },
      'the first block is the one that is read, whichever it is': {
        'an answer before a search': { actions: ['<answer>me</answer>'] },
      },
      [AFTER_THOUGHT]: { 'a search in the thought': { actions: ['<search>this</search>'], valid: true } },
    },
  },
  {
    projection: 'OpenManus-RL alfworld',
    format: 'plan-action',
    legalActions: ['go to desk 1', 'look', 'inventory'],
    differences: {
      [FRAGMENT]: FRAGMENTS,
      [EMPTY]: { 'an empty action': { actions: [] } },
      [UNCLOSED]: { 'an action without an end': { actions: ['go to desk 1'] } },
      [CLOSES_AFTER]: { 'an end before the start': { actions: ['look'] } },
    },
  },
  {
    projection: 'OpenManus-RL webshop',
    format: 'think-action',
    differences: {
      ...TAG_DIFFERENCES,
      'capitals stay where the environment lists no actions': {
        'capitals in the action': { actions: ['Go To Desk 1'] },
      },
    },
  },
  {
    projection: 'OpenManus-RL tool_use',
    format: 'tool-use',
    options: {
      tools: [
        {
          name: 'search',
          parameters: { type: 'object', properties: { query: text, limit: { type: 'integer' } } },
        },
        tool('clock', undefined),
      ],
    },
    differences: {
      'a call without a tool executes nothing, where theirs sends the whole text': {
        'no tool': { actions: [] },
      },
      'a call without an end is invalid, where theirs takes it for words': {
        'a call without an end': { actions: [], valid: false },
      },
      'an unknown tool is invalid': { 'a tool that there is not': { actions: [], valid: false } },
      'an empty reply is invalid': { nothing: { actions: [], valid: false } },
      [ANY_LANGUAGE]: { 'a call in Chinese': { valid: true } },
    },
  },
  {
    projection: 'RAGEN',
    format: 'action-list',
    legalActions: ['Up', 'Down', 'Left', 'Right'],
    differences: {
      'words between the blocks are allowed': {
        'words between the blocks': { actions: ['Up'], valid: true },
      },
      'a reply without a thought executes its actions, and stays invalid': {
        'no thought': { actions: ['Up'] },
      },
      [UNCLOSED]: { 'an answer without an end': { actions: ['Up'] } },
      'end tokens are not part of our texts, and make an action unknown': {
        'tags of the chat template': { actions: [], valid: false },
      },
    },
  },
  {
    projection: 'AgentGym react',
    format: 'react',
    differences: {
      'an action is one line: what the agent makes up after it is dropped': {
        'an observation made up': { actions: ['look'] },
      },
      'the label of the thought may be missing': {
        'no thought': { valid: true },
        'no label of the thought': { valid: true },
      },
      'an empty action is invalid': { 'nothing after the label': { valid: false } },
      'several actions are invalid, as in its clients of textcraft and babyai': {
        'two actions': { valid: false },
      },
    },
  },
  {
    projection: 'AgentGym function calling',
    format: 'function-calling',
    options: {
      tools: [
        tool('goto', 'go to {recep}', 'recep'),
        tool('take', 'take {obj} from {recep}', 'obj', 'recep'),
        tool('open', 'open {recep}', 'recep'),
        tool('inventory', 'inventory'),
        tool('look', 'look'),
      ],
    },
    differences: {
      'a missing argument is invalid, where theirs sends half a sentence': {
        'a missing argument': { actions: [], valid: false },
      },
      'the thought may be missing': { 'no thought': { actions: ['look'], valid: true } },
      'broken JSON that can be repaired is read': {
        'single quotes': { actions: ['look'], valid: true },
        'a comma at the end': { actions: ['look'], valid: true },
      },
    },
  },
];

describe.each(COMPARISONS)('$format, lenient, beside $projection', (comparison) => {
  const { projection, differences, legalActions = null } = comparison;
  const format = actionFormat(comparison.format, { strict: false, ...comparison.options });
  const answers = projections[projection];
  const ours = ({ text: reply }: Answer): Pick<ParsedTurn, 'actions' | 'valid'> => {
    const { actions, valid } = format.parse(reply, { legalActions });
    return { actions, valid };
  };
  const differing = new Set(Object.values(differences).flatMap((cases) => Object.keys(cases)));

  it('reads the same actions and validity in all other texts', () => {
    const others = answers.filter((answer) => !differing.has(answer.case));
    expect(others.length).toBeGreaterThan(5);
    for (const answer of others) {
      const { actions, valid } = answer;
      expect(ours(answer), answer.case).toEqual({ actions, valid });
    }
  });

  it.each(Object.entries(differences))('%s', (_, cases) => {
    for (const [name, expected] of Object.entries(cases)) {
      const answer = answers.find((each) => each.case === name);
      if (answer === undefined) throw new Error(`no text "${name}"`);
      const { actions, valid } = answer;
      expect(ours(answer), name).toEqual({ actions, valid, ...expected });
      expect(ours(answer), name).not.toEqual({ actions, valid });
    }
  });
});

it("plan-action accepts the replies that OpenManus-RL's prompt for WebShop asks for and its projection flags as invalid", () => {
  const asked = projections['OpenManus-RL webshop'].filter((answer) => answer.case.startsWith('a plan'));
  expect(asked.map(({ valid }) => valid)).toEqual([false, false]);
  const format = actionFormat('plan-action', { strict: false });
  expect(asked.map((answer) => format.parse(answer.text, { legalActions: null }).valid)).toEqual([
    true,
    true,
  ]);
});
