import { ApiProperty } from '@nestjs/swagger';
import { PathText, QueryBoolean, QueryWord } from '../http/query-decorators.js';
import {
  ApiInteger,
  ApiNullableBoolean,
  ApiNullableInteger,
  ApiNullableNumber,
  ApiNumber,
  ApiText,
  ApiWord,
} from '../http/properties.js';
import { ORDERS, type Order } from '../paging/order.js';
import { PageQuery } from '../paging/page.js';
import { RunParams } from '../runs/run-params.js';

export class UpdateParams extends RunParams {
  @PathText(/^(0|[1-9]\d{0,14})$/, {
    rule: 'a whole number without leading zeros',
    description: 'Number of the update',
  })
  readonly updateNumber!: string;
}

/** Columns that the episodes of an update can be sorted by, by the word for it. */
export const INPUT_SORTS = {
  batch: 'place',
  share: 'share',
  return: 'return',
  age: 'age',
  advantage: 'advantage_mean',
  weight: 'weight',
  ratio: 'ratio',
  tokens: 'num_tokens',
} as const;

/** Figures of the episodes of an update of which there are histograms. */
export const DISTRIBUTED = [
  'return',
  'advantage',
  'weight',
  'ratio',
  'age',
  'tokens',
] as const satisfies readonly (keyof typeof INPUT_SORTS)[];

export class UpdateInputsQuery extends PageQuery {
  @QueryWord(Object.keys(INPUT_SORTS), 'What to sort by; episodes without a value come last', 'batch')
  readonly sort: keyof typeof INPUT_SORTS = 'batch';

  @QueryWord(ORDERS, 'Order of the sort', 'ascending')
  readonly order: Order = 'ascending';

  @QueryBoolean('true: only episodes that succeeded; false: only episodes that failed')
  readonly success?: boolean;
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

  @ApiNullableNumber(
    'Its share of the sum over all episodes of times × tokens × weight × root mean square of the advantage: how much of the gradient may come from it; null without advantages',
  )
  readonly share!: number | null;

  @ApiNullableNumber('Sum of the environment rewards; null if unknown')
  readonly return!: number | null;

  @ApiNullableBoolean('null if unknown')
  readonly success!: boolean | null;

  @ApiNullableInteger(
    'Versions between the oldest policy that sampled it and the one that the update started from; null where no policy did',
  )
  readonly age!: number | null;

  @ApiNullableNumber(
    'Mean of π/π_old over its tokens in all optimizer steps; null where the tokens were not recorded (`updateTokens`)',
  )
  readonly ratio!: number | null;
}

/** A histogram over the episodes of an update. */
export class Distribution {
  @ApiWord(
    DISTRIBUTED,
    'Figure of an episode, as the list of inputs has it; episodes without it do not count',
  )
  readonly name!: (typeof DISTRIBUTED)[number];

  @ApiInteger('Episodes that have the figure')
  readonly numEpisodes!: number;

  @ApiNumber('Least value')
  readonly low!: number;

  @ApiNumber('Greatest value')
  readonly high!: number;

  @ApiNumber()
  readonly mean!: number;

  @ApiProperty({
    type: 'array',
    items: { type: 'integer' },
    description:
      'Episodes in each of as many equal parts of the range from `low` to `high`; all are in the first where it is empty',
  })
  readonly counts!: readonly number[];
}

export class DistributionList {
  @ApiProperty({ type: [Distribution] })
  readonly distributions!: readonly Distribution[];
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
