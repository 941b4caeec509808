import { type Client, collectionNames, isAccountingError, type Logger } from 'accounting-data-sdk';
import type { AirbyteMessages } from './airbyte.ts';
import { CONFIG_SCHEMA, type Config, connect, discoverStreams, readJson } from './config.ts';
import { read } from './read.ts';

/** The part of a configured catalog that a source goes by. */
interface ConfiguredCatalog {
  readonly streams: readonly {
    readonly stream: { readonly name: string; readonly json_schema: Readonly<Record<string, unknown>> };
    readonly sync_mode: 'full_refresh' | 'incremental';
  }[];
}

/** A state of one stream, as it was told. */
interface StateMessage {
  readonly stream?: {
    readonly stream_descriptor: { readonly name: string };
    readonly stream_state?: { readonly checkpoint?: string };
  };
}

/** Each command resolves to the exit code. */
export async function spec(out: AirbyteMessages): Promise<number> {
  const body = {
    protocol_version: '0.3.2',
    supportsIncremental: true,
    supported_destination_sync_modes: [],
    connectionSpecification: CONFIG_SCHEMA,
  };
  await out.send('SPEC', { spec: body });
  return 0;
}

export async function check(out: AirbyteMessages, config: string): Promise<number> {
  const connectionStatus = await readJson<Config>(config)
    .then((settings) => tryToRead(connect(settings)))
    .then(
      () => ({ status: 'SUCCEEDED' }),
      (error: unknown) => ({
        status: 'FAILED',
        message: error instanceof Error ? error.message : `${error}`,
      }),
    );
  await out.send('CONNECTION_STATUS', { connectionStatus });
  return 0;
}

/** A key with partial rights is good enough; one that may read nothing is not. */
async function tryToRead(client: Client): Promise<void> {
  let refusal: unknown;
  for (const name of collectionNames) {
    try {
      await client[name].list().toArray({ limit: 1 });
      return;
    } catch (error) {
      if (!isAccountingError(error, 'forbidden') && !isAccountingError(error, 'scope_required')) throw error;
      refusal ??= error;
    }
  }
  throw refusal;
}

export async function discoverCatalog(out: AirbyteMessages, config: string): Promise<number> {
  const found = await discoverStreams(connect(await readJson<Config>(config), logTo(out)));
  const streams = found.map(({ name, jsonSchema }) => ({
    name,
    json_schema: jsonSchema,
    supported_sync_modes: ['full_refresh', 'incremental'],
    // What changed is the service's to know: no field of a record is needed for it.
    source_defined_cursor: true,
    source_defined_primary_key: [['id']],
    is_resumable: true,
  }));
  await out.send('CATALOG', { catalog: { streams } });
  return 0;
}

export async function readCatalog(
  out: AirbyteMessages,
  paths: { readonly config: string; readonly catalog: string; readonly state: string | undefined },
): Promise<number> {
  const { streams } = await readJson<ConfiguredCatalog>(paths.catalog);
  const states = paths.state === undefined ? [] : await readJson<StateMessage[]>(paths.state);
  const checkpoints = new Map(
    states.map(({ stream }) => [stream?.stream_descriptor.name, stream?.stream_state?.checkpoint]),
  );
  const chosen = streams.map(({ stream: { name, json_schema }, sync_mode }) => ({
    name,
    jsonSchema: json_schema,
    full: sync_mode === 'full_refresh',
    checkpoint: checkpoints.get(name),
  }));
  const client = connect(await readJson<Config>(paths.config), logTo(out));
  return (await read(client, chosen, out)) === 0 ? 0 : 1;
}

/** Retries and failed calls become messages of the log. */
function logTo(out: AirbyteMessages): Logger {
  return {
    debug: () => undefined,
    info: (message) => void out.log('INFO', message),
    warn: (message) => void out.log('WARN', message),
  };
}
