import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import type { EndReason, Json, Split } from '@retrace/trajectory';
import { IsOptional, IsString, Length } from 'class-validator';
import { ApiJson } from '../openapi/any-json.js';
import { PageQuery } from '../paging/page.js';
import { OptionalUuid, QueryBoolean, QueryInteger, QueryWord, Uuid } from '../http/query-decorators.js';
import { RunParams } from '../runs/run-params.js';
import { SPLITS } from './splits.js';
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
} from '../openapi/properties.js';

const SORTS = ['newest', 'oldest'] as const;
const END_REASONS = ['terminated', 'truncated', 'abandoned'] as const satisfies readonly EndReason[];

export class EpisodesQuery extends PageQuery {
  @QueryWord(SPLITS, 'Only episodes of this split')
  readonly split?: Split;

  @QueryBoolean('true: only episodes that succeeded; false: only episodes that failed')
  readonly success?: boolean;

  @QueryBoolean('true: only episodes that have ended; false: only episodes in progress')
  readonly sealed?: boolean;

  @ApiPropertyOptional({
    type: String,
    description: 'Only episodes of this agent: policy, expert, random or the name of an external agent',
  })
  @IsOptional()
  @IsString()
  @Length(1, 200)
  readonly agent?: string;

  @OptionalUuid('Only episodes of this group')
  readonly groupId?: string;

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
  @Uuid('Id of the episode')
  readonly episodeId!: string;
}

export class EpisodeQuery {
  @QueryInteger({ min: 0, max: 2 ** 31, default: 0, description: '`nextStep` of the previous answer' })
  readonly fromStep: number = 0;

  @QueryInteger({
    min: 1,
    max: 500,
    default: 100,
    description: 'Maximum number of steps; an answer of more than 100,000 tokens has fewer',
  })
  readonly maxSteps: number = 100;
}

export class EpisodeListItem {
  @ApiProperty({ type: String, format: 'uuid' })
  readonly episodeId!: string;

  @ApiProperty({ type: String, format: 'uuid' })
  readonly groupId!: string;

  @ApiInteger('Position in its group, from 0')
  readonly groupMember!: number;

  @ApiText()
  readonly environment!: string;

  @ApiWord(SPLITS)
  readonly split!: Split;

  @ApiText()
  readonly agent!: string;

  @ApiInteger()
  readonly environmentSeed!: number;

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
class StepTokens {
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

  @ApiBoolean()
  readonly actionValid!: boolean;

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

  @ApiNumber()
  readonly generationMs!: number;

  @ApiNumber()
  readonly environmentMs!: number;

  @ApiTime()
  readonly occurredAt!: string;

  @ApiProperty({ type: StepTokens })
  readonly tokens!: StepTokens;
}

export class EpisodeDetail extends EpisodeListItem {
  @ApiJson('Task that the environment was reset with')
  readonly task!: Json;

  @ApiNullableText('Observation after the last action; null until the episode ends')
  readonly finalObservation!: string | null;

  @ApiProperty({ ...INTEGERS, description: 'Updates whose batches contain this episode' })
  readonly updateNumbers!: readonly number[];

  @ApiProperty({ type: [StepDetail] })
  readonly steps!: readonly StepDetail[];

  @ApiNullableInteger('First step after this answer; null when there is none')
  readonly nextStep!: number | null;
}
