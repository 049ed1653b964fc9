import { Controller, Get, Query } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import { AccessAsOf } from '../keys/access.js';
import { PageQuery, type Page } from '../paging/page.js';
import { ApiPage } from '../paging/page-schema.js';
import { AlarmListService } from './alarm-list.service.js';
import { AlarmItem, AlarmSilenceItem } from './alarms.dto.js';

@ApiTags('warnings')
@Controller('api/alarms')
export class AlarmListController {
  constructor(private readonly alarms: AlarmListService) {}

  @Get()
  @AccessAsOf('read')
  @ApiOperation({
    summary:
      'Lists the alarms of all runs that are not archived, the newest first, and what people did about them',
  })
  @ApiPage(AlarmItem)
  list(@Query() query: PageQuery): Promise<Page<AlarmItem>> {
    return this.alarms.list(query);
  }

  @Get('silences')
  @AccessAsOf('read')
  @ApiOperation({ summary: 'Lists the silences that hold, those that end last first' })
  @ApiPage(AlarmSilenceItem)
  listSilences(@Query() query: PageQuery): Promise<Page<AlarmSilenceItem>> {
    return this.alarms.listSilences(query);
  }
}
