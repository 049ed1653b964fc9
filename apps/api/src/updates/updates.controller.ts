import { Controller, Get, Param, Query } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { AccessAsOf } from '../keys/access.js';
import { PageQuery, type Page } from '../paging/page.js';
import { ApiPage } from '../paging/page-schema.js';
import { RunParams } from '../runs/run-params.js';
import { DistributionList, UpdateInput, UpdateInputsQuery, UpdateParams } from './update-inputs.dto.js';
import { UpdateInputsService } from './update-inputs.service.js';
import { TrainedTokenColumns, UpdateInputParams } from './trained-tokens.dto.js';
import { UpdateLineage } from './update-lineage.dto.js';
import { UpdateLineageService } from './update-lineage.service.js';
import { Update } from './updates.dto.js';
import { UpdatesService } from './updates.service.js';

@ApiTags('updates')
@Controller('api/runs/:runId/updates')
export class UpdatesController {
  constructor(
    private readonly updates: UpdatesService,
    private readonly updateInputs: UpdateInputsService,
    private readonly lineages: UpdateLineageService,
  ) {}

  @Get()
  @AccessAsOf('read')
  @ApiOperation({ summary: 'Lists the updates of a run, newest first' })
  @ApiPage(Update)
  list(@Param() { runId }: RunParams, @Query() query: PageQuery): Promise<Page<Update>> {
    return this.updates.list(runId, query);
  }

  @Get(':updateNumber')
  @AccessAsOf('read')
  @ApiOperation({ summary: 'Shows one update of a run' })
  @ApiOkResponse({ type: Update })
  get(@Param() params: UpdateParams): Promise<Update> {
    return this.updates.get(params);
  }

  @Get(':updateNumber/inputs')
  @AccessAsOf('read')
  @ApiOperation({ summary: 'Lists the episodes that fed an update' })
  @ApiPage(UpdateInput)
  inputs(@Param() params: UpdateParams, @Query() query: UpdateInputsQuery): Promise<Page<UpdateInput>> {
    return this.updateInputs.list(params, query);
  }

  @Get(':updateNumber/inputs/:episodeId/tokens')
  @AccessAsOf('read')
  @ApiOperation({
    summary: 'Shows what the loss of an update read of each token of an episode',
    description: 'Recorded where the recipe has `updateTokens`; all lists are empty where it has not.',
  })
  @ApiOkResponse({ type: TrainedTokenColumns })
  tokens(@Param() params: UpdateInputParams): Promise<TrainedTokenColumns> {
    return this.updateInputs.tokens(params);
  }

  @Get(':updateNumber/lineage')
  @AccessAsOf('read')
  @ApiOperation({
    summary: 'Shows which policies sampled the episodes of an update, and which updates its own policy fed',
  })
  @ApiOkResponse({ type: UpdateLineage })
  lineage(@Param() params: UpdateParams): Promise<UpdateLineage> {
    return this.lineages.lineage(params);
  }

  @Get(':updateNumber/distributions')
  @AccessAsOf('read')
  @ApiOperation({
    summary:
      'Shows how returns, advantages, weights, ratios, ages and lengths of the episodes of an update are distributed',
  })
  @ApiOkResponse({ type: DistributionList })
  distributions(@Param() params: UpdateParams): Promise<DistributionList> {
    return this.updateInputs.distributions(params);
  }
}
