import { Controller, Get, Param, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { PageQuery, type Page } from '../http/page.js';
import { ApiPage } from '../http/page-schema.js';
import { RunParams } from '../runs/run-params.js';
import { Policy } from './policies.dto.js';
import { PoliciesService } from './policies.service.js';

@ApiTags('policies')
@Controller('api/runs/:runId/policies')
export class PoliciesController {
  constructor(private readonly policies: PoliciesService) {}

  @Get()
  @ApiPage(Policy)
  list(@Param() { runId }: RunParams, @Query() query: PageQuery): Promise<Page<Policy>> {
    return this.policies.list(runId, query);
  }
}
