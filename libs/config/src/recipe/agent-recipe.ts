import { HISTORY_POLICIES, type HistoryPolicy } from '@retrace/agents';
import { IsBoolean, IsIn, IsOptional, Type, ValidateNested } from '@retrace/validation';
import {
  Advanced,
  IsLine,
  IsList,
  IsName,
  IsNullable,
  IsOptions,
  IsText,
  IsWholeNumberFrom,
} from './field-rules.js';
import { NotWith } from './sibling-rules.js';

const MAX_TEMPLATE = { maxLength: 100_000, minLength: 0 };
const READS_TURNS = 'which reads turns by itself';
const WRITES_PROMPTS = 'which writes its own prompts';
const TOKENS = { unit: 'tokens', why: 'an episode is held in memory' };

/** Responses to a prompt that is longer than it may be. */
export const TRUNCATIONS = ['endEpisode', 'dropHistory', 'cutObservationStart', 'cutObservationEnd'] as const;
export type Truncation = (typeof TRUNCATIONS)[number];

/** A tool that the agent may call, in the formats that call tools. */
export class ToolRecipe {
  /** Name of the tool. */
  @IsName() readonly name!: string;
  /** Description of the tool, for the agent. */
  @IsOptional() @IsText({ maxLength: 10_000 }) readonly description?: string;
  /** JSON schema (draft 7) of the arguments, whose `type` is `object`. */
  @IsOptions() readonly parameters!: Readonly<Record<string, unknown>>;
  /** The environment's action for a call, with arguments in braces, as in `take {object} from {place}`; without it, the call as JSON. */
  @IsOptional() @IsText({ maxLength: 10_000 }) readonly action?: string;
}

/** Turns before it that a prompt shows. */
export class HistoryRecipe {
  /**
   * Only the current `observation`; the `full` conversation, which the context of window `history` continues; the `last` turns, written into one
   * fresh message; or a `summary` by the model with the turns since.
   */
  @IsIn(HISTORY_POLICIES) readonly policy!: HistoryPolicy;
  /** Number of turns that `last` shows, and after which the model writes the next `summary`. @defaultValue 2 */
  @IsOptional()
  @IsWholeNumberFrom(0, 10_000, { unit: 'turns', why: 'an episode has no more' })
  readonly length?: number;
  /** Whether a `full` conversation keeps the thoughts of earlier turns; without them, each prompt begins a new sequence after what is kept. @defaultValue true */
  @Advanced() @IsOptional() @IsBoolean() readonly keepThoughts?: boolean;
  /** Whether the summaries are trained as actions are. @defaultValue false */
  @Advanced() @IsOptional() @IsBoolean() readonly trainSummaries?: boolean;
}

/** The response to a turn that breaks the format. Its cost is a component of the reward: `invalidAction`. */
export class InvalidActionRecipe {
  /** Whether what a lenient format found in it is carried out; else the turn is lost. @defaultValue true */
  @IsOptional() @IsBoolean() readonly execute?: boolean;
  /** Whether the next prompt says what was wrong, in its placeholder `problem`. @defaultValue true */
  @IsOptional() @IsBoolean() readonly tell?: boolean;
  /** Number of invalid turns in a row, by the format or by the environment, that end the episode; null never does. @defaultValue null */
  @Advanced()
  @IsNullable()
  @IsWholeNumberFrom(1, 100_000, { unit: 'turns', why: 'an episode has no more' })
  readonly endAfter?: number | null;
}

/** Everything between what the environment shows and what the model writes. */
export class AgentRecipe {
  /** Name of the format in which the model writes its actions. @defaultValue "bare" */
  @NotWith('formatModule', READS_TURNS)
  @IsOptional()
  @IsName()
  readonly format?: string;
  /** Path of your own file whose default export is an action format, `{ name, prompt, parse, write? }`, in place of `format`; templates show its `prompt` as `instructions`. Relative to the recipe file. */
  @IsOptional() @IsLine({ maxLength: 4096 }) readonly formatModule?: string;
  /** Whether anything but the format is invalid; else an action is found where it can be. @defaultValue true */
  @NotWith('formatModule', READS_TURNS)
  @IsOptional()
  @IsBoolean()
  readonly strict?: boolean;
  /** Most actions of one turn, for formats of several; without it, the format's own number. */
  @NotWith('formatModule', READS_TURNS)
  @Advanced()
  @IsOptional()
  @IsWholeNumberFrom(1, 100, { unit: 'actions', why: 'they are carried out before the next turn' })
  readonly maxActionsPerTurn?: number;
  /** Tools of the formats that call tools. */
  @NotWith('formatModule', READS_TURNS)
  @IsOptional()
  @IsList(1, 128)
  @ValidateNested({ each: true })
  @Type(() => ToolRecipe)
  readonly tools?: readonly ToolRecipe[];
  /** Whether the model's chat template gets the tools, in its variable `tools`. @defaultValue false */
  @NotWith('formatModule', READS_TURNS)
  @Advanced()
  @IsOptional()
  @IsBoolean()
  readonly toolsInChatTemplate?: boolean;
  /** Jinja template of the system's message; null has none. @defaultValue null */
  @NotWith('module', WRITES_PROMPTS)
  @IsNullable()
  @IsText(MAX_TEMPLATE)
  readonly systemTemplate?: string | null;
  /** Jinja template of the first message; null is the default one. @defaultValue null */
  @NotWith('module', WRITES_PROMPTS)
  @IsNullable()
  @IsText(MAX_TEMPLATE)
  readonly firstUserTemplate?: string | null;
  /** Jinja template of the messages after it; null is the one of the history policy. @defaultValue null */
  @NotWith('module', WRITES_PROMPTS)
  @IsNullable()
  @IsText(MAX_TEMPLATE)
  readonly userTemplate?: string | null;
  /** Jinja template that asks for a summary; null is the default one. @defaultValue null */
  @NotWith('module', WRITES_PROMPTS)
  @Advanced()
  @IsNullable()
  @IsText(MAX_TEMPLATE)
  readonly summaryTemplate?: string | null;
  /** Text of the first observation after which its task follows, to the end of the line; without it, the whole first observation is the task. */
  @IsOptional() @IsLine({ maxLength: 1000 }) readonly taskMarker?: string;
  /** Whether prompts list the actions that the environment admits. @defaultValue true */
  @IsOptional() @IsBoolean() readonly showLegalActions?: boolean;
  /** Turns of the past that prompts show; without it, none. */
  @NotWith('module', WRITES_PROMPTS)
  @IsOptional()
  @ValidateNested()
  @Type(() => HistoryRecipe)
  readonly history?: HistoryRecipe;
  /** The response to turns that break the format. */
  @IsOptional()
  @ValidateNested()
  @Type(() => InvalidActionRecipe)
  readonly invalidAction?: InvalidActionRecipe;
  /** Most turns of an episode; without it, as many as the environment has actions. */
  @IsOptional()
  @IsWholeNumberFrom(1, 100_000, { unit: 'turns', why: 'an episode is held in memory' })
  readonly maxTurns?: number;
  /** Most tokens of a prompt; without it, those that `maxPositions` and `context.maxNewTokens` leave. */
  @IsOptional() @IsWholeNumberFrom(1, 10_000_000, TOKENS) readonly maxPromptTokens?: number;
  /** Most tokens of an episode, prompts and turns together: it ends before a turn that could exceed them. Without it, any number. */
  @Advanced() @IsOptional() @IsWholeNumberFrom(2, 1_000_000_000, TOKENS) readonly maxEpisodeTokens?: number;
  /**
   * Response to a prompt that is too long: the episode ends (`endEpisode`); or the oldest turns leave it (`dropHistory`); or after them the
   * start or the end of the observation does. What is still too long ends the episode. @defaultValue "dropHistory"
   */
  @IsOptional() @IsIn(TRUNCATIONS) readonly truncation?: Truncation;
  /** Path of your own file whose default export is an agent, which takes the place of the templates and the history; relative to the recipe file. */
  @NotWith('formatModule', READS_TURNS)
  @IsOptional()
  @IsLine({ maxLength: 4096 })
  readonly module?: string;
  /** Options of the function that `module` or `formatModule` exports. @defaultValue {} */
  @IsOptional() @IsOptions() readonly options?: Readonly<Record<string, unknown>>;
}
