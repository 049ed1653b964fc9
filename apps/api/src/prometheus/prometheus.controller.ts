import { Controller, Get, Header } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import { Registry } from 'prom-client';
import { Access } from '../keys/access.js';
import { PrometheusService } from './prometheus.service.js';

@ApiExcludeController()
@Controller('metrics')
export class PrometheusController {
  constructor(private readonly prometheus: PrometheusService) {}

  @Get()
  @Access('monitoring')
  @Header('content-type', Registry.PROMETHEUS_CONTENT_TYPE)
  text(): Promise<string> {
    return this.prometheus.text();
  }
}
