import { Controller, Get, Param, Query } from '@nestjs/common';
import { ApiOkResponse, ApiTags } from '@nestjs/swagger';
import { PageQuery, type Page } from '../http/page.js';
import { ApiPage } from '../http/page-schema.js';
import { RunParams } from './run-params.js';
import { RunDetail, RunSummary } from './runs.dto.js';
import { RunsService } from './runs.service.js';

@ApiTags('runs')
@Controller('api/runs')
export class RunsController {
  constructor(private readonly runs: RunsService) {}

  @Get()
  @ApiPage(RunSummary)
  list(@Query() query: PageQuery): Promise<Page<RunSummary>> {
    return this.runs.list(query);
  }

  @Get(':runId')
  @ApiOkResponse({ type: RunDetail })
  get(@Param() { runId }: RunParams): Promise<RunDetail> {
    return this.runs.get(runId);
  }
}
