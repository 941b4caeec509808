/** A Singer tap: writes SCHEMA, RECORD and STATE messages, and resumes from the state of the last run. */
import { existsSync, readFileSync } from 'node:fs';
import { changes, createClient } from 'accounting-data-sdk';

const client = createClient();
const streams = ['accounts', 'products'] as const;
const stateFile = process.argv[2]; // node singer-tap.ts state.json | target-…
const bookmarks: Record<string, string> =
  stateFile && existsSync(stateFile) ? JSON.parse(readFileSync(stateFile, 'utf8')).bookmarks : {};

const write = (message: object) => process.stdout.write(`${JSON.stringify(message)}\n`);

for (const stream of streams) {
  write({ type: 'SCHEMA', stream, schema: { type: 'object' }, key_properties: ['id'] });
  // Without `set`, the consumer stores the checkpoint of a batch with its records: here the target, as STATE.
  const store = { get: () => bookmarks[stream] };
  for await (const { records, checkpoint } of changes(client[stream], { store, tenant: 'singer' })) {
    for (const record of records) write({ type: 'RECORD', stream, record });
    bookmarks[stream] = checkpoint;
    write({ type: 'STATE', value: { bookmarks } });
  }
}
