import { Body, Controller, Delete, HttpCode, Param, Post, Query } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { EpisodeParams } from '../episodes/episodes.dto.js';
import { Access } from '../keys/access.js';
import { RunParams } from '../runs/run-params.js';
import { DeleteEpisodeQuery, DeleteTaggedRequest, DeletionResult } from './deletion.dto.js';
import { DeletionService } from './deletion.service.js';

@ApiTags('episodes')
@Controller('api/runs/:runId')
export class DeletionController {
  constructor(private readonly deletions: DeletionService) {}

  @Delete('episodes/:episodeId')
  @Access('admin')
  @ApiOperation({ summary: 'Deletes an episode for ever, from log and store' })
  @ApiOkResponse({ type: DeletionResult })
  delete(
    @Param() { runId, episodeId }: EpisodeParams,
    @Query() { force }: DeleteEpisodeQuery,
  ): Promise<DeletionResult> {
    return this.deletions.deleteEpisode({ runId, episodeId, force: force === true });
  }

  @Post('delete-episodes')
  @Access('admin')
  @HttpCode(200)
  @ApiOperation({ summary: 'Deletes all episodes with a tag for ever, from log and store' })
  @ApiOkResponse({ type: DeletionResult })
  deleteTagged(
    @Param() { runId }: RunParams,
    @Body() { tag, force }: DeleteTaggedRequest,
  ): Promise<DeletionResult> {
    return this.deletions.deleteTagged({ runId, tag, force: force === true });
  }
}
