import { Controller, Get, Param, Query } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import { AccessAsOf } from '../keys/access.js';
import { PageQuery, type Page } from '../paging/page.js';
import { ApiPage } from '../paging/page-schema.js';
import { RunParams } from '../runs/run-params.js';
import { RunWarning } from './warnings.dto.js';
import { WarningsService } from './warnings.service.js';

@ApiTags('warnings')
@Controller('api/runs/:runId/warnings')
export class WarningsController {
  constructor(private readonly warnings: WarningsService) {}

  @Get()
  @AccessAsOf('read')
  @ApiOperation({ summary: 'Lists the warnings and alarms of a run, newest first' })
  @ApiPage(RunWarning)
  list(@Param() { runId }: RunParams, @Query() query: PageQuery): Promise<Page<RunWarning>> {
    return this.warnings.list(runId, query);
  }
}
