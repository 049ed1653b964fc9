import { Module } from '@nestjs/common';
import { IngestModule } from '../ingest/ingest.module.js';
import { NotebooksController } from './notebooks.controller.js';
import { NotebooksService } from './notebooks.service.js';

@Module({ imports: [IngestModule], controllers: [NotebooksController], providers: [NotebooksService] })
export class NotebooksModule {}
