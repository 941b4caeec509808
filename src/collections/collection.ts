import { NotFoundError } from '../errors/not-found-error.ts';
import { checkId } from '../input/checks.ts';
import type { PaginationChoice } from '../pagination/by-cursor.ts';
import { createPaginator } from '../pagination/paginator.ts';
import { pagesAhead } from '../reading/list-options.ts';
import {
  type LookUp,
  type RecordRow,
  RUN_SOURCE,
  type RunSource,
  type WriteSource,
} from '../reading/source.ts';
import { RecordReader, type ValidationMode } from '../schemas/record-reader.ts';
import type { StandardSchema } from '../schemas/standard-schema.ts';
import { idOf } from '../schemas/validate.ts';
import { kindOfSchema, zodFields } from '../schemas/zod-fields.ts';
import { callSettings } from '../transport/call-options.ts';
import { signOfError } from '../transport/outage.ts';
import type { ClientContext, CollectionContext } from './context.ts';
import type { AnyDefinition } from './define.ts';
import { checkedQuery } from './list-query.ts';
import { chosenPagination, listSource } from './list-source.ts';
import { type ReadOnlyCollection, reader } from './reader.ts';
import { sendOne } from './send-one.ts';
import { warnOfUnknownFields } from './unknown-fields.ts';
import { writeBody } from './write-body.ts';
import { sendCreate, sendDelete, sendUpdate, writer } from './writer.ts';

/** The client of one collection. Write methods exist only if the service has them. */
export function createCollection(
  definition: AnyDefinition,
  client: ClientContext,
  schema: StandardSchema<{ id: string }> | undefined,
): ReadOnlyCollection<{ id: string }> {
  const { fields, writable } = definition;
  const { ids, validation, settings, listeners } = client;
  const schemas = schema && zodFields(schema);
  const rules = { ...definition, schemas: validation === 'off' ? undefined : schemas };
  const namesField = (name: string) =>
    schema !== undefined && (schemas === undefined || Object.hasOwn(schemas, name));
  const contextWith = (mode: ValidationMode) => {
    const records = new RecordReader({ fields, schema, ids, validation: mode });
    return { ...client, definition, rules, records, namesField };
  };
  const context = contextWith(validation ?? 'throw');
  const reads = readsOf(context, (row) => keptRow(context, row));
  // One odd record must not end a copy for good.
  const copying = validation === undefined ? contextWith('report') : context;
  const copied = readsOf(copying, (row) => keptRow(copying, row));
  const reading = reader(context);
  const { segment } = definition;
  const source: RunSource<{ id: string }> = {
    segment,
    baseUrl: client.baseUrl,
    fields,
    schemaFields: Object.fromEntries(
      Object.entries(schemas ?? {}).map(([name, field]) => [name, kindOfSchema(field)]),
    ),
    pagination: runPagination(context),
    parameters: client.lists.parameters ?? {},
    list: (query, options) => (options.keepInvalid ? copied : reads).list(query, options),
    lookUp: (id, options) => (options.keepInvalid ? copied : reads).lookUp(id, options),
    async isServiceDown(error, options) {
      if (signOfError(error) === undefined) return false;
      const call = { template: `/${segment}`, settings: callSettings(settings, options), options };
      return await client.transport.isDown(call);
    },
    keyDigest: (salt) => client.transport.keyDigest(salt),
    inRun: (event, work) => listeners.inRun?.(event, work) ?? work(),
    warn: (text) => listeners.collectionWarning?.(segment, text),
    callbackFailed: (name, thrown) => listeners.listenerFailed?.(name, thrown),
    writes: writable
      ? {
          settings,
          body(given, argument, warned) {
            const body = writeBody({ ...rules, clears: true }, given, argument);
            warnOfUnknownFields(context, given, warned);
            return body;
          },
          lenient: lenient(contextWith('report')),
        }
      : undefined,
  };
  const collection = writable ? writer(context, reading) : reading;
  return Object.defineProperty(collection, RUN_SOURCE, { value: source });
}

/** A run fails if the service ignores bounds, instead of continuing by page: it could miss a record for good. */
const runPagination = (context: CollectionContext): PaginationChoice => chosenPagination(context) ?? 'keyset';

/** The reads of a run. */
function readsOf(
  context: CollectionContext,
  read: (row: unknown) => Promise<LookUp<{ id: string }>>,
): Pick<RunSource<{ id: string }>, 'list' | 'lookUp'> {
  return {
    list(query, options) {
      const { pagination = runPagination(context), prefetch = pagesAhead(pagination) } = options;
      const own = { ...options, pagination, prefetch };
      return createPaginator(listSource(context, checkedQuery(query), own)).pages();
    },
    async lookUp(id, options) {
      try {
        const expected = { kind: 'json', read } as const;
        return await sendOne(
          context,
          { method: 'GET', id: checkId(id), expected, mayBeMissing: true },
          options,
        );
      } catch (error) {
        if (error instanceof NotFoundError && error.missing) return { record: undefined, notFound: error };
        throw error;
      }
    },
  };
}

/** Reads a row. If invalid rows are reported, one with an id is what a copy may hold of it. */
async function keptRow(
  { records, definition }: CollectionContext,
  row: unknown,
): Promise<LookUp<{ id: string }>> {
  if (idOf(row) === undefined) return { record: await records.one(row), row };
  const { records: valid, invalid } = await records.list([row]);
  const [record, odd] = [valid[0], invalid[0]];
  if (record !== undefined) return { record, row };
  return { record, invalid: { collection: definition.segment, ...(odd as NonNullable<typeof odd>) } };
}

/** The reads and writes of a push: an invalid record is its row. */
function lenient(context: CollectionContext): WriteSource<{ id: string }>['lenient'] {
  const read = async (row: unknown): Promise<RecordRow<{ id: string }>> => {
    const { record = row as { id: string } } = await keptRow(context, row);
    return { record, row };
  };
  return {
    ...readsOf(context, read),
    create: (draft, options) => sendCreate(context, draft, { ...options, expected: { kind: 'json', read } }),
    update: (id, patch, options) =>
      sendUpdate(context, { id, patch }, { ...options, expected: { kind: 'json', read } }),
    delete: (id, options) => sendDelete(context, id, options),
  };
}
