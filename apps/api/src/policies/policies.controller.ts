import { Controller, Get, Param, Query } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import { AccessAsOf } from '../keys/access.js';
import { PageQuery, type Page } from '../paging/page.js';
import { ApiPage } from '../paging/page-schema.js';
import { RunParams } from '../runs/run-params.js';
import { Policy } from './policies.dto.js';
import { PoliciesService } from './policies.service.js';

@ApiTags('policies')
@Controller('api/runs/:runId/policies')
export class PoliciesController {
  constructor(private readonly policies: PoliciesService) {}

  @Get()
  @AccessAsOf('read')
  @ApiOperation({ summary: 'Lists the policy versions of a run, newest first' })
  @ApiPage(Policy)
  list(@Param() { runId }: RunParams, @Query() query: PageQuery): Promise<Page<Policy>> {
    return this.policies.list(runId, query);
  }
}
