import { Controller, Get, Param, Query } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import { AccessAsOf } from '../keys/access.js';
import { PageQuery, type Page } from '../paging/page.js';
import { ApiPage } from '../paging/page-schema.js';
import { RunParams } from '../runs/run-params.js';
import { ValidationTask } from './validation-tasks.dto.js';
import { ValidationTasksService } from './validation-tasks.service.js';
import { ValidationFigures, ValidationsQuery } from './validations.dto.js';
import { ValidationsService } from './validations.service.js';

@ApiTags('policies')
@Controller('api/runs/:runId/validations')
export class ValidationsController {
  constructor(
    private readonly validations: ValidationsService,
    private readonly tasks: ValidationTasksService,
  ) {}

  @Get()
  @AccessAsOf('read')
  @ApiOperation({
    summary: 'Lists the figures of each validated or tested policy of a run, newest version first',
  })
  @ApiPage(ValidationFigures)
  list(@Param() { runId }: RunParams, @Query() query: ValidationsQuery): Promise<Page<ValidationFigures>> {
    return this.validations.list(runId, query);
  }

  @Get('tasks')
  @AccessAsOf('read')
  @ApiOperation({
    summary:
      'Lists the tasks of validation as the first and the newest validated policy played them: those that only the newest solved first',
  })
  @ApiPage(ValidationTask)
  listTasks(@Param() { runId }: RunParams, @Query() query: PageQuery): Promise<Page<ValidationTask>> {
    return this.tasks.list(runId, query);
  }
}
