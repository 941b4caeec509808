// The options of a push, and the only place where a default is applied.

import {
  checkCallbacks,
  checkFiniteMs,
  checkFlag,
  checkFunction,
  checkMethods,
  checkNumber,
  checkObject,
  checkOneOf,
  checkOptionNames,
  checkWhole,
} from '../errors/check-input.ts';
import { InvalidInputError } from '../errors/invalid-input-error.ts';
import type { PushReport } from '../errors/push-report.ts';
import type { OptionNames } from '../internal/option-names.ts';
import type { ListOptions } from '../pagination/list-options.ts';
import type { Paginator } from '../pagination/paginator.ts';
import { checkTimeZone } from '../reading/bound.ts';
import { isIterable } from '../reading/each.ts';
import {
  READ_OPTIONS,
  type ReadOptions,
  type ReadSettings,
  resolveReadOptions,
} from '../reading/list-options.ts';
import {
  type Read,
  type RunSource,
  runSource,
  type SourceQuery,
  type WriteSource,
} from '../reading/source.ts';
import { stateKey } from '../reading/state.ts';
import type { Store } from '../reading/store.ts';
import { checkStart } from '../reading/watermark.ts';
import type { FilledByService } from '../schemas/record.ts';
import { type CallSettings, callSettings, type RequestOptions } from '../transport/call-options.ts';
import type { PushProgress, PushResult } from './results.ts';

/** What a push needs of a collection: `client.products`. */
export interface PushTarget<T extends { id: string }, Draft extends object, Patch extends object> {
  /** Where the service is. */
  readonly baseUrl: string;
  /** The existing products. */
  list(query: SourceQuery, options: ListOptions): Paginator<T>;
  /** One product, or `undefined` if it does not exist. */
  find(id: string, options: RequestOptions): Promise<T | undefined>;
  /** Creates a product. */
  create(draft: Draft, options: RequestOptions & { idempotencyKey?: string | undefined }): Promise<T>;
  /** Changes the fields of the patch. */
  update(id: string, patch: Patch, options: RequestOptions): Promise<T>;
  /** Deletes a product. */
  delete(id: string, options: RequestOptions): Promise<void>;
}

/** A local copy of the products, as a sync keeps it. */
export interface ExistingProducts<T> {
  /**
   * Every product of the copy, with all its fields and the values that the service sent; or a function that returns
   * them. Read once, and closed if the push stops. A copy that is empty although the service has products is rejected.
   */
  products: Iterable<T> | AsyncIterable<T> | (() => Iterable<T> | AsyncIterable<T>);
  /** The watermark of the copy: what changed since then is read from the service. */
  asOf: string | Date;
}

/** The names of the fields that hold a string. */
export type TextFieldOf<Draft> = {
  [Name in keyof Draft]-?: NonNullable<Draft[Name]> extends infer Value
    ? [Value] extends [never]
      ? never
      : Value extends FilledByService
        ? never
        : Value extends string
          ? Name
          : never
    : never;
}[keyof Draft] &
  string;

/** Options of {@link push}. */
export interface PushOptions<T, Draft, Patch> extends ReadOptions {
  /**
   * Names the company: letters, digits and `_.-`, never its API key. Part of the keys in the store: two companies with
   * one label would share ids, and one could overwrite products of the other.
   */
  tenant: string;
  /** The products as they should be. Read to the end before anything is written, and closed if the push stops. */
  // With an array of its own, the compiler names the wrong field of a row.
  rows: Draft[] | Iterable<Draft> | AsyncIterable<Draft>;
  /**
   * The natural key: the name of a text field such as `'productNumber'`, or a function of a row, which is also called with
   * each existing product as the service sent it. A row without a key fails; a product without one is left alone.
   */
  key: TextFieldOf<Draft> | ((row: Draft) => string | null | undefined);
  /**
   * Names the key in the store, so that two pushes of a tenant by different keys do not mix their ids. Default: the name
   * of the field; of a function `'key'`.
   */
  keyName?: string | undefined;
  /**
   * A local copy to compare with, instead of reading every product. A product that was deleted after `asOf` counts as
   * unchanged until the copy no longer has it. Default: every product is read with keyset pagination.
   */
  existing?: ExistingProducts<T> | undefined;
  /** How long before `asOf` changes are read again, in ms, for changes that become visible late. Default: 120,000. */
  lookbackMs?: number | undefined;
  /** The time zone of the service, as in a sync: it saves products that a service which ignores offsets lists again. */
  serviceTimeZone?: string | undefined;
  /**
   * Remembers creates with an unknown outcome, and the id of each key, so that the next push creates nothing twice and
   * finds a product whose key was changed upstream. At most 17 entries for each tenant and key name; `fileStore`, a `Map`
   * and every other store of a sync are accepted. A `Map` forgets everything with the process: after a crash, the next
   * push can then create a product twice.
   */
  store: Store;
  /**
   * How long the service takes to carry out a create and to show its product, in ms: the wait between the rounds of a
   * push, and before the first read if an earlier push left a create with an unknown outcome. If products can take longer,
   * raise it: a restart could create them twice. Default: `timeoutMs`, or 30,000 if that is unlimited.
   */
  visibleAfterMs?: number | undefined;
  /** The first part of the keys in the store. Default: `accounting-data-sdk`. */
  prefix?: string | undefined;
  /**
   * What to do with a product whose key no row has: `'keep'` it, `'delete'` it, or update it with the patch that a
   * function returns, such as `() => ({ isInactive: true })`; `undefined` keeps the product. Nothing counts as missing
   * if a row has no key. Default: `'keep'`.
   */
  missing?: 'keep' | 'delete' | ((product: T) => Patch | undefined) | undefined;
  /**
   * The most products to delete or change because they are missing: with more, nothing is written and the push rejects
   * with a ReconcileAbortedError, as it does if no product has a row. `Infinity` lifts both limits. Default: 50, or a
   * tenth of the products that have a key if that is more.
   */
  maxCandidates?: number | undefined;
  /**
   * Rows without a product, if the list repeats products even when it is read a second time: such a list also misses
   * some. `'fail'` fails these rows, `'create'` creates their products. Default: `'fail'`.
   */
  incompleteList?: 'fail' | 'create' | undefined;
  /**
   * Accepts an API key whose company cannot be told from what the store remembers. With a key that the store does not
   * know, up to five remembered products are requested by their ids: one that still has its natural key shows that the
   * company is the same. If none has, the push rejects with `invalid_input`. Pass `true` once for a new key of the same
   * company. Default: false.
   */
  sameCompany?: boolean | undefined;
  /** Reports what would be written, and writes nothing. Default: false. */
  dryRun?: boolean | undefined;
  /**
   * Asks whether to write what was planned: `false` ends the push as `dryRun` does. If it takes more than 5 s, the
   * products are read again and the plan is made again, because others may have written meanwhile.
   */
  confirm?: ((counts: PushReport['counts']) => boolean | Promise<boolean>) | undefined;
  /** Writes in flight. Default: 4. */
  concurrency?: number | undefined;
  /** Stops the push: writes in flight are aborted. Rejects with the signal's own reason. */
  signal?: AbortSignal | undefined;
  /**
   * Called once for each row, and for each missing product that was changed or deleted. Results are not kept. What it
   * throws is written to the logger of the client and does not stop the push.
   */
  onResult?: ((result: PushResult<Draft>) => void) | undefined;
  /** Called after each page and each write, and before each wait. Errors: as with `onResult`. */
  onProgress?: ((progress: PushProgress) => void) | undefined;
}

export const PUSH_OPTIONS: OptionNames<PushOptions<unknown, unknown, unknown>> = {
  ...READ_OPTIONS,
  tenant: true,
  rows: true,
  key: true,
  keyName: true,
  existing: { products: true, asOf: true },
  lookbackMs: true,
  serviceTimeZone: true,
  store: true,
  visibleAfterMs: true,
  prefix: true,
  missing: true,
  maxCandidates: true,
  incompleteList: true,
  sameCompany: true,
  dryRun: true,
  confirm: true,
  concurrency: true,
  signal: true,
  onResult: true,
  onProgress: true,
};

/** A product with any schema. */
export interface AnyProduct {
  readonly id: string;
  readonly [field: string]: unknown;
}

/** Products with any schema: the types of the caller matter only outside. */
export type AnyTarget = PushTarget<AnyProduct, object, object>;

/** The options of a push: `call` for one request, `list` for the read. */
export interface ResolvedPushOptions {
  readonly tenant: string;
  readonly rows: Iterable<object> | AsyncIterable<object>;
  readonly key: (row: object) => string | null | undefined;
  /** The natural key of an existing product. */
  readonly keyOf: (product: Read<AnyProduct>) => string | null | undefined;
  readonly keyName: string;
  readonly existing:
    | { readonly products: () => Iterable<AnyProduct> | AsyncIterable<AnyProduct>; readonly asOf: string }
    | undefined;
  readonly lookbackMs: number;
  readonly serviceTimeZone: string | undefined;
  readonly store: Store;
  readonly visibleAfterMs: number;
  /** The first part of every key in the store; together with the base URL it names the push. */
  readonly storeKey: string;
  readonly missing: 'keep' | 'delete' | ((product: AnyProduct) => object | undefined);
  readonly maxCandidates: number | undefined;
  readonly maxOutageMs: number;
  readonly incompleteList: 'fail' | 'create';
  readonly sameCompany: boolean;
  readonly dryRun: boolean;
  readonly confirm: (counts: PushReport['counts']) => boolean | Promise<boolean>;
  readonly concurrency: number;
  readonly signal: AbortSignal | undefined;
  readonly onResult: ((result: PushResult) => void) | undefined;
  readonly onProgress: ((progress: PushProgress) => void) | undefined;
  readonly list: ReadSettings;
  readonly call: RequestOptions;
  /** The options of a call over the defaults of the client. */
  readonly settings: CallSettings;
  readonly facts: Pick<WriteSource<AnyProduct>, 'body'> & Pick<RunSource<AnyProduct>, 'fields'>;
}

/** Checks the options of a push and applies every default. */
export function resolvePushOptions(
  products: AnyTarget,
  options: PushOptions<AnyProduct, object, object>,
): ResolvedPushOptions {
  checkObject(options, 'options');
  checkOptionNames(options, PUSH_OPTIONS, { of: 'push' });
  const { rows, key, existing, store, missing = 'keep', maxCandidates, lookbackMs = 120_000 } = options;
  const {
    sameCompany = false,
    dryRun = false,
    confirm = () => true,
    incompleteList = 'fail',
    concurrency = 4,
    signal,
    timeoutMs,
    retry,
    headers,
  } = options;
  const { fields, writes } = runSource(Object(products) as AnyTarget);
  if (writes === undefined) throw new InvalidInputError('products', 'must be client.products of a client');
  if (!isIterable(rows))
    throw new InvalidInputError('rows', 'must be an Iterable or an AsyncIterable of drafts');
  const keys = keyFunctions(key, fields);
  const { keyName = typeof key === 'string' ? key : 'key', prefix = 'accounting-data-sdk' } = options;
  if (typeof keyName !== 'string' || !/^[A-Za-z0-9_-]{1,100}$/.test(keyName)) {
    throw new InvalidInputError('keyName', 'must be 1 to 100 letters, digits, "_" and "-"');
  }
  if (existing !== undefined) checkObject(existing, 'existing');
  const copy = existing?.products;
  if (existing !== undefined && typeof copy !== 'function' && !isIterable(copy)) {
    throw new InvalidInputError(
      'existing.products',
      'must be an Iterable or an AsyncIterable of products, or a function that returns one',
    );
  }
  checkOneOf(incompleteList, 'incompleteList', ['fail', 'create']);
  checkFunction(confirm, 'confirm');
  checkCallbacks(options, ['onResult', 'onProgress']);
  checkMethods(store, 'store', ['get', 'set']);
  if (missing !== 'keep' && missing !== 'delete' && typeof missing !== 'function') {
    throw new InvalidInputError('missing', "must be 'keep', 'delete' or a function that returns a patch");
  }
  if (maxCandidates !== undefined) checkNumber(maxCandidates, 'maxCandidates', 0);
  checkFiniteMs(lookbackMs, 'lookbackMs');
  checkTimeZone(options.serviceTimeZone);
  checkFlag(sameCompany, 'sameCompany');
  checkFlag(dryRun, 'dryRun');
  checkWhole(concurrency, 'concurrency', 1);
  const list = resolveReadOptions(options);
  const { deadlineMs, maxWaitMs, maxOutageMs = 0 } = list;
  const settings = callSettings(writes.settings, { timeoutMs, retry });
  const { visibleAfterMs = Number.isFinite(settings.timeoutMs) ? settings.timeoutMs : 30_000 } = options;
  checkFiniteMs(visibleAfterMs, 'visibleAfterMs');
  return {
    tenant: options.tenant,
    rows,
    ...keys,
    keyName,
    existing: existing && {
      products:
        typeof existing.products === 'function'
          ? existing.products
          : () => existing.products as Iterable<AnyProduct>,
      asOf: checkStart(existing.asOf, 'existing.asOf'),
    },
    lookbackMs,
    serviceTimeZone: options.serviceTimeZone,
    store,
    visibleAfterMs,
    storeKey: stateKey({ prefix, tenant: options.tenant, collection: 'products-push' }),
    missing,
    maxCandidates,
    maxOutageMs,
    incompleteList,
    sameCompany,
    dryRun,
    confirm,
    concurrency,
    signal,
    onResult: options.onResult,
    onProgress: options.onProgress,
    list,
    call: { timeoutMs, deadlineMs, maxWaitMs, retry, headers, signal },
    settings,
    facts: { fields, body: writes.body },
  };
}

function keyFunctions(
  key: PushOptions<AnyProduct, object, object>['key'],
  fields: RunSource<AnyProduct>['fields'],
): Pick<ResolvedPushOptions, 'key' | 'keyOf'> {
  if (
    typeof key !== 'function' &&
    (typeof key !== 'string' || key === '' || (fields[key] ?? 'string') !== 'string')
  ) {
    throw new InvalidInputError('key', 'must be a function, or the name of a text field of a product');
  }
  const ofRow =
    typeof key === 'function'
      ? key
      : (row: object) => (row as Readonly<Record<string, string | null | undefined>>)[key];
  // Of a product as it was sent: a schema of the caller may have changed or stripped the field.
  return { key: ofRow, keyOf: ({ row }) => ofRow(row as object) };
}
