import { ApiProperty } from '@nestjs/swagger';
import { ApiNullableInteger } from '../http/properties.js';
import { StepDetail } from './episodes.dto.js';

/** Steps of an episode, without what the episode itself says. */
export class EpisodeSteps {
  @ApiProperty({ type: [StepDetail] })
  readonly steps!: readonly StepDetail[];

  @ApiNullableInteger(
    'First step after this answer; null when there is none, or, of an episode that has not ended, none yet',
  )
  readonly nextStep!: number | null;
}
