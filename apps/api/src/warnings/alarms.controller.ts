import { Controller, Get, Query } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import { AccessAsOf } from '../keys/access.js';
import { PageQuery, type Page } from '../paging/page.js';
import { ApiPage } from '../paging/page-schema.js';
import { AlarmItem } from './warnings.dto.js';
import { WarningsService } from './warnings.service.js';

@ApiTags('warnings')
@Controller('api/alarms')
export class AlarmsController {
  constructor(private readonly warnings: WarningsService) {}

  @Get()
  @AccessAsOf('read')
  @ApiOperation({
    summary: 'Lists the alarms of all runs that are not archived, the newest first',
  })
  @ApiPage(AlarmItem)
  list(@Query() query: PageQuery): Promise<Page<AlarmItem>> {
    return this.warnings.listAlarms(query);
  }
}
