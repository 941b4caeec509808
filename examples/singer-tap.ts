/** A Singer tap: node singer-tap.ts [--config config.json] [--state state.json] [--discover] | target-… */
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { changes, createClient, fieldKinds } from 'accounting-data-sdk';
import { discover, type Shape } from 'accounting-data-sdk/explore';
import { productSchema } from 'accounting-data-sdk/schemas';
import * as z from 'zod';

interface Bookmark {
  readonly checkpoint: string;
  /** Of the last full run. A target removes records of older versions. */
  readonly version: number;
  /** Whether that run has ended. */
  readonly active: boolean;
}

const flag = { type: 'string' } as const;
const { values } = parseArgs({ options: { config: flag, state: flag, discover: { type: 'boolean' } } });
const read = (file: string | undefined) => (file === undefined ? {} : JSON.parse(readFileSync(file, 'utf8')));
const client = createClient(read(values.config)); // { "baseUrl": "…", "apiKey": "…" }
const bookmarks: Record<string, Bookmark> = read(values.state).bookmarks ?? {};

const streams = ['accounts', 'products'] as const;
const write = (message: object) => process.stdout.write(`${JSON.stringify(message)}\n`);

const factsOf = { ...fieldKinds, date: { json: 'string' }, object: { json: 'object' } } as const;

/** JSON Schema of a field as `discover` saw it. Amounts are strings, so that no digit is lost. */
function fieldSchema({ kinds }: Shape): object {
  const types = kinds.map((kind) => factsOf[kind].json);
  return types.length === 0 ? {} : { type: [...new Set(types), 'null'] };
}

async function schemaOf(stream: (typeof streams)[number]): Promise<object> {
  if (stream === 'products') return z.toJSONSchema(productSchema, { unrepresentable: 'any', io: 'output' });
  const { collections } = await discover(client, { collections: [stream] });
  const fields = Object.entries(collections[0]?.fields ?? {});
  const properties = fields.map(([name, shape]) => [name, fieldSchema(shape)]);
  return { type: 'object', properties: { id: { type: 'string' }, ...Object.fromEntries(properties) } };
}

const catalog = [];
for (const stream of streams) {
  const schema = await schemaOf(stream);
  catalog.push({ tap_stream_id: stream, stream, schema, key_properties: ['id'] });
}
if (values.discover) {
  console.log(JSON.stringify({ streams: catalog }, undefined, 2));
  process.exit();
}

for (const stream of streams) {
  const schema = catalog.find((entry) => entry.stream === stream)?.schema;
  write({ type: 'SCHEMA', stream, schema, key_properties: ['id'] });
  const { version = Date.now(), active = false } = bookmarks[stream] ?? {};
  const save = (checkpoint: string, isActive: boolean) => {
    bookmarks[stream] = { checkpoint, version, active: isActive };
    write({ type: 'STATE', value: { bookmarks } });
  };
  // Without `set`, the consumer stores the checkpoint of a batch with its records: here the target, as STATE.
  const store = { get: () => bookmarks[stream]?.checkpoint };
  for await (const { records, checkpoint } of changes(client[stream], { store, tenant: 'singer' })) {
    for (const record of records) write({ type: 'RECORD', stream, record, version });
    save(checkpoint, active);
  }
  const last = bookmarks[stream];
  if (active || last === undefined) continue;
  write({ type: 'ACTIVATE_VERSION', stream, version });
  save(last.checkpoint, true);
}
