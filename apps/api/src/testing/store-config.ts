import { MIGRATIONS_DIRECTORY } from '@retrace/store';
import type { StoreFixture } from '@retrace/store-server/testing';
import { readApiConfig, type ApiConfig } from '../config/api-config.js';

/** The configuration of an API over the log and the store of a fixture, for specs of what reads them. */
export function configOver({ directory, url }: Pick<StoreFixture, 'directory' | 'url'>): ApiConfig {
  return readApiConfig({
    RETRACE_LOG_DIRECTORY: directory,
    RETRACE_STORE_URL: url,
    RETRACE_STORE_USER: 'retrace',
    RETRACE_STORE_PASSWORD: 'fixture',
    RETRACE_STORE_READONLY_USER: 'reader',
    RETRACE_STORE_READONLY_PASSWORD: 'fixture',
    RETRACE_MIGRATIONS_DIRECTORY: MIGRATIONS_DIRECTORY,
  });
}
