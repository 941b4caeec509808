// The options of a push, and the only place where a default is applied.

import { InvalidInputError } from '../errors/invalid-input-error.ts';
import { resolved } from '../input/checks.ts';
import {
  is,
  type OptionInputs,
  option,
  optional,
  type ResolvedOptions,
  required,
  type TableOf,
} from '../internal/options.ts';
import { isIterable } from '../reading/each.ts';
import {
  OF_CLIENT,
  type ReadOptions,
  type ReadSettings,
  readOptions,
  readSettings,
} from '../reading/list-options.ts';
import {
  isCollection,
  type RecordRow,
  type RunSource,
  runSource,
  type SyncSource,
  type WriteSource,
} from '../reading/source.ts';
import { keyPrefix, label, stateKey } from '../reading/state.ts';
import type { Store } from '../reading/store.ts';
import type { PushReport } from '../reports/push-report.ts';
import type { BodyOf, FilledByService } from '../schemas/record.ts';
import {
  type CallSettings,
  callSettings,
  type RequestOptions,
  type RunCallOptions,
} from '../transport/call-options.ts';
import { ownValue } from './draft.ts';
import type { PushProgress, PushResult } from './results.ts';

/** The collection of a push: `client.products`. */
export interface PushTarget<T extends { id: string }, Draft extends object, Patch extends object>
  extends SyncSource<T> {
  /** Creates a product. */
  create(draft: Draft, options: RequestOptions): Promise<T>;
  /** Changes the fields of the patch. */
  update(id: string, patch: Patch, options: RequestOptions): Promise<T>;
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

/** A product with any schema. */
export interface AnyProduct {
  readonly id: string;
  readonly [field: string]: unknown;
}

const ownOptions = {
  /**
   * Names the company: letters, digits and `_.-`, never its API key. Part of the keys in the store: two companies with
   * one label would share ids, and one could overwrite products of the other.
   */
  tenant: required(label),
  /**
   * Names the key in the store, so that two pushes of a tenant by different keys do not mix their ids. Default: the name
   * of the field; of a function `'key'`.
   */
  keyName: optional(
    is.check<string>(
      '1 to 100 letters, digits, "_" and "-"',
      (name) => is.string.allows(name) && /^[A-Za-z0-9_-]{1,100}$/.test(name),
    ),
  ),
  /**
   * Remembers creates with an unknown outcome, and the product of each key, so that the next push creates nothing twice and
   * finds a product whose key was changed upstream. At most 17 entries for each tenant and key name, and two that mark
   * the run; `fileStore`, a `Map` and every other store of a sync are accepted. A call should take less than 0.8 s. A
   * `Map` forgets everything with the process: after a crash, the next push can then create a product twice.
   */
  store: required(is.withMethods<Store>('get', 'set')),
  /**
   * How long the service takes to process a create or an update and to show it, in ms: the wait between the rounds of a
   * push, and before the first read if an earlier push left a create with an unknown outcome. If products can take longer,
   * raise it: a restart could create them twice. Default: `timeoutMs`, or 30,000 if that is unlimited.
   */
  visibleAfterMs: optional(is.finiteDuration),
  /** The first part of the keys in the store. Default: `accounting-data-sdk`. */
  prefix: option(keyPrefix, 'accounting-data-sdk'),
  /**
   * Rows without a product, if the list lacks products: it repeats some even when it is read a second time, so that it also
   * misses some, or it does not show one that exists. `'fail'` fails these rows, `'create'` creates their products.
   * Default: `'fail'`.
   */
  incompleteList: option(is.oneOf('fail', 'create'), 'fail'),
  /**
   * Accepts an API key even if the products that the store remembers do not prove that it belongs to the same company.
   * With a key that is new to the store, up to five known records are requested: at least one must exist, and all that exist
   * must have the same `createdAt`. Otherwise the push rejects with `invalid_input`. Pass `true` once for a new key of the
   * same company. Default: false.
   */
  sameCompany: option(is.flag, false),
  /**
   * Fields of a row that are neither documented nor named by a schema of yours: `'send'` them, with one warning for each
   * name, or `'reject'` the row, because the field may be misspelt. Default: `'send'`.
   */
  unknownFields: option(is.oneOf('send', 'reject'), 'send'),
  /** Reports what would be written, with the values in `changes` of each result, and writes nothing. Default: false. */
  dryRun: option(is.flag, false),
  /**
   * Asks whether to write what was planned: `false` ends the push as `dryRun` does. If it takes more than 5 s, the
   * products are read again and the plan is made again, because others may have written meanwhile.
   */
  confirm: option(is.callback<(counts: PushReport['counts']) => boolean | Promise<boolean>>(), () => true),
  /** Writes in flight. Default: 4. */
  concurrency: option(is.integerFrom(1), 4),
  /** Stops the push: writes in flight are aborted. Rejects with the signal's own reason. */
  signal: optional(is.signal),
  /** Called after each page and each write, and before each wait. Errors: as with `onResult`. */
  onProgress: optional(is.callback<(progress: PushProgress) => void>()),
};

declare const noField: unique symbol;

/** No value has this type. Its name says why a row must leave a field out. */
export interface NoFieldOfTheCollection {
  readonly [noField]: true;
}

type NamesIn<Row> = Row extends unknown ? keyof Row : never;

/** Rejects a row whose type has more members than the draft. */
export type OnlyFieldsOf<Draft, Row> = {
  readonly [Name in Exclude<NamesIn<Row>, keyof Draft>]?: NoFieldOfTheCollection;
};

type WithoutUndefined<Body> = { [Name in keyof Body]: Exclude<Body[Name], undefined> };

/** A product as the service sent it, before a schema of yours changed it: the fields of a draft, and its id. */
export type SentProduct<Draft> = WithoutUndefined<BodyOf<Draft, never>> & { readonly id: string };

/** Options of {@link push}. */
export interface PushOptions<Draft extends object, Row extends Draft = Draft>
  extends ReadOptions,
    OptionInputs<typeof ownOptions> {
  /** The products as they should be. Read to the end before anything is written, and closed if the push stops. */
  // With an array of its own, the compiler names the wrong field of a row.
  rows:
    | (Row & OnlyFieldsOf<Draft, Row>)[]
    | Iterable<Row & OnlyFieldsOf<Draft, Row>>
    | AsyncIterable<Row & OnlyFieldsOf<Draft, Row>>;
  /**
   * The natural key: the name of a text field such as `'productNumber'`, or a function that returns the key of a row as you
   * passed it, or of an existing product as the service sent it. A row finds the product with exactly its key; if there is
   * none, the only product whose key differs just in white space, invisible characters, Unicode form (NFC) or case. A row
   * without a key fails; a product without one is left alone.
   */
  key: TextFieldOf<Draft> | ((record: Draft | SentProduct<Draft>) => string | null | undefined);
  /**
   * Called once for each row. Results are not kept. What it throws is written to the logger of the client and does not
   * stop the push.
   */
  onResult?: ((result: PushResult<Row>) => void) | undefined;
}

export const pushOptions = {
  ...readOptions,
  ...ownOptions,
  rows: required(
    is.check<Iterable<object> | AsyncIterable<object>>(
      'an Iterable or an AsyncIterable of drafts',
      isIterable,
    ),
  ),
  key: required(
    is.check<string | ((row: object) => string | null | undefined)>(
      'a function, or the name of a text field of a product',
      (key) => typeof key === 'function' || (is.string.allows(key) && key !== ''),
    ),
  ),
  onResult: optional(is.callback<(result: PushResult) => void>()),
} satisfies TableOf<PushOptions<object>>;

/** The options of a push with every default applied: `call` for one request, `list` for the read. */
export interface ResolvedPushOptions extends Omit<ResolvedOptions<typeof pushOptions>, 'key'> {
  readonly key: (row: object) => string | null | undefined;
  /** The natural key of an existing product. */
  readonly keyOf: (product: RecordRow<AnyProduct>) => string | null | undefined;
  /** The field that is the key; undefined if a function returns it. */
  readonly keyField: string | undefined;
  readonly keyName: string;
  readonly visibleAfterMs: number;
  /** The first part of every key in the store; together with the base URL it names the push. */
  readonly storeKey: string;
  readonly list: ReadSettings;
  readonly call: RunCallOptions;
  /** The options of a call over the defaults of the client. */
  readonly settings: CallSettings;
  readonly source: RunSource<AnyProduct>;
  readonly writes: WriteSource<AnyProduct>['lenient'];
  /** The JSON text of a row, which errors call `name`. */
  readonly bodyOf: (row: object, name: string) => string;
}

/** Checks the options of a push and applies every default. */
export function resolvePushOptions(
  products: SyncSource<AnyProduct>,
  options: PushOptions<object>,
): ResolvedPushOptions {
  const source = isCollection(products) ? runSource(products as SyncSource<AnyProduct>) : undefined;
  const writes = source?.writes;
  if (source === undefined || writes === undefined)
    throw new InvalidInputError('products', 'must be client.products of a client');
  const own = resolved(pushOptions, options, { of: 'push', elsewhere: OF_CLIENT });
  const { key, prefix, tenant, signal, timeoutMs, deadlineMs, maxWaitMs, retry, headers } = own;
  const { keyName = typeof key === 'string' ? key : 'key' } = own;
  const rules = { unknownFields: own.unknownFields, warned: new Set<string>() };
  const settings = callSettings(writes.settings, { timeoutMs, retry });
  const { visibleAfterMs = Number.isFinite(settings.timeoutMs) ? settings.timeoutMs : 30_000 } = own;
  return {
    ...own,
    ...keyFunctions(key, source.fields),
    keyField: typeof key === 'string' ? key : undefined,
    keyName,
    visibleAfterMs,
    storeKey: stateKey({ prefix, tenant, collection: 'products-push' }),
    list: readSettings(own),
    call: { timeoutMs, deadlineMs, maxWaitMs, retry, headers, signal },
    settings,
    source,
    writes: writes.lenient,
    bodyOf: (row, name) => writes.body(row, name, rules),
  };
}

function keyFunctions(
  key: ResolvedOptions<typeof pushOptions>['key'],
  fields: RunSource<AnyProduct>['fields'],
): Pick<ResolvedPushOptions, 'key' | 'keyOf'> {
  if (typeof key === 'string' && (ownValue(fields, key) ?? 'string') !== 'string') {
    throw new InvalidInputError('key', 'must be a function, or the name of a text field of a product');
  }
  const ofRow =
    typeof key === 'function'
      ? key
      : (row: object) => (row as Readonly<Record<string, string | null | undefined>>)[key];
  // Of a product as it was sent: a schema of the caller may have changed or stripped the field.
  return { key: ofRow, keyOf: ({ row }) => ofRow(row as object) };
}
