import { SPLITS } from '../episodes/splits.js';
import { PathId, PathText, QueryInteger, QueryWord } from '../http/query-decorators.js';

const VERSION = /^.{1,200}$/;
const RULE = 'a name, or 4 or more characters of the beginning of a version';

/** Path parameters of a reward version of a run. */
export class RewardVersionParams {
  @PathId('Id of the run', 'latest')
  readonly runId!: string;

  @PathText(VERSION, {
    rule: RULE,
    description: 'Name of the reward version (the latest with that name), or the beginning of it',
  })
  readonly version!: string;
}

/** Path parameters of two reward versions that are compared. */
export class RewardVersionPairParams extends RewardVersionParams {
  @PathText(VERSION, { rule: RULE, description: 'The other reward version, named likewise' })
  readonly otherVersion!: string;
}

/** Which episodes are compared, and how many are listed. */
export class ScoredEpisodesQuery {
  @QueryWord(SPLITS, 'Only episodes of this split; all without it')
  readonly split?: (typeof SPLITS)[number];

  @QueryInteger({ min: 0, max: 500, default: 10, description: 'Most episodes, or groups, in each list' })
  readonly limit = 10;
}

export class RewardAuditQuery extends ScoredEpisodesQuery {
  @QueryInteger({
    ...{ min: 10, max: 1_000, default: 20 },
    description: 'Stretches of equally many episodes that the history is cut into; each has ten at least',
  })
  readonly stretches = 20;
}
