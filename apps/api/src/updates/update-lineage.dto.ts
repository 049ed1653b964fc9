import { ApiProperty } from '@nestjs/swagger';
import { ApiInteger, ApiNullableInteger, ApiText } from '../http/properties.js';

/** A policy that sampled episodes of an update. */
class SamplingPolicy {
  @ApiText('Run that has the policy')
  readonly runId!: string;

  @ApiNullableInteger('Oldest version that sampled the episodes; null where no policy did')
  readonly policyVersion!: number | null;

  @ApiNullableInteger(
    'Update that made the policy, 0 for the first of its run; null where no policy is there',
  )
  readonly madeBy!: number | null;

  @ApiInteger()
  readonly numEpisodes!: number;
}

/** An update that trained on episodes of the policy that another one made. */
class FedUpdate {
  @ApiText('Run that was trained')
  readonly runId!: string;

  @ApiInteger()
  readonly updateNumber!: number;

  @ApiInteger('Episodes of that policy in its batch')
  readonly numEpisodes!: number;
}

/** Where the episodes of an update came from, and where those of the policy that it made went. */
export class UpdateLineage {
  @ApiProperty({ type: [SamplingPolicy], description: 'Most episodes first, at most 50' })
  readonly sampledBy!: readonly SamplingPolicy[];

  @ApiInteger('Ended episodes of the run that the policy sampled which the update made, and no older one')
  readonly numSampled!: number;

  @ApiProperty({ type: [FedUpdate], description: 'In order, at most 50' })
  readonly fed!: readonly FedUpdate[];
}
