import { checkId } from '../errors/check-input.ts';
import { RecordReader } from '../schemas/record-reader.ts';
import type { StandardSchema } from '../schemas/standard-schema.ts';
import { callSettings } from '../transport/call-options.ts';
import { type CollectionInternals, INTERNALS } from '../transport/collection-internals.ts';
import type { ClientContext } from './context.ts';
import type { AnyDefinition } from './define.ts';
import { type ReadOnlyCollection, reader } from './reader.ts';
import { sendOne } from './send-one.ts';
import { writeBody } from './write-body.ts';
import { writer } from './writer.ts';

/** The client of one collection. Write methods exist only if the service has them. */
export function createCollection(
  definition: AnyDefinition,
  client: ClientContext,
  schema: StandardSchema<{ id: string }> | undefined,
): ReadOnlyCollection<{ id: string }> {
  const { fields, writable } = definition;
  const { validation, settings, listeners } = client;
  const records = new RecordReader({ fields, schema, validation, keepFields: writable });
  const context = { ...client, definition, records, hasSchema: schema !== undefined };
  const reading = reader(context);
  const internals: CollectionInternals = {
    callbackFailed: (name, thrown) => listeners.listenerFailed?.(name, thrown),
    inRun: listeners.inRun,
    warn: (text) => listeners.collectionWarning?.(definition.segment, text),
    outlasting: (maxOutageMs, beforeAttempt) =>
      createCollection(
        definition,
        { ...client, settings: { ...settings, maxOutageMs, beforeAttempt } },
        schema,
      ),
    isServiceDown: async ({ headers, signal, ...options }) =>
      client.transport.isDown({
        collection: definition.segment,
        settings: callSettings(settings, options),
        headers,
        signal,
      }),
    async lookUp(id, options) {
      const read = async (row: unknown) => ({ record: await records.one(row), row });
      return await sendOne(
        context,
        { method: 'GET', id: checkId(id), expected: { kind: 'json', read } },
        options,
      );
    },
    ...(writable
      ? {
          writeFacts: { fields, settings, body: (given, argument) => writeBody(definition, given, argument) },
        }
      : {}),
  };
  const collection = writable ? writer(context, reading) : reading;
  return Object.defineProperty(collection, INTERNALS, { value: internals });
}
