import { Controller, Get } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { Access } from '../keys/access.js';
import { Health } from './health.dto.js';
import { HealthService } from './health.service.js';

@ApiTags('health')
@Controller('api/health')
export class HealthController {
  constructor(private readonly health: HealthService) {}

  @Get()
  @Access('monitoring')
  @ApiOperation({ summary: 'Reports the state of the store, the log and the sink' })
  @ApiOkResponse({ type: Health })
  check(): Promise<Health> {
    return this.health.check();
  }
}
