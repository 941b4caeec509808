// A tap of Singer: --config, --discover, --catalog, --state.

import { parseArgs } from 'node:util';
import { type Config, connect, discoverStreams, readJson } from './config.ts';
import { Lines } from './emitter.ts';
import { read } from './read.ts';
import { SingerMessages, type SingerState } from './singer.ts';

interface SingerCatalog {
  readonly streams: readonly {
    readonly stream: string;
    readonly schema: Readonly<Record<string, unknown>>;
    readonly metadata?: readonly { readonly breadcrumb: readonly string[]; readonly metadata: Metadata }[];
  }[];
}

interface Metadata {
  readonly selected?: boolean;
  readonly 'replication-method'?: string;
}

const { values: options } = parseArgs({
  options: {
    config: { type: 'string' },
    catalog: { type: 'string' },
    state: { type: 'string' },
    discover: { type: 'boolean', default: false },
  },
});

function entry(name: string, jsonSchema: object) {
  const metadata = { inclusion: 'available', selected: true, 'table-key-properties': ['id'] };
  return {
    tap_stream_id: name,
    stream: name,
    key_properties: ['id'],
    schema: jsonSchema,
    metadata: [{ breadcrumb: [], metadata }],
  };
}

async function run(): Promise<number> {
  if (options.config === undefined) throw new Error('--config is missing.');
  const client = connect(await readJson<Config>(options.config));
  const lines = new Lines(process.stdout);
  if (options.discover) {
    const streams = await discoverStreams(client);
    await lines.write({ streams: streams.map(({ name, jsonSchema }) => entry(name, jsonSchema)) });
    return 0;
  }
  if (options.catalog === undefined) throw new Error('--catalog is missing.');
  const { streams } = await readJson<SingerCatalog>(options.catalog);
  const state = options.state === undefined ? { bookmarks: {} } : await readJson<SingerState>(options.state);
  const chosen = streams.flatMap(({ stream, schema, metadata = [] }) => {
    const own = metadata.find(({ breadcrumb }) => breadcrumb.length === 0)?.metadata ?? {};
    if (own.selected === false) return [];
    const full = own['replication-method'] === 'FULL_TABLE';
    return [{ name: stream, jsonSchema: schema, full, checkpoint: state.bookmarks[stream]?.checkpoint }];
  });
  return (await read(client, chosen, new SingerMessages(lines, state))) === 0 ? 0 : 1;
}

try {
  process.exitCode = await run();
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
