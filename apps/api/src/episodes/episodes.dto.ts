import { ApiProperty } from '@nestjs/swagger';
import type { EndReason, Json, Split, Usage } from '@retrace/trajectory';
import { ApiJson } from '../http/any-json.js';
import { PageQuery } from '../paging/page.js';
import {
  PathId,
  QueryBoolean,
  QueryInteger,
  QueryNumber,
  QueryText,
  QueryTime,
  QueryWord,
} from '../http/query-decorators.js';
import { RunParams } from '../runs/run-params.js';
import { EpisodeUse } from '../updates/update-inputs.dto.js';
import { EpisodeFork, ForkOrigin, StepValue } from './forks.dto.js';
import { SPLITS } from '../runs/splits.js';
import {
  ApiBoolean,
  ApiInteger,
  ApiNullableBoolean,
  ApiNullableInteger,
  ApiNullableNumber,
  ApiNullableText,
  ApiNullableTime,
  ApiNumber,
  ApiText,
  ApiTime,
  ApiWord,
} from '../http/properties.js';

const SORTS = ['newest', 'oldest'] as const;
const END_REASONS = ['terminated', 'truncated', 'abandoned'] as const satisfies readonly EndReason[];

export class EpisodesQuery extends PageQuery {
  @QueryWord(SPLITS, 'Only episodes of this split')
  readonly split?: Split;

  @QueryBoolean('true: only episodes that succeeded; false: only episodes that failed')
  readonly success?: boolean;

  @QueryBoolean('true: only episodes that have ended; false: only episodes in progress')
  readonly sealed?: boolean;

  @QueryWord(END_REASONS, 'Only episodes that ended for this reason')
  readonly endReason?: EndReason;

  @QueryBoolean(
    'true: only episodes of which a step is stored without a part that could not be stored; false: only others',
  )
  readonly poorer?: boolean;

  @QueryText(200, 'Only episodes of this agent: policy, expert, random or the name of an external agent')
  readonly agent?: string;

  @QueryText(256, 'Only episodes of this group')
  readonly groupId?: string;

  @QueryText(200, 'Only episodes with this tag')
  readonly tag?: string;

  @QueryText(
    200,
    'Only episodes in which an observation, an action or a message has this text, whatever its case',
  )
  readonly text?: string;

  @QueryNumber('Only episodes with at least this return')
  readonly minReturn?: number;

  @QueryNumber('Only episodes with at most this return')
  readonly maxReturn?: number;

  @QueryNumber('Only episodes that cost at least this many US dollars')
  readonly minCostUsd?: number;

  @QueryNumber('Only episodes that cost at most this many US dollars; those of unknown cost are left out')
  readonly maxCostUsd?: number;

  @QueryTime('Only episodes that started at this time or later')
  readonly startedFrom?: string;

  @QueryTime('Only episodes that started before this time')
  readonly startedBefore?: string;

  @QueryInteger({
    min: 0,
    max: Number.MAX_SAFE_INTEGER,
    description: 'Only episodes in the batch of this update',
  })
  readonly update?: number;

  @QueryWord(SORTS, 'Which episodes come first, by their start', 'newest')
  readonly sort: (typeof SORTS)[number] = 'newest';
}

export class EpisodeParams extends RunParams {
  @PathId('Id of the episode')
  readonly episodeId!: string;
}

export class EpisodeQuery {
  @QueryInteger({ min: 0, max: 2 ** 31, default: 0, description: '`nextStep` of the previous answer' })
  readonly fromStep: number = 0;

  @QueryInteger({
    min: 1,
    max: 500,
    default: 100,
    description:
      'Maximum number of steps; an answer of more than 100,000 tokens has fewer, as has one where steps are missing',
  })
  readonly maxSteps: number = 100;
}

export class EpisodeListItem {
  @ApiProperty({ type: String, format: 'uuid' })
  readonly episodeId!: string;

  @ApiText('Id that its caller gave it; empty for none')
  readonly externalId!: string;

  @ApiProperty({ type: [String], description: 'As the newest annotation left them' })
  readonly tags!: readonly string[];

  @ApiText()
  readonly groupId!: string;

  @ApiInteger('Position in its group, from 0')
  readonly groupMember!: number;

  @ApiText('Empty where unknown')
  readonly environment!: string;

  @ApiWord(SPLITS)
  readonly split!: Split;

  @ApiText()
  readonly agent!: string;

  @ApiNullableInteger('null = unknown')
  readonly environmentSeed!: number | null;

  @ApiTime()
  readonly startedAt!: string;

  @ApiNullableTime('null until the episode ends')
  readonly endedAt!: string | null;

  @ApiBoolean('The episode has ended: its steps are complete and final')
  readonly sealed!: boolean;

  @ApiProperty({
    type: String,
    nullable: true,
    enum: [...END_REASONS, null],
    description: 'null until the episode ends',
  })
  readonly endReason!: EndReason | null;

  @ApiNullableBoolean('null until the episode ends, or when the environment does not tell')
  readonly success!: boolean | null;

  @ApiNullableNumber('Sum of the rewards; null until the episode ends, or when every reward is missing')
  readonly return!: number | null;

  @ApiNullableInteger('null until the episode ends')
  readonly numSteps!: number | null;

  @ApiNullableInteger('null until the episode ends')
  readonly numTokens!: number | null;

  @ApiNullableInteger('Tokens that the policy sampled; null until the episode ends')
  readonly numActionTokens!: number | null;

  @ApiNullableInteger('Oldest policy version that sampled a token; null when no policy of this run did')
  readonly policyVersionMin!: number | null;

  @ApiNullableInteger('Newest policy version that sampled a token; null when no policy of this run did')
  readonly policyVersionMax!: number | null;
}

const NULLABLE_NUMBERS = { type: 'array', items: { type: 'number', nullable: true } } as const;
const INTEGERS = { type: 'array', items: { type: 'integer' } } as const;

/** The tokens that a step appended: lists of equal length, one value for each token. */
export class StepTokens {
  @ApiProperty(INTEGERS)
  readonly ids!: readonly number[];

  @ApiProperty({
    type: 'array',
    items: { type: 'string' },
    nullable: true,
    description: 'Text of each token; null when the tokenizer is unavailable',
  })
  readonly texts!: readonly string[] | null;

  @ApiProperty({ ...INTEGERS, description: '1 for a token that the policy sampled, otherwise 0' })
  readonly actionMask!: readonly number[];

  @ApiProperty({ ...NULLABLE_NUMBERS, description: 'Behavior logprobs in nats; null = missing' })
  readonly logprobs!: readonly (number | null)[];

  @ApiProperty({ ...NULLABLE_NUMBERS, description: 'Entropies in nats; empty when the engine gave none' })
  readonly entropies!: readonly (number | null)[];

  @ApiProperty({ ...INTEGERS, description: 'Policy version of each token; −1 = no policy of this run' })
  readonly policyVersions!: readonly number[];
}

class StepUsage implements Usage {
  @ApiNullableInteger('null = unknown')
  readonly inputTokens!: number | null;

  @ApiNullableInteger("Input tokens from the provider's cache")
  readonly cachedInputTokens!: number | null;

  @ApiNullableInteger()
  readonly outputTokens!: number | null;

  @ApiNullableInteger('Output tokens that were reasoning')
  readonly reasoningTokens!: number | null;

  @ApiNullableNumber('US dollars')
  readonly costUsd!: number | null;
}

class StepReward {
  @ApiText()
  readonly name!: string;

  @ApiNullableNumber('null = missing, which is not zero')
  readonly value!: number | null;
}

export class StepDetail {
  @ApiInteger('From 0')
  readonly step!: number;

  @ApiText()
  readonly observation!: string;

  @ApiText('Text that the agent answered')
  readonly action!: string;

  @ApiNullableText('Action that the environment read from the text')
  readonly parsedAction!: string | null;

  @ApiNullableBoolean('Whether the environment understood the action; null = unknown')
  readonly actionValid!: boolean | null;

  @ApiNullableText('Text by which the environment identifies its state; null when it offers none')
  readonly anchor!: string | null;

  @ApiNullableNumber('null = missing, which is not zero')
  readonly reward!: number | null;

  @ApiProperty({ type: [StepReward], description: 'Components of the reward' })
  readonly rewards!: readonly StepReward[];

  @ApiBoolean('The environment ended the episode in this step')
  readonly terminated!: boolean;

  @ApiBoolean('The episode was cut off after this step')
  readonly truncated!: boolean;

  @ApiJson('What the environment reported beside the observation')
  readonly info!: Json;

  @ApiInteger("Tokens of the episode's context that this step's prompt kept")
  readonly keptPrefixTokens!: number;

  @ApiNullableNumber('null when no token was sampled')
  readonly temperature!: number | null;

  @ApiNullableBoolean('null when no token was sampled')
  readonly greedy!: boolean | null;

  @ApiText('Engine that sampled the action')
  readonly engine!: string;

  @ApiText()
  readonly model!: string;

  @ApiNullableNumber('null = unknown')
  readonly generationMs!: number | null;

  @ApiNullableNumber('null = unknown')
  readonly environmentMs!: number | null;

  @ApiJson(
    'Chat messages that the step added, as `{ input, output }` in the form of OpenAI: those since the previous output, and the answer; null = no chat',
  )
  readonly messages!: Json;

  @ApiProperty({ type: StepUsage, nullable: true, description: 'null = unknown' })
  readonly usage!: StepUsage | null;

  @ApiText('Why no policy gradient may train on the step; empty where one may')
  readonly untrainable!: string;

  @ApiTime()
  readonly occurredAt!: string;

  @ApiProperty({ type: StepTokens })
  readonly tokens!: StepTokens;
}

class EpisodeScore {
  @ApiNullableInteger('Step that it scores; null = the whole episode')
  readonly step!: number | null;

  @ApiText()
  readonly name!: string;

  @ApiNumber()
  readonly value!: number;

  @ApiText('Who gave it; people have names that start with "human:"')
  readonly source!: string;

  @ApiText('Why, in words; may be empty')
  readonly rationale!: string;

  @ApiTime()
  readonly assignedAt!: string;
}

export class EpisodeDetail extends EpisodeListItem {
  @ApiJson('Task that the environment was reset with')
  readonly task!: Json;

  @ApiJson('What its caller knows about it, as the newest annotation left it; null = nothing')
  readonly metadata!: Json;

  @ApiProperty({ type: String, format: 'uuid', nullable: true, description: 'Episode that called this one' })
  readonly parentEpisodeId!: string | null;

  @ApiProperty({
    type: ForkOrigin,
    nullable: true,
    description:
      'Step that it was forked from: the steps before that one come first in the conversation; null = no fork',
  })
  readonly forkedFrom!: ForkOrigin | null;

  @ApiProperty({ type: [EpisodeFork], description: 'Forks of its steps, by step, at most 1,000' })
  readonly forks!: readonly EpisodeFork[];

  @ApiProperty({
    type: [StepValue],
    description: 'Values of its steps and their actions, estimated from forks',
  })
  readonly stepValues!: readonly StepValue[];

  @ApiNullableText('Observation after the last action; null until the episode ends')
  readonly finalObservation!: string | null;

  @ApiText('Why it was cut or abandoned, in words; empty otherwise')
  readonly endDetail!: string;

  @ApiInteger(
    'Steps that are stored without a part that could not be stored; `untrainable` of each says which',
  )
  readonly numPoorerSteps!: number;

  @ApiProperty({
    type: [EpisodeScore],
    description:
      'Rewards that were assigned to it or its steps: the newest of each name and source, without retracted ones',
  })
  readonly scores!: readonly EpisodeScore[];

  @ApiNullableNumber('What its steps cost, US dollars; null when no step knows')
  readonly costUsd!: number | null;

  @ApiProperty({ ...INTEGERS, description: 'Updates whose batches contain this episode' })
  readonly updateNumbers!: readonly number[];

  @ApiProperty({
    type: [EpisodeUse],
    description:
      'Committed updates of any run that read it, with the part that it had in them, at most 1,000; those from before this was recorded are missing',
  })
  readonly uses!: readonly EpisodeUse[];

  @ApiProperty({ type: [StepDetail] })
  readonly steps!: readonly StepDetail[];

  @ApiNullableInteger(
    'First step after this answer; null when there is none, or, of an episode that has not ended, none yet',
  )
  readonly nextStep!: number | null;
}
