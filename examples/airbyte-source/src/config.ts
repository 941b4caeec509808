import { readFile } from 'node:fs/promises';
import {
  type Client,
  type CollectionName,
  collectionNames,
  createClient,
  type Logger,
} from 'accounting-data-sdk';
import { discover } from 'accounting-data-sdk/tools';
import type { Stream } from './emitter.ts';
import { recordSchema } from './json-schema.ts';

/** What a person fills in. */
export interface Config {
  readonly base_url: string;
  readonly api_key: string;
}

/** The form for it. */
export const CONFIG_SCHEMA = {
  $schema: 'http://json-schema.org/draft-07/schema#',
  title: 'Accounting data',
  type: 'object',
  required: ['base_url', 'api_key'],
  additionalProperties: true,
  properties: {
    base_url: { type: 'string', title: 'Address', examples: ['https://books.example.com'], order: 0 },
    api_key: { type: 'string', title: 'API key of one company', airbyte_secret: true, order: 1 },
  },
} as const;

export async function readJson<T>(path: string): Promise<T> {
  return JSON.parse(await readFile(path, 'utf8')) as T;
}

export function connect({ base_url, api_key }: Config, logger?: Logger): Client {
  return createClient({
    baseUrl: base_url,
    apiKey: api_key,
    appInfo: { name: 'airbyte-source', version: '1.0.0' },
    logger,
  });
}

export function isCollection(name: string): name is CollectionName {
  return (collectionNames as readonly string[]).includes(name);
}

/** The collections that the key may read, with the schemas of what was seen of them. */
export async function discoverStreams(client: Client): Promise<Stream[]> {
  const { collections } = await discover(client, { sample: 200 });
  return collections
    .filter(({ access }) => access === 'readable')
    .map(({ collection, fields }) => ({ name: collection, jsonSchema: recordSchema(fields) }));
}
