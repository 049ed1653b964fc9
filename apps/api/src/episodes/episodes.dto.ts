import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import type { Json } from '@retrace/trajectory';
import { IsOptional, IsString, Length } from 'class-validator';
import { PageQuery } from '../http/page.js';
import { OptionalUuid, QueryBoolean, QueryInteger, QueryWord, Uuid } from '../http/query-decorators.js';
import { RunParams } from '../runs/run-params.js';

export class EpisodesQuery extends PageQuery {
  @QueryWord(['train', 'validation', 'test'])
  readonly split?: 'train' | 'validation' | 'test';

  @QueryBoolean('Only episodes that succeeded, or only those that failed')
  readonly success?: boolean;

  @QueryBoolean('Only episodes that ended, or only those in progress')
  readonly sealed?: boolean;

  @ApiPropertyOptional({ description: 'Who acted: policy, expert, random or the name of an external agent' })
  @IsOptional()
  @IsString()
  @Length(1, 200)
  readonly agent?: string;

  @OptionalUuid('Only the members of one group')
  readonly groupId?: string;

  @QueryInteger({ min: 0, max: Number.MAX_SAFE_INTEGER, description: 'Only the batch of one update' })
  readonly update?: number;

  @QueryWord(['newest', 'oldest'], 'Order by start')
  readonly sort: 'newest' | 'oldest' = 'newest';
}

export class EpisodeParams extends RunParams {
  @Uuid('The episode')
  readonly episodeId!: string;
}

export class EpisodeQuery {
  @QueryInteger({ min: 0, max: 2 ** 31, default: 0, description: '`nextStep` of the answer before' })
  readonly fromStep: number = 0;

  @QueryInteger({
    min: 1,
    max: 500,
    default: 100,
    description: 'Most steps returned; fewer where tokens are many',
  })
  readonly maxSteps: number = 100;
}

export class EpisodeSummary {
  @ApiProperty()
  readonly episodeId!: string;

  @ApiProperty()
  readonly groupId!: string;

  @ApiProperty()
  readonly groupMember!: number;

  @ApiProperty()
  readonly environment!: string;

  @ApiProperty()
  readonly split!: string;

  @ApiProperty()
  readonly agent!: string;

  @ApiProperty()
  readonly environmentSeed!: number;

  @ApiProperty({ format: 'date-time' })
  readonly startedAt!: string;

  @ApiProperty({ type: String, format: 'date-time', nullable: true })
  readonly endedAt!: string | null;

  @ApiProperty({ description: 'It ended: its steps are complete and final' })
  readonly sealed!: boolean;

  @ApiProperty({ type: String, nullable: true, enum: ['terminated', 'truncated', 'abandoned'] })
  readonly endReason!: string | null;

  @ApiProperty({ type: Boolean, nullable: true })
  readonly success!: boolean | null;

  @ApiProperty({ type: Number, nullable: true, description: 'null when every reward is missing' })
  readonly return!: number | null;

  @ApiProperty({ type: Number, nullable: true })
  readonly numSteps!: number | null;

  @ApiProperty({ type: Number, nullable: true })
  readonly numTokens!: number | null;

  @ApiProperty({ type: Number, nullable: true })
  readonly numActionTokens!: number | null;

  @ApiProperty({ type: Number, nullable: true, description: 'null when no policy of this run sampled in it' })
  readonly policyVersionMin!: number | null;

  @ApiProperty({ type: Number, nullable: true })
  readonly policyVersionMax!: number | null;
}

/** The tokens that a step appended, a list each of equal length. */
export class StepTokens {
  @ApiProperty({ type: [Number] })
  readonly ids!: readonly number[];

  @ApiProperty({
    type: [String],
    nullable: true,
    description: 'Text of each token; null without the tokenizer',
  })
  readonly texts!: readonly string[] | null;

  @ApiProperty({ type: [Number], description: '1 where the policy sampled the token' })
  readonly actionMask!: readonly number[];

  @ApiProperty({ type: [Number], description: 'Behavior logprobs in nats; null = missing' })
  readonly logprobs!: readonly (number | null)[];

  @ApiProperty({ type: [Number], description: 'Nats; empty where unknown' })
  readonly entropies!: readonly (number | null)[];

  @ApiProperty({ type: [Number], description: 'Policy version of each token; −1 = no policy of this run' })
  readonly policyVersions!: readonly number[];
}

export class RewardComponent {
  @ApiProperty()
  readonly name!: string;

  @ApiProperty({ type: Number, nullable: true })
  readonly value!: number | null;
}

export class StepDetail {
  @ApiProperty()
  readonly step!: number;

  @ApiProperty()
  readonly observation!: string;

  @ApiProperty()
  readonly action!: string;

  @ApiProperty({ type: String, nullable: true })
  readonly parsedAction!: string | null;

  @ApiProperty()
  readonly actionValid!: boolean;

  @ApiProperty({ type: String, nullable: true })
  readonly anchor!: string | null;

  @ApiProperty({ type: Number, nullable: true, description: 'null = missing, which is not zero' })
  readonly reward!: number | null;

  @ApiProperty({ type: [RewardComponent] })
  readonly rewards!: readonly RewardComponent[];

  @ApiProperty()
  readonly terminated!: boolean;

  @ApiProperty()
  readonly truncated!: boolean;

  @ApiProperty({ type: 'object', additionalProperties: true, nullable: true })
  readonly info!: Json;

  @ApiProperty({ description: "Tokens of the episode's context that this step's prompt kept" })
  readonly keptPrefixTokens!: number;

  @ApiProperty({ type: Number, nullable: true, description: 'null where nothing was sampled' })
  readonly temperature!: number | null;

  @ApiProperty({ type: Boolean, nullable: true })
  readonly greedy!: boolean | null;

  @ApiProperty()
  readonly engine!: string;

  @ApiProperty()
  readonly model!: string;

  @ApiProperty()
  readonly generationMs!: number;

  @ApiProperty()
  readonly environmentMs!: number;

  @ApiProperty({ format: 'date-time' })
  readonly occurredAt!: string;

  @ApiProperty()
  readonly tokens!: StepTokens;
}

export class EpisodeDetail extends EpisodeSummary {
  @ApiProperty({ type: 'object', additionalProperties: true, nullable: true })
  readonly task!: Json;

  @ApiProperty({
    type: String,
    nullable: true,
    description: 'After the last action; null until the episode ends',
  })
  readonly finalObservation!: string | null;

  @ApiProperty({ type: [Number], description: 'Updates whose batches it is in' })
  readonly updateNumbers!: readonly number[];

  @ApiProperty({ type: [StepDetail] })
  readonly steps!: readonly StepDetail[];

  @ApiProperty({
    type: Number,
    nullable: true,
    description: 'First step that is not in this answer; null when none is left',
  })
  readonly nextStep!: number | null;
}
