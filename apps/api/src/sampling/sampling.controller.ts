import { Controller, Get, Param, Query } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import { AccessAsOf } from '../keys/access.js';
import { PageQuery, type Page } from '../paging/page.js';
import { ApiPage } from '../paging/page-schema.js';
import { RunParams } from '../runs/run-params.js';
import { SamplingBlock } from './sampling.dto.js';
import { SamplingService } from './sampling.service.js';

@ApiTags('updates')
@Controller('api/runs/:runId/sampling-blocks')
export class SamplingController {
  constructor(private readonly sampling: SamplingService) {}

  @Get()
  @AccessAsOf('read')
  @ApiOperation({
    summary: 'Lists when the limiter of samples and inserts made a side of the run wait, newest first',
  })
  @ApiPage(SamplingBlock)
  list(@Param() { runId }: RunParams, @Query() query: PageQuery): Promise<Page<SamplingBlock>> {
    return this.sampling.list(runId, query);
  }
}
