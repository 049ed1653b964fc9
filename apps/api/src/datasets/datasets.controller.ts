import { Controller, Get, Param, Query } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { AccessAsOf } from '../keys/access.js';
import { PageQuery, type Page } from '../paging/page.js';
import { ApiPage } from '../paging/page-schema.js';
import { DatasetParams } from './dataset-params.js';
import { DatasetDetail, DatasetEpisode, DatasetListItem } from './datasets.dto.js';
import { DatasetsService } from './datasets.service.js';

@ApiTags('datasets')
@Controller('api/datasets')
export class DatasetsController {
  constructor(private readonly datasets: DatasetsService) {}

  @Get()
  @AccessAsOf('read')
  @ApiOperation({ summary: 'Lists data sets, newest first' })
  @ApiPage(DatasetListItem)
  list(@Query() query: PageQuery): Promise<Page<DatasetListItem>> {
    return this.datasets.list(query);
  }

  @Get(':name')
  @AccessAsOf('read')
  @ApiOperation({ summary: 'Returns one data set with its query, splits and runs' })
  @ApiOkResponse({ type: DatasetDetail })
  get(@Param() { name }: DatasetParams): Promise<DatasetDetail> {
    return this.datasets.get(name);
  }

  @Get(':name/episodes')
  @AccessAsOf('read')
  @ApiOperation({ summary: 'Lists the episodes that rows of a data set are made of, by run and episode' })
  @ApiPage(DatasetEpisode)
  listEpisodes(@Param() { name }: DatasetParams, @Query() query: PageQuery): Promise<Page<DatasetEpisode>> {
    return this.datasets.listEpisodes(name, query);
  }
}
