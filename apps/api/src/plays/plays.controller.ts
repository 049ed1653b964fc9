import { Controller, Get, Param, Query } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { AccessAsOf } from '../keys/access.js';
import { PageQuery, type Page } from '../paging/page.js';
import { ApiPage } from '../paging/page-schema.js';
import { PlayParams } from './play-params.js';
import { PlayDetail, PlayListItem } from './plays.dto.js';
import { PlaysService } from './plays.service.js';

@ApiTags('plays')
@Controller('api/plays')
export class PlaysController {
  constructor(private readonly plays: PlaysService) {}

  @Get()
  @AccessAsOf('read')
  @ApiOperation({ summary: 'Lists plays (evaluations), newest first' })
  @ApiPage(PlayListItem)
  list(@Query() query: PageQuery): Promise<Page<PlayListItem>> {
    return this.plays.list(query);
  }

  @Get(':playId')
  @AccessAsOf('read')
  @ApiOperation({ summary: 'Returns the figures of a play, and its policies compared task by task' })
  @ApiOkResponse({ type: PlayDetail })
  get(@Param() { playId }: PlayParams): Promise<PlayDetail> {
    return this.plays.get(playId);
  }
}
