import { IsIn, IsOptional, IsString, Length, Matches, Type, ValidateNested } from '@retrace/validation';
import { Advanced, IsLine, IsList, IsNumberFrom, IsText, IsWholeNumberFrom } from './field-rules.js';
import { OnlyWhere } from './sibling-rules.js';

export const DATA_ORIGINS = ['own', 'run', 'dataset', 'query'] as const;
export type DataOrigin = (typeof DATA_ORIGINS)[number];

const HASH = { message: 'must be 64 hexadecimal digits' };
const EPISODES = { unit: 'episodes', why: 'their places are held in memory' };
const MAX_EPISODES = 100_000_000;

/** Episodes that a source had when the run began, as a data set in the log. Filled in by `retrace train`; leave it out. */
export class DataContentsRecipe {
  /** Name of the data set that lists them. */
  @IsLine({ maxLength: 100 }) readonly dataset!: string;
  /** SHA-256 of the list, hex. */
  @IsString(HASH) @Length(64, 64, HASH) @Matches(/^[0-9a-f]{64}$/, HASH) readonly contentHash!: string;
  /** Episodes. */
  @IsWholeNumberFrom(1, MAX_EPISODES, EPISODES) readonly numEpisodes!: number;
  /** Groups that they are in. */
  @IsWholeNumberFrom(1, MAX_EPISODES, EPISODES) readonly numGroups!: number;
}

/** One source of the groups that updates are trained on. */
export class DataSourceRecipe {
  /** Where the groups come from: collected for this run (`own`), another `run`, a `dataset`, or a SQL `query`. */
  @IsIn(DATA_ORIGINS) readonly from!: DataOrigin;
  /** For `run`: its id. All its groups for training are taken that were complete when this run began. */
  @OnlyWhere('from', ['run'])
  @IsOptional()
  @IsLine({ maxLength: 100 })
  readonly run?: string;
  /** For `dataset`: its name. */
  @OnlyWhere('from', ['dataset'])
  @IsOptional()
  @IsLine({ maxLength: 100 })
  readonly dataset?: string;
  /** For `query`: one SELECT over the store, with the columns `run_id` and `episode_id`. It is run once, before the run begins. */
  @OnlyWhere('from', ['query'])
  @IsOptional()
  @IsText({ maxLength: 100_000 })
  readonly query?: string;
  /** Share of the groups of an update, relative to the shares of the other sources. @defaultValue 1 */
  @IsOptional()
  @IsNumberFrom(0.000_001, 1_000_000, { why: 'it is relative to the other shares' })
  readonly share?: number;
  /** Episodes that the source had when the run began; filled in by `retrace train`. */
  @Advanced()
  @IsOptional()
  @ValidateNested()
  @Type(() => DataContentsRecipe)
  readonly contents?: DataContentsRecipe;
}

/** Sources of the data that updates are trained on. */
export class DataRecipe {
  /** Sources of the groups of each update; without one that is `own`, nothing is collected for training. */
  @IsList(1, 16)
  @ValidateNested({ each: true })
  @Type(() => DataSourceRecipe)
  readonly sources!: readonly DataSourceRecipe[];
}
