import { SPLITS } from '../runs/splits.js';
import { PathId, PathText, QueryInteger, QueryWord } from '../http/query-decorators.js';

/** The router takes no longer parts of an address. */
const VERSION = /^[\s\S]{1,100}$/u;
const RULE = '1 to 100 characters; name a version with a longer name by its beginning';

/** Path parameters of a reward version of a run. */
export class RewardVersionParams {
  @PathId('Id of the run', 'latest')
  readonly runId!: string;

  @PathText(VERSION, {
    rule: RULE,
    description:
      'Name of the reward version (the newest with that name), or 4 or more characters of its beginning',
  })
  readonly version!: string;
}

/** Path parameters of two reward versions that are compared. */
export class RewardVersionPairParams extends RewardVersionParams {
  @PathText(VERSION, { rule: RULE, description: 'Name or beginning of the other reward version' })
  readonly otherVersion!: string;
}

const SPLITS_AND_ALL = [...SPLITS, 'all'] as const;
type SplitOrAll = (typeof SPLITS_AND_ALL)[number];

export class RewardDifferencesQuery {
  @QueryWord(SPLITS_AND_ALL, 'Only episodes of this split', 'all')
  readonly split: SplitOrAll = 'all';

  @QueryInteger({ min: 0, max: 500, default: 10, description: 'Most episodes, or groups, in each list' })
  readonly limit = 10;
}

export class RewardAuditQuery {
  @QueryWord(SPLITS_AND_ALL, 'Only episodes of this split', 'train')
  readonly split: SplitOrAll = 'train';

  @QueryInteger({ min: 0, max: 500, default: 5, description: 'Most episodes in each list' })
  readonly limit = 5;

  @QueryInteger({
    ...{ min: 10, max: 1_000, default: 20 },
    description:
      'Stretches of equally many episodes that the history is cut into; fewer where one would have fewer than ten episodes',
  })
  readonly stretches = 20;
}
