import { Controller, Get, Param, Query } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { AccessAsOf } from '../keys/access.js';
import type { Page } from '../paging/page.js';
import { ApiPage } from '../paging/page-schema.js';
import { RecipeDifferences } from './recipe-differences.dto.js';
import { RunPairParams, RunParams } from './run-params.js';
import { RunTotals } from './run-totals.dto.js';
import { RunTotalsReader } from './run-totals-reader.js';
import { RunsQuery } from './runs-query.dto.js';
import { RunDetail, RunListItem } from './runs.dto.js';
import { RunsService } from './runs.service.js';

@ApiTags('runs')
@Controller('api/runs')
export class RunsController {
  constructor(
    private readonly runs: RunsService,
    private readonly totals: RunTotalsReader,
  ) {}

  @Get()
  @AccessAsOf('read')
  @ApiOperation({ summary: 'Lists runs, newest first unless another order is asked for' })
  @ApiPage(RunListItem)
  list(@Query() query: RunsQuery): Promise<Page<RunListItem>> {
    return this.runs.list(query);
  }

  @Get(':runId')
  @AccessAsOf('read')
  @ApiOperation({ summary: 'Returns one run with its recipe and baselines' })
  @ApiOkResponse({ type: RunDetail })
  get(@Param() { runId }: RunParams): Promise<RunDetail> {
    return this.runs.get(runId);
  }

  @Get(':runId/recipe-differences/:otherRunId')
  @AccessAsOf('read')
  @ApiOperation({ summary: 'Lists the fields in which the recipes of two runs differ' })
  @ApiOkResponse({ type: RecipeDifferences })
  async compareRecipes(@Param() { runId, otherRunId }: RunPairParams): Promise<RecipeDifferences> {
    return { fields: await this.runs.compareRecipes(runId, otherRunId) };
  }

  @Get(':runId/totals')
  @AccessAsOf('read')
  @ApiOperation({
    summary: 'Counts the episodes, steps, tokens and cost of a run',
    description:
      'Of a run with very many episodes the answer may be ten seconds old, or as old as one reading of the store takes if that is longer, and have episodes that another process deleted meanwhile.',
  })
  @ApiOkResponse({ type: RunTotals })
  async getTotals(@Param() { runId }: RunParams): Promise<RunTotals> {
    const totalsOf = await this.totals.read([runId]);
    return totalsOf(runId);
  }
}
