import { Body, Controller, Get, HttpCode, Param, Post } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { Access } from '../keys/access.js';
import { RunParams } from '../runs/run-params.js';
import { Retention, RetentionRequest } from './retention.dto.js';
import { RetentionService } from './retention.service.js';

@ApiTags('episodes')
@Controller('api/runs/:runId/retention')
export class RetentionController {
  constructor(private readonly retention: RetentionService) {}

  @Get()
  @Access('read')
  @ApiOperation({ summary: 'How long the episodes of a run are kept' })
  @ApiOkResponse({ type: Retention })
  get(@Param() { runId }: RunParams): Promise<Retention> {
    return this.retention.get(runId);
  }

  @Post()
  @Access('admin')
  @HttpCode(200)
  @ApiOperation({
    summary: 'Sets how long the episodes of a run are kept',
    description: 'Applied about once an hour. Episodes that updates were trained on are kept.',
  })
  @ApiOkResponse({ type: Retention })
  set(@Param() { runId }: RunParams, @Body() request: RetentionRequest): Promise<Retention> {
    return this.retention.set(runId, request);
  }
}
