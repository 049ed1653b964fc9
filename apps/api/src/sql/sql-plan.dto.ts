import { ApiProperty } from '@nestjs/swagger';
import type { PlanIndex, PlannedTable, PlanStep, QueryPlan } from '@retrace/store/user-sql';
import { ApiInteger, ApiNullableInteger, ApiText } from '../http/properties.js';

class SqlPlannedTable implements PlannedTable {
  @ApiText()
  readonly table!: string;

  @ApiInteger('Rows that will be read; a table that is read twice counts twice')
  readonly numRows!: number;

  @ApiNullableInteger("Rows of the table now; null where the engine doesn't count them")
  readonly totalRows!: number | null;

  @ApiNullableInteger(
    'Compressed bytes of these rows in all columns, by their share of the table; a query that names few columns reads less',
  )
  readonly maxBytes!: number | null;

  @ApiInteger('Parts of the table that are read')
  readonly numParts!: number;

  @ApiInteger('Granules that are read, each some thousand rows')
  readonly numGranules!: number;
}

class SqlPlanIndex implements PlanIndex {
  @ApiProperty({ type: String, description: 'Kind of index', example: 'PrimaryKey' })
  readonly type!: string;

  @ApiText('Its name, or the columns of the key that are used')
  readonly name!: string;

  @ApiText('What it was asked; `true` where it could leave nothing out')
  readonly condition!: string;

  @ApiInteger('Parts that it left to be read')
  readonly numParts!: number;

  @ApiInteger('Parts before it')
  readonly totalParts!: number;

  @ApiInteger('Granules that it left to be read')
  readonly numGranules!: number;

  @ApiInteger('Granules before it')
  readonly totalGranules!: number;
}

class SqlPlanStep implements PlanStep {
  @ApiInteger('0 for the step that gives the result; it takes what the steps one level below it give')
  readonly depth!: number;

  @ApiProperty({ type: String, description: "The engine's name", example: 'Aggregating' })
  readonly name!: string;

  @ApiText("Keys, conditions or the table, in the engine's words; empty for none")
  readonly detail!: string;

  @ApiProperty({ type: [SqlPlanIndex], description: 'Empty in steps that read no table' })
  readonly indexes!: readonly SqlPlanIndex[];
}

export class SqlPlan implements QueryPlan {
  @ApiProperty({ type: [String], description: 'Tables and views that the query names' })
  readonly names!: readonly string[];

  @ApiProperty({
    type: [SqlPlannedTable],
    description: 'What is read of each table; empty where the engine answers from counts that it keeps',
  })
  readonly tables!: readonly SqlPlannedTable[];

  @ApiProperty({ type: [SqlPlanStep], description: 'From the result down to what is read' })
  readonly steps!: readonly SqlPlanStep[];
}
