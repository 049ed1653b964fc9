import { Controller, Get, Param, Query } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import { AccessAsOf } from '../keys/access.js';
import type { Page } from '../paging/page.js';
import { ApiPage } from '../paging/page-schema.js';
import { RunParams } from '../runs/run-params.js';
import { ValidationFigures, ValidationsQuery } from './validations.dto.js';
import { ValidationsService } from './validations.service.js';

@ApiTags('policies')
@Controller('api/runs/:runId/validations')
export class ValidationsController {
  constructor(private readonly validations: ValidationsService) {}

  @Get()
  @AccessAsOf('read')
  @ApiOperation({
    summary: 'Lists the figures of each validated or tested policy of a run, newest version first',
  })
  @ApiPage(ValidationFigures)
  list(@Param() { runId }: RunParams, @Query() query: ValidationsQuery): Promise<Page<ValidationFigures>> {
    return this.validations.list(runId, query);
  }
}
