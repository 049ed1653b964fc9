import { ApiProperty } from '@nestjs/swagger';
import { MAX_REVISION_READ } from '@retrace/recording';
import type { NotebookCell, NotebookPlot } from '@retrace/trajectory';
import { QueryInteger, Uuid } from '../http/query-decorators.js';
import { ApiInteger, ApiNullableText, ApiText, ApiTime, ApiWord } from '../http/properties.js';

/** Path parameters of a notebook. */
export class NotebookParams {
  @Uuid('Id of the notebook')
  readonly notebookId!: string;
}

export class DeleteNotebookQuery {
  @QueryInteger({
    min: 1,
    max: MAX_REVISION_READ,
    description: 'The revision that the caller had read; left out: the newest',
  })
  readonly revision?: number;
}

export class SavedNotebook {
  @ApiProperty({ type: String, format: 'uuid' })
  readonly notebookId!: string;

  @ApiInteger('From 1; each change of the notebook has the next one')
  readonly revision!: number;
}

export class NotebookListItem extends SavedNotebook {
  @ApiText()
  readonly title!: string;

  @ApiInteger()
  readonly numCells!: number;

  @ApiText('Who or what wrote this revision')
  readonly source!: string;

  @ApiTime('Of the first revision')
  readonly createdAt!: string;

  @ApiTime('Of this revision')
  readonly savedAt!: string;
}

export class NotebookPlotBody implements NotebookPlot {
  @ApiText('Column of the axis')
  readonly x!: string;

  @ApiProperty({ type: [String], description: 'Columns that are drawn' })
  readonly ys!: readonly string[];

  @ApiNullableText('Rows with the same value of this column are one line')
  readonly by!: string | null;
}

export class NotebookCellBody implements NotebookCell {
  @ApiWord(['sql', 'markdown'])
  readonly kind!: 'sql' | 'markdown';

  @ApiText('The query, or the text')
  readonly text!: string;

  @ApiWord(['table', 'chart'], 'How the page shows the result')
  readonly view!: 'table' | 'chart';

  @ApiProperty({
    type: NotebookPlotBody,
    nullable: true,
    description: 'Columns of the chart; null: the page chooses by the result',
  })
  readonly plot!: NotebookPlotBody | null;
}

export class NotebookDetail extends NotebookListItem {
  @ApiProperty({ type: [NotebookCellBody] })
  readonly cells!: readonly NotebookCellBody[];
}
