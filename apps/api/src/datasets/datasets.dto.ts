import { ApiProperty } from '@nestjs/swagger';
import type { Json } from '@retrace/trajectory';
import { ApiJson } from '../http/any-json.js';
import { ApiInteger, ApiText, ApiTime, ApiWord } from '../http/properties.js';

export class DatasetListItem {
  @ApiText()
  readonly name!: string;

  @ApiText('What a row is, such as `sft`')
  readonly format!: string;

  @ApiWord(['jsonl', 'parquet'])
  readonly fileFormat!: 'jsonl' | 'parquet';

  @ApiText('SHA-256 over the rows: equal for equal rows, whatever the file format')
  readonly contentHash!: string;

  @ApiInteger('Episodes that some row is made of')
  readonly numEpisodes!: number;

  @ApiInteger()
  readonly numRows!: number;

  @ApiTime()
  readonly createdAt!: string;
}

export class DatasetSplit {
  @ApiText()
  readonly split!: string;

  @ApiInteger()
  readonly numRows!: number;

  @ApiText("Path in the data set's directory")
  readonly file!: string;

  @ApiText('SHA-256 of the file')
  readonly sha256!: string;
}

export class DatasetRun {
  @ApiProperty({ type: String, format: 'uuid' })
  readonly runId!: string;

  @ApiText('Name of the run; empty where it was deleted')
  readonly name!: string;

  @ApiInteger()
  readonly numEpisodes!: number;
}

export class SplitContamination {
  @ApiText()
  readonly split!: string;

  @ApiText('The largest split')
  readonly comparedWith!: string;

  @ApiInteger('Rows of the split')
  readonly numRows!: number;

  @ApiInteger('Rows whose task the other split has, too')
  readonly numRowsWithSharedTask!: number;

  @ApiInteger('Rows with a state of the environment that the other split has, too')
  readonly numRowsWithSharedAnchor!: number;

  @ApiInteger('Rows with a stretch of words that the other split has, too')
  readonly numRowsWithSharedNGram!: number;
}

export class DatasetContamination {
  @ApiInteger('Words of a stretch')
  readonly nGramWords!: number;

  @ApiProperty({ type: [SplitContamination] })
  readonly splits!: readonly SplitContamination[];
}

export class DatasetDetail extends DatasetListItem {
  @ApiText('The query that chose the episodes or steps')
  readonly sql!: string;

  @ApiProperty({ type: [DatasetSplit] })
  readonly splits!: readonly DatasetSplit[];

  @ApiProperty({ type: [DatasetRun] })
  readonly runs!: readonly DatasetRun[];

  @ApiProperty({ type: DatasetContamination })
  readonly contamination!: DatasetContamination;

  @ApiJson('Score, seed, shares of the splits, duplicates, and what was left out by reason')
  readonly settings!: Json;

  @ApiText('Directory with the files, on the machine that made them')
  readonly location!: string;

  @ApiText()
  readonly codeVersion!: string;
}

export class DatasetEpisode {
  @ApiProperty({ type: String, format: 'uuid' })
  readonly runId!: string;

  @ApiProperty({ type: String, format: 'uuid' })
  readonly episodeId!: string;
}
