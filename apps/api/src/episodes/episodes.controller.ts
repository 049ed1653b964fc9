import { Controller, Get, Param, Query } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { AccessAsOf } from '../keys/access.js';
import type { Page } from '../paging/page.js';
import { ApiPage } from '../paging/page-schema.js';
import { RunParams } from '../runs/run-params.js';
import { BranchService } from './branch.service.js';
import { EpisodeBranches } from './branches.dto.js';
import { EpisodeListService } from './episode-list.service.js';
import { EpisodeSteps } from './episode-steps.dto.js';
import { EpisodeService } from './episode.service.js';
import {
  EpisodeDetail,
  EpisodeParams,
  EpisodeQuery,
  EpisodesQuery,
  EpisodeListItem,
} from './episodes.dto.js';

@ApiTags('episodes')
@Controller('api/runs/:runId/episodes')
export class EpisodesController {
  constructor(
    private readonly episodes: EpisodeListService,
    private readonly episode: EpisodeService,
    private readonly branches: BranchService,
  ) {}

  @Get()
  @AccessAsOf('read')
  @ApiOperation({ summary: 'Lists the episodes of a run' })
  @ApiPage(EpisodeListItem)
  list(@Param() { runId }: RunParams, @Query() query: EpisodesQuery): Promise<Page<EpisodeListItem>> {
    return this.episodes.list(runId, query);
  }

  @Get(':episodeId')
  @AccessAsOf('read')
  @ApiOperation({ summary: 'Returns one episode with its steps' })
  @ApiOkResponse({ type: EpisodeDetail })
  get(@Param() params: EpisodeParams, @Query() query: EpisodeQuery): Promise<EpisodeDetail> {
    return this.episode.get(params, query);
  }

  @Get(':episodeId/steps')
  @AccessAsOf('read')
  @ApiOperation({ summary: 'Returns steps of an episode, without what else is known of it' })
  @ApiOkResponse({ type: EpisodeSteps })
  getSteps(@Param() params: EpisodeParams, @Query() query: EpisodeQuery): Promise<EpisodeSteps> {
    return this.episode.getSteps(params, query);
  }

  @Get(':episodeId/branches')
  @AccessAsOf('read')
  @ApiOperation({ summary: 'Lists the agents that an episode called, and the forks of its steps' })
  @ApiOkResponse({ type: EpisodeBranches })
  listBranches(@Param() params: EpisodeParams): Promise<EpisodeBranches> {
    return this.branches.of(params);
  }
}
