import { Controller, Get } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import { Access } from '../keys/access.js';
import { HealthService } from './health.service.js';

/** Probes of an orchestrator. Both ignore the name that the client uses for this host. */
@ApiExcludeController()
@Controller()
export class ProbesController {
  constructor(private readonly health: HealthService) {}

  /** Answers 200 for as long as this process serves requests. */
  @Get('healthz')
  @Access('open')
  alive(): { readonly status: 'ok' } {
    return { status: 'ok' };
  }

  /** Answers 200 when the store and the log can be reached, else 503 with the reason. */
  @Get('readyz')
  @Access('open')
  async ready(): Promise<{ readonly status: 'ok' }> {
    await this.health.checkReady();
    return { status: 'ok' };
  }
}
