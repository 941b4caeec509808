import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { createSandbox } from 'accounting-data-sdk/testing';
import { AirbyteMessages } from './airbyte.ts';
import { check, discoverCatalog, readCatalog } from './commands.ts';
import { Lines } from './emitter.ts';

interface Message {
  readonly type: string;
  readonly catalog?: { readonly streams: readonly object[] };
  readonly state?: object;
}

/** What a platform does, on books that listen on this machine: check, discover, read, and read again with the state. */
export async function demo(): Promise<number> {
  await using sandbox = createSandbox({ records: 300 });
  const { url: base_url } = await sandbox.listen();
  const folder = await mkdtemp(join(tmpdir(), 'airbyte-source-'));
  const file = (name: string) => join(folder, `${name}.json`);
  const save = (name: string, value: unknown) => writeFile(file(name), JSON.stringify(value));
  try {
    await save('config', { base_url, api_key: sandbox.keys.full });
    console.log('check:', ...(await messages((out) => check(out, file('config')))));
    const [found] = await messages((out) => discoverCatalog(out, file('config')));
    const streams = found?.catalog?.streams ?? [];
    await save('catalog', {
      streams: streams.map((stream) => ({
        stream,
        sync_mode: 'incremental',
        destination_sync_mode: 'append_dedup',
      })),
    });
    console.log(`discover: ${streams.length} streams`);

    const paths = { config: file('config'), catalog: file('catalog') };
    const first = await messages((out) => readCatalog(out, { ...paths, state: undefined }));
    console.log('read:', count(first));
    // A platform keeps the last state of each stream; the last of all are those, for streams come one by one.
    await save(
      'state',
      first.flatMap(({ state }) => state ?? []),
    );
    sandbox.store.accounts.insert({ name: 'New' });
    const second = await messages((out) => readCatalog(out, { ...paths, state: file('state') }));
    console.log('read again, after one account was added:', count(second));
    return 0;
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** What a command tells. */
async function messages(work: (out: AirbyteMessages) => Promise<number>): Promise<Message[]> {
  const told: Message[] = [];
  const sink = new Writable({
    write: (line, _encoding, done) => {
      told.push(JSON.parse(String(line)) as Message);
      done();
    },
  });
  const code = await work(new AirbyteMessages(new Lines(sink)));
  if (code !== 0) throw new Error(`It ended with ${code}: ${JSON.stringify(told)}`);
  return told;
}

function count(told: readonly Message[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { type } of told) counts[type] = (counts[type] ?? 0) + 1;
  return counts;
}
