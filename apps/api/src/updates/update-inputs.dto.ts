import { PathText } from '../http/query-decorators.js';
import { ApiInteger, ApiNullableNumber, ApiText } from '../openapi/properties.js';
import { RunParams } from '../runs/run-params.js';

export class UpdateParams extends RunParams {
  @PathText(/^(0|[1-9]\d{0,14})$/, {
    rule: 'a whole number without leading zeros',
    description: 'Number of the update',
  })
  readonly updateNumber!: string;
}

/** The part that an episode had in an update. */
export class EpisodeShare {
  @ApiInteger('First step that was read')
  readonly firstStep!: number;

  @ApiInteger('Steps that were read')
  readonly numSteps!: number;

  @ApiInteger('How often each epoch of optimizer steps trained it; 0: it was left out')
  readonly times!: number;

  @ApiInteger('Action tokens that the loss counted: trained, and not rejected')
  readonly numTokens!: number;

  @ApiNullableNumber('Mean importance weight of those tokens; null without one')
  readonly weight!: number | null;

  @ApiNullableNumber('Over those tokens; null without advantages')
  readonly advantageMean!: number | null;

  @ApiNullableNumber('Over those tokens; null without advantages')
  readonly advantageDeviation!: number | null;

  @ApiNullableNumber('Over those tokens; null without advantages')
  readonly advantageMin!: number | null;

  @ApiNullableNumber('Over those tokens; null without advantages')
  readonly advantageMax!: number | null;
}

/** An episode that fed an update. */
export class UpdateInput extends EpisodeShare {
  @ApiInteger('Place in the batch')
  readonly place!: number;

  @ApiText('Run of the episode')
  readonly episodeRunId!: string;

  @ApiText()
  readonly episodeId!: string;

  @ApiText()
  readonly groupId!: string;
}

/** An update that used an episode. */
export class EpisodeUse extends EpisodeShare {
  @ApiText('Run that was trained')
  readonly runId!: string;

  @ApiInteger()
  readonly updateNumber!: number;

  @ApiInteger('Version that the update started from')
  readonly policyVersionIn!: number;
}

/** Columns of the view `update_inputs` that both directions read. */
export const SHARE_COLUMNS =
  'first_step, num_steps, times, num_tokens, weight, advantage_mean, advantage_deviation, advantage_min, advantage_max';
