import { type CollectionName, collections } from '../../collections/index.ts';
import type { AccountingRecord } from '../../schemas/record.ts';
import { API_PATH } from '../../schemas/service-forms.ts';
import { jsonResponse, type ServiceRequest, type ServiceResponse } from '../message.ts';
import type { ResolvedSandboxOptions } from '../options.ts';
import { ProblemError } from './problem.ts';

const JSON_TYPE = 'application/json';
const JSON_LD = 'application/ld+json';

/** How a response writes its records. */
export type Format = typeof JSON_TYPE | typeof JSON_LD;

/** The format of the response; 406 if `Accept` does not allow it. */
export function negotiate({ headers }: ServiceRequest, { formats }: ResolvedSandboxOptions): Format {
  if (formats === 'json') return JSON_TYPE;
  const { accept = '*/*' } = headers;
  if (accept.includes(JSON_LD) || /(?:application|\*)\/\*/.test(accept)) return JSON_LD;
  throw new ProblemError('not_acceptable', `Accept must allow ${JSON_LD}.`);
}

/** Fields of the generated records that name a record of another collection. */
const RELATIONS: Readonly<Record<string, CollectionName>> = {
  accountId: 'accounts',
  accountContactRelationId: 'accountContactRelations',
  bankFeedConnectionId: 'bankFeedConnections',
  bomId: 'boms',
  budgetId: 'budgets',
  productId: 'products',
};

/** The IRI of a record, as API Platform names it. */
function iriOf(collection: CollectionName, id: string): string {
  return `${API_PATH}/${collections[collection].segment}/${encodeURIComponent(id)}`;
}

/** `AccountAddress` of `accountAddresses`. */
function typeName(collection: CollectionName): string {
  const singular = collection.replace(/ies$/, 'y').replace(/(?<=ss)es$|(?<!s)s$/, '');
  return singular.charAt(0).toUpperCase() + singular.slice(1);
}

function withoutNulls(record: AccountingRecord): AccountingRecord {
  const fields = Object.entries(record).filter(([, value]) => value !== null);
  return Object.fromEntries(fields) as AccountingRecord;
}

function withIris(record: AccountingRecord): AccountingRecord {
  const linked: AccountingRecord = { ...record };
  for (const [field, collection] of Object.entries(RELATIONS)) {
    const id = record[field];
    // A fixture may hold the IRI that the service sent.
    if (typeof id === 'string' && !id.startsWith('/')) linked[field] = iriOf(collection, id);
  }
  return linked;
}

/** How a response represents records. */
interface Representation {
  readonly collection: CollectionName;
  readonly format: Format;
  readonly options: ResolvedSandboxOptions;
}

/** A record as a response shows it. */
function represent(record: AccountingRecord, { collection, format, options }: Representation): object {
  const sent = options.nullFields === 'omitted' ? withoutNulls(record) : record;
  const linked = options.relations === 'iri' ? withIris(sent) : sent;
  const isNumber = options.ids.numbers && Number.isSafeInteger(Number(record.id));
  const shown = isNumber ? { ...linked, id: Number(record.id) } : linked;
  if (format === JSON_TYPE) return shown;
  return { '@id': iriOf(collection, record.id), '@type': typeName(collection), ...shown };
}

/** A response with one record. */
export function recordResponse(
  status: number,
  record: AccountingRecord,
  how: Representation,
): ServiceResponse {
  const shown = represent(record, how);
  const context = { '@context': `/contexts/${typeName(how.collection)}` };
  return jsonResponse(status, how.format === JSON_TYPE ? shown : { ...context, ...shown }, how.format);
}

/** A response with one page of a list: an array, or a JSON-LD object whose `member` is one. */
export function listResponse(records: readonly AccountingRecord[], how: Representation): ServiceResponse {
  const { collection, format, options } = how;
  const shown = records.map((record) => represent(record, how));
  if (options.listBody === 'array' && format === JSON_TYPE) return jsonResponse(200, shown);

  const member = options.listBody === 'array' ? 'member' : options.listBody;
  const document = {
    '@context': '/contexts/record',
    '@id': `${API_PATH}/${collections[collection].segment}`,
    '@type': member === 'member' ? 'Collection' : 'hydra:Collection',
    [member]: shown,
  };
  return jsonResponse(200, document, JSON_LD);
}
