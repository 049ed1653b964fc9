import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsIn, IsInt, IsString, Length, Max, Min } from '@retrace/validation';
import type { AgentAddress } from '@retrace/process';
import { StepTokens } from '../episodes/episodes.dto.js';
import { IfGiven } from '../http/if-given.js';
import { ApiInteger, ApiText } from '../http/properties.js';

const MAX_TEXT = 20_000;
const MAX_TOKENS = 256;
const POLICIES = ['newest', 'first'] as const;
const TEXT_RULE = { message: `text must be a text of 1 to ${MAX_TEXT} characters` };
const TOKENS_RULE = { message: `maxTokens must be an integer from 1 to ${MAX_TOKENS}, got $value` };

export class AgentProxy implements AgentAddress {
  @ApiText('Address for agents, without `/v1`')
  readonly url!: string;

  @ApiText('Name of the run that their calls are recorded in')
  readonly runName!: string;

  @ApiProperty({
    type: Boolean,
    description: 'Whether the policies of this server answer; false where another model server does',
  })
  readonly policiesAnswer!: boolean;

  @ApiProperty({ type: Boolean, description: 'Whether calls need an API key with the scope `ingest`' })
  readonly needsKey!: boolean;
}

export class AgentAccess {
  @ApiProperty({
    type: AgentProxy,
    nullable: true,
    description: 'null where this server runs no proxy for agents',
  })
  readonly proxy!: AgentProxy | null;
}

export class AskPolicyRequest {
  @ApiProperty({
    ...{ type: String, minLength: 1, maxLength: MAX_TEXT, example: 'goal_a1 hole_b1 you_d4' },
    description: 'Text that the policy answers, such as an observation of its environment',
  })
  @IsString(TEXT_RULE)
  @Length(1, MAX_TEXT, TEXT_RULE)
  readonly text!: string;

  @ApiPropertyOptional({
    ...{ type: String, enum: POLICIES, default: 'newest' },
    description: 'The newest version, or the oldest whose weights are kept',
  })
  @IfGiven()
  @IsIn(POLICIES, { message: 'policy must be newest or first, got $value' })
  readonly policy: (typeof POLICIES)[number] = 'newest';

  @ApiPropertyOptional({
    ...{ type: 'integer', minimum: 1, maximum: MAX_TOKENS, default: 64 },
    description: 'Most tokens of the answer',
  })
  @IfGiven()
  @IsInt(TOKENS_RULE)
  @Min(1, TOKENS_RULE)
  @Max(MAX_TOKENS, TOKENS_RULE)
  readonly maxTokens: number = 64;
}

export class PolicyAnswer {
  @ApiText('What the policy answered')
  readonly text!: string;

  @ApiInteger('Version that sampled the first token')
  readonly policyVersion!: number;

  @ApiProperty({ type: StepTokens, description: 'Tokens of the answer, all of them sampled' })
  readonly tokens!: StepTokens;

  @ApiText('Run in which the question is recorded')
  readonly recordedRunId!: string;

  @ApiText('Episode that the question is')
  readonly episodeId!: string;
}
