import { checkId } from '../errors/check-input.ts';
import { NotFoundError } from '../errors/not-found-error.ts';
import { createPaginator } from '../pagination/paginator.ts';
import { RUN_SOURCE, type RunSource } from '../reading/source.ts';
import { RecordReader } from '../schemas/record-reader.ts';
import type { StandardSchema } from '../schemas/standard-schema.ts';
import { callSettings } from '../transport/call-options.ts';
import { signOfError } from '../transport/outage.ts';
import type { ClientContext } from './context.ts';
import type { AnyDefinition } from './define.ts';
import { listSource } from './list-source.ts';
import { type ReadOnlyCollection, reader } from './reader.ts';
import { sendOne } from './send-one.ts';
import { fieldSchemasOf, writeBody } from './write-body.ts';
import { writer } from './writer.ts';

/** The client of one collection. Write methods exist only if the service has them. */
export function createCollection(
  definition: AnyDefinition,
  client: ClientContext,
  schema: StandardSchema<{ id: string }> | undefined,
): ReadOnlyCollection<{ id: string }> {
  const { fields, writable } = definition;
  const { validation, checkIds, settings, listeners } = client;
  const records = new RecordReader({ fields, schema, validation, checkIds, keepFields: writable });
  const rules = { ...definition, schemas: validation === 'off' ? undefined : fieldSchemasOf(schema) };
  const context = { ...client, definition, rules, records, hasSchema: schema !== undefined };
  const reading = reader(context);
  const { segment } = definition;
  const source: RunSource<{ id: string }> = {
    segment,
    baseUrl: client.baseUrl,
    fields,
    list: (query, options) => createPaginator(listSource({ context, query, options })).pages(),
    async lookUp(id, options) {
      const read = async (row: unknown) => ({ record: await records.one(row), row });
      try {
        return await sendOne(
          context,
          { method: 'GET', id: checkId(id), expected: { kind: 'json', read } },
          options,
        );
      } catch (error) {
        if (error instanceof NotFoundError && error.missing) return { record: undefined, notFound: error };
        throw error;
      }
    },
    async isServiceDown(error, options) {
      if (signOfError(error) === undefined) return false;
      const { headers, signal } = options;
      const call = { collection: segment, settings: callSettings(settings, options), headers, signal };
      return await client.transport.isDown(call);
    },
    inRun: (event, work) => listeners.inRun?.(event, work) ?? work(),
    warn: (text) => listeners.collectionWarning?.(segment, text),
    callbackFailed: (name, thrown) => listeners.listenerFailed?.(name, thrown),
    writes: writable
      ? {
          settings,
          body: (given, argument) => writeBody({ ...rules, clears: true }, given, argument),
          outlasting: (maxOutageMs) =>
            createCollection(definition, { ...client, settings: { ...settings, maxOutageMs } }, schema),
        }
      : undefined,
  };
  const collection = writable ? writer(context, reading) : reading;
  return Object.defineProperty(collection, RUN_SOURCE, { value: source });
}
