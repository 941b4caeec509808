import { type CollectionName, collections } from '../../collections/index.ts';
import type { AccountingRecord } from '../../schemas/record.ts';
import { API_PATH } from '../../schemas/service-forms.ts';
import { jsonResponse, type ServiceRequest, type ServiceResponse } from '../message.ts';
import type { CollectionOptions, ResolvedSandboxOptions } from '../options.ts';
import { ProblemError } from './problem.ts';

const JSON_TYPE = 'application/json';
const JSON_LD = 'application/ld+json';

/** How a response writes its records. */
export type Format = typeof JSON_TYPE | typeof JSON_LD;

/** The format of the response; 406 if `Accept` does not allow it. */
export function negotiate({ headers }: ServiceRequest, { formats }: ResolvedSandboxOptions): Format {
  if (formats === 'json') return JSON_TYPE;
  const { accept = '*/*' } = headers;
  if (formats === 'both')
    return /application\/(?:ld\+)?json/.exec(accept)?.[0] === JSON_TYPE ? JSON_TYPE : JSON_LD;
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

/** Whether an id is sent as a JSON number. */
function isNumber(id: string, { form, numbers }: CollectionOptions['ids']): boolean {
  return numbers && form === 'numeric' && Number.isSafeInteger(Number(id));
}

function amountsIn(collection: CollectionName): string[] {
  return Object.entries(collections[collection].fields).flatMap(([name, kind]) =>
    kind === 'money' ? [name] : [],
  );
}

function withNumbers(record: AccountingRecord, names: readonly string[]): object {
  const numbers = names.flatMap((name) =>
    typeof record[name] === 'string' ? [[name, Number(record[name])]] : [],
  );
  return { ...record, ...Object.fromEntries(numbers) };
}

/** How a response represents records. */
interface Representation {
  readonly collection: CollectionName;
  readonly format: Format;
  readonly options: CollectionOptions;
}

/** A record as a response shows it. */
function represent(record: AccountingRecord, { collection, format, options }: Representation): object {
  const sent = options.nullFields === 'omitted' ? withoutNulls(record) : record;
  const linked = options.relations === 'iri' ? withIris(sent) : sent;
  const numbers = [
    ...(isNumber(record.id, options.ids) ? ['id'] : []),
    ...(options.moneyAsNumbers ? amountsIn(collection) : []),
  ];
  const shown = numbers.length > 0 ? withNumbers(linked, numbers) : linked;
  if (format === JSON_TYPE) return shown;
  return { '@id': iriOf(collection, record.id), '@type': typeName(collection), ...shown };
}

export function recordResponse(
  status: number,
  record: AccountingRecord,
  how: Representation,
): ServiceResponse {
  const shown = represent(record, how);
  const context = { '@context': `/contexts/${typeName(how.collection)}` };
  return jsonResponse(status, how.format === JSON_TYPE ? shown : { ...context, ...shown }, how.format);
}

/** The addresses of a page and of others in its list. */
export interface PageLinks {
  readonly self: string;
  readonly first: string;
  readonly next: string | undefined;
  readonly previous: string | undefined;
}

/** What a response says of the list. */
interface Rest {
  readonly links: PageLinks | undefined;
  /** Whether the response is the whole list. */
  readonly isWhole: boolean;
}

/** A response with one page of a list, or with all of it: an array, or a JSON-LD object whose `member` is one. */
export function listResponse(
  records: readonly AccountingRecord[],
  how: Representation,
  rest: Rest,
): ServiceResponse {
  const { format, options } = how;
  const shown = records.map((record) => represent(record, how));
  const isArray = options.listBody === 'array' && format === JSON_TYPE && options.cursor !== 'body';
  const response = isArray
    ? jsonResponse(200, shown)
    : jsonResponse(200, documentOf(shown, how, rest), JSON_LD);
  const hasHeader = options.cursor === 'header' || options.linkHeader;
  if (!hasHeader || rest.links === undefined) return response;
  const { first, next } = rest.links;
  const link = [...(next === undefined ? [] : [`<${next}>; rel="next"`]), `<${first}>; rel="first"`];
  return { ...response, headers: { ...response.headers, Link: link.join(', ') } };
}

/** A list in JSON-LD. Like API Platform without a count, `view` has no last page. */
function documentOf(
  shown: readonly object[],
  { collection, options: { listBody, cursor } }: Representation,
  { links, isWhole }: Rest,
): object {
  const isHydra = listBody === 'hydra:member';
  const named = (name: string) => (isHydra ? `hydra:${name}` : name);
  const { self, first, next, previous } = links ?? {};
  // With a cursor in the header, the body says nothing of other pages.
  const view = !isWhole &&
    links !== undefined &&
    cursor !== 'header' && {
      [named('view')]: {
        '@id': self,
        '@type': named('PartialCollectionView'),
        [named('first')]: first,
        [named('previous')]: previous,
        [named('next')]: next,
      },
    };
  return {
    '@context': '/contexts/record',
    '@id': `${API_PATH}/${collections[collection].segment}`,
    '@type': named('Collection'),
    ...(isWhole && { [named('totalItems')]: shown.length }),
    [named('member')]: shown,
    ...view,
  };
}
