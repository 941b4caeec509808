// The client and what its methods take and give.
export { type Client, type ClientMethods, type CollectionOf, createClient, type Ping, type RecordOf } from './client.ts';
export type { AppInfo, ApiKey, ClientDefaults, ClientOptions, ContentTypeOptions, FetchFunction, RequestOptions, Schemas, Validation } from './options.ts';
export type { CallOptions, ResponseMeta, RetryOptions } from './transport/call-options.ts';
export { idFromIri } from './collections/iri.ts';
export type { CreateOptions, ReadOnlyCollection, WritableCollection } from './collections/collection.ts';
export type { AnyRequest } from './collections/any-request.ts';
export { type CollectionName, collectionNames } from './collections/index.ts';
export { idempotencyKeyFor, newIdempotencyKey } from './transport/idempotency-key.ts';

// Walks.
export type { ListQuery } from './collections/list-query.ts';
export type { ListOptions, PaginationOptions } from './collections/list-options.ts';
export type { IdBounds, ListHint, PageResponse, PageQuery } from './pagination/page.ts';
export type { CustomCursor } from './pagination/by-cursor.ts';
export type { ResponseTime, Page, PaginationKind } from './pagination/page.ts';
export type { Paginator } from './pagination/paginator.ts';

// Sync.
export { changes, type ChangesOptions } from './sync/changes.ts';
export { sync } from './sync/sync.ts';
export type { BatchOf, CollectionsIn, SyncOptions } from './sync/sync-types.ts';
export { reconcile } from './sync/reconcile.ts';
export type { ReconcileOptions, ReconcileProgress, ReconcileSource } from './sync/reconcile-options.ts';
export { type CompleteStore, memoryStore, type Store } from './sync/store.ts';
export type { Batch } from './sync/batch.ts';
export type { RunOptions, PaginationDefaults } from './sync/options.ts';
export type { SyncProgress } from './sync/progress.ts';
export type { SyncSource } from './sync/source.ts';
export type { CollectionReport, SyncReport } from './errors/sync-report.ts';
export type { ReconcileReport } from './errors/reconcile-report.ts';

// Push.
export { type DraftIn, type PatchIn, push } from './push/push.ts';
export type { ExistingProducts, PushOptions, PushTarget } from './push/options.ts';
export type { PushProgress, PushResult } from './push/results.ts';
export type { PushAction, PushReport } from './errors/push-report.ts';

// Records.
export type { AccountAddress } from './collections/account-addresses.ts';
export type { AccountContactRelation } from './collections/account-contact-relations.ts';
export type { AccountContactShoppingStore } from './collections/account-contact-shopping-stores.ts';
export type { AccountCustomerProjectRate } from './collections/account-customer-project-rates.ts';
export type { AccountSetting } from './collections/account-settings.ts';
export type { Account } from './collections/accounts.ts';
export type { BankFeedAccount } from './collections/bank-feed-accounts.ts';
export type { BankFeedConnection } from './collections/bank-feed-connections.ts';
export type { BankPayerMemory } from './collections/bank-payer-memories.ts';
export type { BomLine } from './collections/bom-lines.ts';
export type { Bom } from './collections/boms.ts';
export type { BudgetLine } from './collections/budget-lines.ts';
export type { Budget } from './collections/budgets.ts';
export type { Product, ProductDraft, ProductFields, ProductPatch } from './collections/products.ts';
export type { AccountingRecord } from './schemas/record.ts';
export type { StandardSchema } from './schemas/standard-schema.ts';

// Money.
export { type Decimal, type MoneyOptions, type Rounding, toDecimal, toMoney } from './money.ts';
export type { Money } from './schemas/money.ts';

// Errors: one class for each code, and guards that narrow to unions.
export * from './errors/all.ts';

// Events.
export type { CallEvent, CheckpointEvent, EndEvent, ErrorEvent, InvalidRecord, Listeners, Logger, RequestEvent, ResponseEvent, RetryEvent, WaitEvent } from './events.ts';
export type { RateLimit } from './schemas/rate-limit.ts';
