import { Writable } from 'node:stream';
import { collectionNames } from 'accounting-data-sdk';
import type { Sandbox } from 'accounting-data-sdk/testing';
import { expect, test } from 'vitest';
import { Lines } from '../../../examples/airbyte-source/src/emitter.ts';
import { type AirbyteMessage, airbyteMessage } from './support/airbyte-protocol.ts';
import { configured, lastStates, only, openSource } from './support/airbyte-source.ts';

const inBooks = ({ store }: Sandbox) =>
  collectionNames.flatMap((name) => store[name].ids().map((id) => `${name} ${id}`)).sort();

const told = (messages: readonly AirbyteMessage[]) =>
  only(messages, 'RECORD').map(({ record }) => `${record.stream} ${record.data.id}`);

const statuses = (messages: readonly AirbyteMessage[], name: string) =>
  only(messages, 'TRACE').flatMap(({ trace }) =>
    trace.type === 'STREAM_STATUS' && trace.stream_status.stream_descriptor.name === name
      ? trace.stream_status.status
      : [],
  );

test('says what it needs to be told, and whether that opens the books', async () => {
  const { sandbox, config, airbyte } = await openSource({ records: 20 });
  const spec = await airbyte(['spec']);
  expect(spec.code).toBe(0);
  expect(only(spec.messages, 'SPEC')[0]?.spec.connectionSpecification).toMatchObject({
    required: ['base_url', 'api_key'],
    properties: { api_key: { airbyte_secret: true } },
  });

  const status = async (key: string) => {
    const { messages } = await airbyte(['check', '--config', await config(key)]);
    return only(messages, 'CONNECTION_STATUS').map(({ connectionStatus }) => connectionStatus);
  };
  expect(await status(sandbox.keys.full)).toEqual([{ status: 'SUCCEEDED' }]);
  expect(await status(sandbox.keys.productsOnly)).toEqual([{ status: 'SUCCEEDED' }]);
  expect(await status(sandbox.keys.forbidden)).toMatchObject([{ status: 'FAILED' }]);
  const [revoked] = await status(sandbox.keys.revoked);
  expect(revoked).toMatchObject({ status: 'FAILED', message: expect.stringContaining('401') });
  expect(revoked?.message).not.toContain(sandbox.keys.revoked);
});

test('offers the collections that the key may read, with schemas of what is in them', async () => {
  const { sandbox, config, airbyte } = await openSource({ records: 200 });
  const { code, messages } = await airbyte(['discover', '--config', await config()]);
  expect(code).toBe(0);
  const streams = only(messages, 'CATALOG').flatMap(({ catalog }) => catalog.streams);
  expect(streams.map(({ name }) => name)).toEqual(collectionNames);
  const products = streams.find(({ name }) => name === 'products');
  expect(products).toMatchObject({
    source_defined_primary_key: [['id']],
    supported_sync_modes: ['full_refresh', 'incremental'],
    json_schema: {
      properties: {
        id: { type: 'string' },
        salePrice: { type: ['null', 'string'] },
        updatedAt: { format: 'date-time' },
      },
    },
  });

  const partly = await airbyte(['discover', '--config', await config(sandbox.keys.productsOnly)]);
  expect(configured(partly.messages).streams.map(({ stream }) => stream.name)).toEqual(['products']);
});

test('reads everything once, then what changed, with a state and a status for each stream', async () => {
  const { sandbox, save, config, airbyte } = await openSource({ records: 250 });
  const configFile = await config();
  const { messages: found } = await airbyte(['discover', '--config', configFile]);
  const args = ['read', '--config', configFile, '--catalog', await save('catalog', configured(found))];

  const first = await airbyte(args);
  expect(first).toMatchObject({ code: 0, complaints: '' });
  expect(told(first.messages).sort()).toEqual(inBooks(sandbox));
  for (const name of collectionNames) {
    expect(statuses(first.messages, name)).toEqual(['STARTED', 'RUNNING', 'COMPLETE']);
  }
  const states = only(first.messages, 'STATE');
  const counted = states.reduce((sum, { state }) => sum + (state.sourceStats?.recordCount ?? 0), 0);
  expect(counted).toBe(250);

  const { id } = sandbox.store.accounts.insert({ name: 'New' });
  const again = [...args, '--state', await save('state', lastStates(first.messages))];
  const second = await airbyte(again);
  expect(told(second.messages)).toEqual([`accounts ${id}`]);
  expect(lastStates(second.messages)).toHaveLength(collectionNames.length);

  const full = await save('catalog', configured(found, 'full_refresh'));
  const third = await airbyte(['read', '--config', configFile, '--catalog', full, ...again.slice(-2)]);
  expect(told(third.messages).sort()).toEqual(inBooks(sandbox));
});

test('goes on from the last states after it was killed', async () => {
  const { sandbox, save, config, airbyte } = await openSource({ records: 400, pageSize: 5 });
  const configFile = await config();
  const { messages: found } = await airbyte(['discover', '--config', configFile]);
  const args = ['read', '--config', configFile, '--catalog', await save('catalog', configured(found))];
  sandbox.clearLogs();
  const killed = await airbyte(args, (kill) => {
    if (sandbox.count() >= 40) kill();
  });
  expect(killed.code).toBe(null);
  const states = lastStates(killed.messages);
  expect(states.length).toBeGreaterThan(0);

  const rest = await airbyte([...args, '--state', await save('state', states)]);
  expect(rest.code).toBe(0);
  expect(told(rest.messages).length).toBeLessThan(400);
  const all = new Set([...told(killed.messages), ...told(rest.messages)]);
  expect([...all].sort()).toEqual(inBooks(sandbox));
});

test('tells which stream failed and what can be done about it, and reads the others', async () => {
  const { sandbox, save, config, airbyte } = await openSource({ records: 100 });
  const { messages: found } = await airbyte(['discover', '--config', await config()]);
  const catalog = await save('catalog', configured(found));
  const key = sandbox.issueKey({ access: 'read', collections: ['accounts', 'products', 'budgets'] });
  sandbox.faults.add({ kind: 'html-response' }, { collection: 'budgets' });

  const { code, messages } = await airbyte(['read', '--config', await config(key), '--catalog', catalog]);
  expect(code).toBe(1);
  const errors = new Map(
    only(messages, 'TRACE').flatMap(({ trace }) =>
      trace.type === 'ERROR'
        ? [[trace.error.stream_descriptor?.name, trace.error.failure_type] as const]
        : [],
    ),
  );
  expect(errors.get('boms')).toBe('config_error');
  expect(errors.get('budgets')).toBe('system_error');
  expect(statuses(messages, 'boms')).toEqual(['STARTED', 'INCOMPLETE']);
  expect(statuses(messages, 'products')).toEqual(['STARTED', 'RUNNING', 'COMPLETE']);
  expect(errors.size).toBe(collectionNames.length - 2);
  expect(JSON.stringify(messages)).not.toContain(key);

  const missing = await airbyte(['read', '--config', await config()]);
  expect(missing.code).toBe(1);
  expect(only(missing.messages, 'TRACE')).toMatchObject([
    { trace: { type: 'ERROR', error: { message: '--catalog is missing.' } } },
  ]);
});

test('is a tap of Singer as well', async () => {
  const { sandbox, save, config, singer } = await openSource({ records: 120 });
  const configFile = await config();
  const { messages: found } = await singer(['--config', configFile, '--discover']);
  const args = ['--config', configFile, '--catalog', await save('catalog', found[0])];
  const first = await singer(args);
  expect(first).toMatchObject({ code: 0, complaints: '' });
  const records = first.messages.filter(({ type }) => type === 'RECORD') as {
    stream: string;
    record: { id: string };
  }[];
  expect(records.map(({ stream, record }) => `${stream} ${record.id}`).sort()).toEqual(inBooks(sandbox));
  // A record never comes before the schema of its stream.
  for (const name of collectionNames) {
    expect(first.messages.find(({ stream }) => stream === name)).toMatchObject({
      type: 'SCHEMA',
      key_properties: ['id'],
    });
  }

  const { value } = first.messages.findLast(({ type }) => type === 'STATE') as { value: object };
  const { id } = sandbox.store.boms.insert({ name: 'New' });
  const second = await singer([...args, '--state', await save('state', value)]);
  expect(second.messages.filter(({ type }) => type === 'RECORD')).toMatchObject([
    { stream: 'boms', record: { id } },
  ]);
});

test('writes no faster than it is read, and leaves no listener behind', async () => {
  const read: string[] = [];
  const out = new Writable({
    highWaterMark: 1,
    write: (line, _encoding, done) => {
      read.push(String(line));
      setImmediate(done);
    },
  });
  const lines = new Lines(out);
  for (let record = 1; record <= 20; record++) {
    await lines.write({ record });
    expect(read).toHaveLength(record);
  }
  expect(out.listenerCount('error')).toBe(0);

  const broken = new Writable({
    highWaterMark: 1,
    write: (_line, _encoding, done) => done(new Error('EPIPE')),
  });
  await expect(new Lines(broken).write({})).rejects.toThrow('EPIPE');
});

test('holds the messages to the protocol', () => {
  const status = { stream_descriptor: { name: 'accounts' }, status: 'RUNNING' };
  const trace = { type: 'STREAM_STATUS', emitted_at: 1, stream_status: status };
  expect(airbyteMessage.safeParse({ type: 'TRACE', trace }).success).toBe(true);
  const defects = [
    { type: 'TRACE', trace: { ...trace, stream_status: { ...status, status: 'DONE' } } },
    { type: 'TRACE', trace: { ...trace, emitted_at: '1' } },
    { type: 'STATE', state: { type: 'STREAM', stream: { stream_state: { checkpoint: 'x' } } } },
    { type: 'RECORD', record: { stream: 'accounts', data: { id: '1' } } },
    { type: 'RECORD', log: { level: 'INFO', message: 'x' } },
  ];
  expect(defects.map((defect) => airbyteMessage.safeParse(defect).success)).toEqual(defects.map(() => false));
});
