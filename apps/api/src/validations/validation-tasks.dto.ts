import { ApiProperty } from '@nestjs/swagger';
import type { Json } from '@retrace/trajectory';
import { ApiJson } from '../http/any-json.js';
import {
  ApiInteger,
  ApiNullableBoolean,
  ApiNullableInteger,
  ApiNullableNumber,
  ApiText,
} from '../http/properties.js';

export class ValidationAttempt {
  @ApiProperty({ type: String, format: 'uuid' })
  readonly episodeId!: string;

  @ApiInteger()
  readonly policyVersion!: number;

  @ApiNullableBoolean('null when the environment does not tell')
  readonly success!: boolean | null;

  @ApiNullableNumber('Sum of the rewards; null when every reward is missing')
  readonly return!: number | null;

  @ApiInteger()
  readonly numSteps!: number;
}

export class ValidationTask {
  @ApiText('Hash of environment, seed and task, equal in all validations')
  readonly taskId!: string;

  @ApiNullableInteger('null = unknown')
  readonly environmentSeed!: number | null;

  @ApiJson('Task as the environment was given it')
  readonly task!: Json;

  @ApiProperty({ type: ValidationAttempt, description: 'By the first validated policy' })
  readonly first!: ValidationAttempt;

  @ApiProperty({
    type: ValidationAttempt,
    nullable: true,
    description: 'By the newest validated policy; null while one policy is validated only',
  })
  readonly newest!: ValidationAttempt | null;
}
