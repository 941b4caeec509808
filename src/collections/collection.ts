import { showsMissingRecord } from '../errors/guards.ts';
import { checkId } from '../input/checks.ts';
import type { PaginationChoice } from '../pagination/by-cursor.ts';
import type { Page } from '../pagination/page.ts';
import { createPaginator } from '../pagination/paginator.ts';
import { pagesAhead, type ReadSettings } from '../reading/list-options.ts';
import {
  type LookUp,
  type RecordRow,
  RUN_SOURCE,
  type RunSource,
  type SourceQuery,
  type WriteSource,
} from '../reading/source.ts';
import { type ReadFor, RecordReader } from '../schemas/record-reader.ts';
import type { StandardSchema } from '../schemas/standard-schema.ts';
import { idOf } from '../schemas/validate.ts';
import { kindOfSchema, zodFields } from '../schemas/zod-fields.ts';
import type { RunCallOptions } from '../transport/call-options.ts';
import type { ClientContext, CollectionContext } from './context.ts';
import type { AnyDefinition } from './define.ts';
import { checkedQuery } from './list-query.ts';
import { chosenPagination, listSource } from './list-source.ts';
import { type ReadOnlyCollection, reader, throwIfUnrouted } from './reader.ts';
import { sendOne } from './send-one.ts';
import { rejectUnknownFields, warnOfUnknownFields } from './unknown-fields.ts';
import { writeBody } from './write-body.ts';
import { sendCreate, sendUpdate, writer } from './writer.ts';

/** What the methods of one collection need. */
export function collectionContext(
  definition: AnyDefinition,
  client: ClientContext,
  schema: StandardSchema<{ id: string }> | undefined,
): CollectionContext {
  const { ids, validation } = client;
  const schemas = schema && zodFields(schema);
  const rules = { ...definition, schemas: validation === 'off' ? undefined : schemas };
  const namesField = (name: string) =>
    schema !== undefined && (schemas === undefined || Object.hasOwn(schemas, name));
  const records = new RecordReader({ fields: definition.fields, schema, ids, validation });
  return { ...client, definition, rules, records, namesField };
}

/** The client of one collection. Write methods exist only if the service has them. */
export function createCollection(
  definition: AnyDefinition,
  client: ClientContext,
  schema: StandardSchema<{ id: string }> | undefined,
): ReadOnlyCollection<{ id: string }> {
  const { fields, writable } = definition;
  const { settings, listeners } = client;
  const context = collectionContext(definition, client, schema);
  const { rules } = context;
  const reading = reader(context);
  const { segment } = definition;
  const source: RunSource<{ id: string }> = {
    segment,
    baseUrl: client.baseUrl,
    fields,
    schemaFields: Object.fromEntries(
      Object.entries((schema && zodFields(schema)) ?? {}).map(([name, field]) => [name, kindOfSchema(field)]),
    ),
    pagination: runPagination(context),
    timeoutMs: settings.timeoutMs,
    parameters: client.lists.parameters ?? {},
    forms: client.forms,
    pageParameter: client.lists.pageParameter,
    list: (query, options) => list(context, query, options, options.keepInvalid ? 'copy' : 'run'),
    lookUp: (id, options) => lookUp(context, id, options, options.keepInvalid ? 'copy' : 'run'),
    askForKey: () => client.transport.askForKey(),
    digestOf: (key, salt) => client.transport.digestOf(key, salt),
    inRun: (event, work) => listeners.inRun?.(event, work) ?? work(),
    warn: (text) => listeners.collectionWarning?.(segment, text),
    callbackFailed: (name, thrown) => listeners.listenerFailed?.(name, thrown),
    writes: writable
      ? {
          settings,
          body(draft, argument, { unknownFields, warned }) {
            const body = writeBody({ ...rules, clears: true }, draft, argument);
            if (unknownFields === 'reject') rejectUnknownFields(context, draft, argument);
            else warnOfUnknownFields(context, draft, warned);
            return body;
          },
          lenient: lenient(context),
        }
      : undefined,
  };
  const collection = writable ? writer(context, reading) : reading;
  return Object.defineProperty(collection, RUN_SOURCE, { value: source });
}

/** A run fails if the service ignores bounds, instead of continuing by page: it could miss a record for good. */
const runPagination = (context: CollectionContext): PaginationChoice => chosenPagination(context) ?? 'keyset';

function list(
  context: CollectionContext,
  query: SourceQuery,
  options: ReadSettings,
  readFor: ReadFor,
): AsyncIterableIterator<Page<{ id: string }>> {
  const { pagination = runPagination(context), prefetch = pagesAhead(pagination) } = options;
  const own = { ...options, pagination, prefetch };
  return createPaginator(listSource(context, checkedQuery(query), own, readFor)).pages();
}

async function lookUp(
  context: CollectionContext,
  id: string,
  options: RunCallOptions,
  readFor: ReadFor,
): Promise<LookUp<{ id: string }>> {
  const expected = { kind: 'json', read: (row: unknown) => readRow(context, row, readFor) } as const;
  try {
    const request = { method: 'GET', id: checkId(id), expected, isResult: showsMissingRecord } as const;
    const found = await sendOne(context, request, options);
    options.admission?.saw(context.definition.segment, [found.row ?? found.invalid?.record]);
    return found;
  } catch (error) {
    throwIfUnrouted(context, id, error);
    if (showsMissingRecord(error)) return { record: undefined, notFound: error };
    throw error;
  }
}

/** Reads a row. If invalid rows are reported, one with an id is what a copy may hold of it. */
async function readRow(
  { records, definition }: CollectionContext,
  row: unknown,
  readFor: ReadFor,
): Promise<LookUp<{ id: string }>> {
  if (idOf(row) === undefined) return { record: await records.one(row), row };
  const { records: valid, invalid } = await records.list([row], readFor);
  const [record, odd] = [valid[0], invalid[0]];
  if (record !== undefined) return { record, row };
  return { record, invalid: { collection: definition.segment, ...(odd as NonNullable<typeof odd>) } };
}

/** The reads and writes of a push. */
function lenient(context: CollectionContext): WriteSource<{ id: string }>['lenient'] {
  const read = async (row: unknown) => asRow(await readRow(context, row, 'push'));
  const expected = { kind: 'json', read } as const;
  return {
    list: (query, options) => list(context, query, options, 'push'),
    async lookUp(id, options) {
      const found = await lookUp(context, id, options, 'push');
      return found.notFound === undefined ? asRow(found) : found;
    },
    create: (draft, options) => sendCreate(context, draft, { ...options, expected }),
    update: (id, patch, options) => sendUpdate(context, { id, patch }, { ...options, expected }),
  };
}

/** An invalid record is its row. */
function asRow({ record, row, invalid }: LookUp<{ id: string }>): RecordRow<{ id: string }> {
  const kept = record ?? (invalid?.record as { id: string });
  return { record: kept, row: row ?? kept };
}
