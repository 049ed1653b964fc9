import { AgentFormatError } from '../errors.js';
import { PromptTemplate } from './prompt-template.js';

export const HISTORY_POLICIES = ['observation', 'full', 'last', 'summary'] as const;

/** Turns before it that a prompt shows. */
export type HistoryPolicy = (typeof HISTORY_POLICIES)[number];

/** A turn of the past, as prompts show it. */
export interface ShownTurn {
  /** From 1. */
  readonly number: number;
  readonly observation: string;
  readonly action: string;
}

/** The values of the placeholders. */
export interface PromptValues {
  readonly task: string;
  readonly observation: string;
  /** Actions that the environment admits, without `help`; [] where it does not say, or they are not to be shown. */
  readonly legal_actions: readonly string[];
  readonly instructions: string;
  /** Why the turn before broke the format; '' when it did not. */
  readonly problem: string;
  /** Number of the turn to come, from 1. */
  readonly turn: number;
  /** Number of turns so far. */
  readonly step_count: number;
  readonly max_turns: number;
  /** The turns that are shown, the oldest first. */
  readonly history: readonly ShownTurn[];
  readonly history_length: number;
  /** '' before the first summary. */
  readonly summary: string;
}

/** Names of the placeholders that prompts may use. */
export const PROMPT_PLACEHOLDERS = [
  'task',
  'observation',
  'legal_actions',
  'instructions',
  'problem',
  'turn',
  'step_count',
  'max_turns',
  'history',
  'history_length',
  'summary',
] as const satisfies readonly (keyof PromptValues)[];

/** Names of those that do not change within an episode, which a system prompt may use. */
export const SYSTEM_PLACEHOLDERS = [
  'instructions',
  'max_turns',
] as const satisfies readonly (keyof PromptValues)[];

/** Sources of the templates of a recipe; null is the default of the history policy. */
export interface TemplateSources {
  readonly system: string | null;
  readonly firstUser: string | null;
  readonly user: string | null;
  readonly summary: string | null;
}

export interface AgentTemplates {
  /** null where there is no message of the system. */
  readonly system: PromptTemplate | null;
  /** Of the first turn. */
  readonly firstUser: PromptTemplate;
  readonly user: PromptTemplate;
  /** Asks the model for a summary. */
  readonly summary: PromptTemplate;
}

/**
 * Reads the templates of a recipe.
 *
 * @throws AgentFormatError `INVALID_TEMPLATE` naming the template and what is wrong with it
 */
export function agentTemplates(sources: TemplateSources, policy: HistoryPolicy): AgentTemplates {
  const { system, firstUser, user, summary } = sources;
  return {
    system: system === null ? null : read('systemTemplate', system, SYSTEM_PLACEHOLDERS),
    firstUser: read('firstUserTemplate', firstUser ?? FIRST, PROMPT_PLACEHOLDERS),
    user: read('userTemplate', user ?? LATER[policy], PROMPT_PLACEHOLDERS),
    summary: read('summaryTemplate', summary ?? SUMMARY, PROMPT_PLACEHOLDERS),
  };
}

function read(name: string, source: string, known: readonly string[]): PromptTemplate {
  try {
    return new PromptTemplate(source, known);
  } catch (error) {
    throw new AgentFormatError('INVALID_TEMPLATE', `${name}: ${(error as Error).message}`);
  }
}

/** An empty line. Jinja drops a line break that follows a block, so it takes a third one there. */
const GAP = '\n\n';
const GAP_AFTER_BLOCK = `\n${GAP}`;

const CHOICES = `{% if legal_actions %}${GAP_AFTER_BLOCK}Possible actions: [{% for action in legal_actions %}'{{ action }}'{% if not loop.last %}, {% endif %}{% endfor %}]{% endif %}`;
const INSTRUCTIONS = `{% if instructions %}${GAP_AFTER_BLOCK}{{ instructions }}{% endif %}`;
const PROBLEM = `{% if problem %}{{ problem }}${GAP}{% endif %}`;
const TURNS = `The last {{ history_length }}, each with what you saw and did:\n{% for turn in history %}[Observation {{ turn.number }}: '{{ turn.observation }}', Action {{ turn.number }}: '{{ turn.action }}']{% if not loop.last %}\n\n{% endif %}{% endfor %}`;
const TASK = `Task: {{ task }}\nSteps so far: {{ step_count }}.`;

const FIRST = `{{ observation }}${CHOICES}${INSTRUCTIONS}`;
const WITH_PAST = `${TASK}{% if summary %} Your notes on them: {{ summary }}{% endif %}{% if history %}${GAP_AFTER_BLOCK}${TURNS}{% endif %}${GAP_AFTER_BLOCK}${PROBLEM}Step {{ turn }}. You see: {{ observation }}${CHOICES}${INSTRUCTIONS}`;

/** Of the turns after the first. */
const LATER: Readonly<Record<HistoryPolicy, string>> = {
  observation: `${PROBLEM}{{ observation }}${CHOICES}${INSTRUCTIONS}`,
  full: `${PROBLEM}{{ observation }}${CHOICES}`,
  last: WITH_PAST,
  summary: WITH_PAST,
};

const SUMMARY = `${TASK}{% if summary %} Your notes up to here: {{ summary }}{% endif %}${GAP_AFTER_BLOCK}${TURNS}${GAP_AFTER_BLOCK}Write notes for yourself that replace all of this: what you know, what you have done, what is left to do. Write nothing else.`;
