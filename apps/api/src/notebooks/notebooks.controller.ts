import { Body, Controller, Delete, Get, Param, Post, Put, Query, Res } from '@nestjs/common';
import { ApiBody, ApiCreatedResponse, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { schemaOf } from '../ingest/ingest-schemas.js';
import { RecordingService } from '../ingest/recording.service.js';
import { Access, AccessAsOf } from '../keys/access.js';
import { PageQuery, type Page } from '../paging/page.js';
import { ApiPage } from '../paging/page-schema.js';
import {
  DeleteNotebookQuery,
  NotebookDetail,
  NotebookListItem,
  NotebookParams,
  SavedNotebook,
} from './notebooks.dto.js';
import { NotebooksService } from './notebooks.service.js';

@ApiTags('sql')
@Controller('api/notebooks')
export class NotebooksController {
  constructor(
    private readonly notebooks: NotebooksService,
    private readonly recording: RecordingService,
  ) {}

  @Get()
  @AccessAsOf('read')
  @ApiOperation({ summary: 'Lists notebooks of SQL and text, last changed first' })
  @ApiPage(NotebookListItem)
  list(@Query() query: PageQuery): Promise<Page<NotebookListItem>> {
    return this.notebooks.list(query);
  }

  @Get(':notebookId')
  @AccessAsOf('read')
  @ApiOperation({ summary: 'Returns one notebook with its cells' })
  @ApiOkResponse({ type: NotebookDetail })
  get(@Param() { notebookId }: NotebookParams): Promise<NotebookDetail> {
    return this.notebooks.get(notebookId);
  }

  @Post()
  @Access('ingest')
  @ApiOperation({ summary: 'Makes a notebook', description: 'Answers once the store shows it.' })
  @ApiBody({ schema: schemaOf('CreateNotebookRequest') })
  @ApiCreatedResponse({ type: SavedNotebook })
  @ApiOkResponse({ type: SavedNotebook, description: 'It had been made with the same id and content' })
  async create(
    @Body() request: unknown,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<SavedNotebook> {
    const { isNew, ...saved } = await this.recording.createNotebook(request);
    void reply.status(isNew ? 201 : 200);
    return saved;
  }

  @Put(':notebookId')
  @Access('ingest')
  @ApiOperation({
    summary: 'Saves the whole content of a notebook',
    description:
      'Answers once the store shows it. Where the notebook has a newer revision than the one that is named, the answer is 409, ' +
      'whose `errors` have both. Earlier revisions stay in the log.',
  })
  @ApiBody({ schema: schemaOf('SaveNotebookRequest') })
  @ApiOkResponse({ type: SavedNotebook })
  async save(@Param() { notebookId }: NotebookParams, @Body() request: unknown): Promise<SavedNotebook> {
    const { isNew: _, ...saved } = await this.recording.saveNotebook(notebookId, request);
    return saved;
  }

  @Delete(':notebookId')
  @Access('ingest')
  @ApiOperation({
    summary: 'Deletes a notebook',
    description: 'Its revisions stay in the log, and are shown as of an earlier moment.',
  })
  @ApiOkResponse({ type: SavedNotebook })
  async delete(
    @Param() { notebookId }: NotebookParams,
    @Query() { revision }: DeleteNotebookQuery,
  ): Promise<SavedNotebook> {
    const read = revision ?? (await this.notebooks.get(notebookId)).revision;
    const { isNew: _, ...deleted } = await this.recording.deleteNotebook(notebookId, read);
    return deleted;
  }
}
