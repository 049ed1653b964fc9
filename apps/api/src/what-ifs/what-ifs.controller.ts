import { Body, Controller, Get, HttpCode, Param, Patch, Post, Query } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { Access } from '../keys/access.js';
import { PageQuery, type Page } from '../paging/page.js';
import { ApiPage } from '../paging/page-schema.js';
import { RunParams } from '../runs/run-params.js';
import { QuestionChange } from '../update-questions/question-state.dto.js';
import { WhatIf, WhatIfItem, WhatIfParams, WhatIfRequest } from './what-ifs.dto.js';
import { WhatIfsService } from './what-ifs.service.js';

@ApiTags('updates')
@Controller('api/runs/:runId/what-ifs')
export class WhatIfsController {
  constructor(private readonly whatIfs: WhatIfsService) {}

  @Get()
  @Access('read')
  @ApiOperation({ summary: 'Lists the what-ifs of a run that this server has, newest first' })
  @ApiPage(WhatIfItem)
  list(@Param() { runId }: RunParams, @Query() query: PageQuery): Page<WhatIfItem> {
    return this.whatIfs.list(runId, query);
  }

  @Post()
  @Access('sql')
  @HttpCode(200)
  @ApiOperation({
    summary:
      'Asks what recorded updates would have been under another reward, estimator, loss, clip or correction',
    description:
      'Computed in a process of its own, one what-if after the other; ask for it again until its status is `finished`, ' +
      '`failed` or `cancelled`. Nothing is published. The server forgets what-ifs when it stops, and old ones.',
  })
  @ApiOkResponse({ type: WhatIf })
  ask(@Param() { runId }: RunParams, @Body() request: WhatIfRequest): Promise<WhatIf> {
    return this.whatIfs.ask(runId, request);
  }

  @Get(':whatIfId')
  @Access('read')
  @ApiOperation({ summary: 'Returns a what-if, with the updates that are compared so far' })
  @ApiOkResponse({ type: WhatIf })
  get(@Param() params: WhatIfParams): WhatIf {
    return this.whatIfs.get(params);
  }

  @Patch(':whatIfId')
  @Access('sql')
  @ApiOperation({ summary: 'Cancels a what-if; one that has ended stays as it is' })
  @ApiOkResponse({ type: WhatIf })
  cancel(@Param() params: WhatIfParams, @Body() _change: QuestionChange): Promise<WhatIf> {
    return this.whatIfs.cancel(params);
  }
}
