/**
 * The client with its reads and writes, `sync` and `push`, money and errors.
 *
 * @packageDocumentation
 */

// The client, its options and its methods.

export {
  type Client,
  type ClientMethods,
  type ClientWith,
  type CollectionOf,
  createClient,
  type Ping,
  type RecordOf,
} from './client.ts';
export { type CollectionName, collectionNames } from './collections/index.ts';
export { idFromIri } from './collections/iri.ts';
export type { RawRequest } from './collections/raw-request.ts';
export type { ReadOnlyCollection } from './collections/reader.ts';
export type { CreateOptions } from './collections/send-one.ts';
export type { WritableCollection } from './collections/writer.ts';
export type {
  ApiKey,
  AppInfo,
  ClientDefaults,
  ClientOptions,
  ContentTypeOptions,
  FetchFunction,
  RequestOptions,
  Schemas,
  ValidationMode,
} from './options.ts';
export type { CallOptions, ResponseMeta, RetryOptions } from './transport/call-options.ts';
export { idempotencyKeyFor, newIdempotencyKey } from './transport/idempotency-key.ts';
export type { BareNotFound } from './transport/received.ts';
export type { Method } from './transport/request.ts';

// Lists.

export type { ListQuery } from './collections/list-query.ts';
export type { CustomCursor } from './pagination/by-cursor.ts';
export type { ListOptions, PaginationOptions } from './pagination/list-options.ts';
export type {
  CursorPage,
  IdBounds,
  Page,
  PageQuery,
  PageResponse,
  PaginationKind,
  ResponseTime,
} from './pagination/page.ts';
export type { Paginator } from './pagination/paginator.ts';

// Sync.

export type { ReadOptions } from './reading/list-options.ts';
export type { SourceQuery, SyncSource } from './reading/source.ts';
export { type CompleteStore, memoryStore, type Store } from './reading/store.ts';
export {
  type Completeness,
  type Evidence,
  type EvidenceFact,
  evidenceFacts,
  type FactMeaning,
} from './reports/evidence.ts';
export type {
  CollectionReport,
  CopyFigures,
  DeletionReport,
  SyncReport,
  UnconfirmedDeletion,
} from './reports/sync-report.ts';
export type { Batch, SyncProgress } from './sync/batch.ts';
export { type ChangesOptions, changes } from './sync/changes.ts';
export { type ForgetOptions, forget } from './sync/forget.ts';
export type { StopAfter } from './sync/limit/stop-after.ts';
export { type RefreshOptions, type RefreshReport, refresh } from './sync/refresh.ts';
export type { CheckpointEvent, RunOptions } from './sync/run-options.ts';
export { sync } from './sync/sync.ts';
export type { BatchOf, SyncBaseOptions, SyncOptions, SyncToTargetOptions } from './sync/sync-options.ts';
export type {
  CollectionEnd,
  OpenTarget,
  StoredRow,
  SyncTarget,
  TargetContext,
  Written,
} from './sync/target.ts';
export {
  type CollectionDifferences,
  type VerifyOptions,
  type VerifyReport,
  verify,
} from './sync/verify.ts';

// Push.

export type { PushOptions, PushTarget, SentProduct } from './push/options.ts';
export { push } from './push/push.ts';
export type { PushProgress, PushResult, PushResultMembers } from './push/results.ts';
export type {
  PushAction,
  PushChange,
  PushDifference,
  PushNotStored,
  PushReport,
} from './reports/push-report.ts';

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
export { type FieldKind, type FieldKindFacts, fieldKinds, type JsonType } from './schemas/field-kinds.ts';
export type { ListStatement } from './schemas/list-statement.ts';
export { productFields, productServerFields } from './schemas/product-fields.ts';
export type { AccountingRecord, BodyOf } from './schemas/record.ts';
export type { StandardIssue, StandardSchema } from './schemas/standard-schema.ts';

// Money.

export { type Decimal, type MoneyOptions, type Rounding, toDecimal, toMoney } from './money.ts';
export type { Money } from './schemas/money.ts';

// Errors: one class for each code, and guards that narrow to unions.

export { AccountingError, type CallFacts, type CallOutcome } from './errors/accounting-error.ts';
export { ApiError, ApiErrorFields, type ErrorResponse } from './errors/api-error.ts';
export { CheckpointError } from './errors/checkpoint-error.ts';
export { ConcurrentRunError } from './errors/concurrent-run-error.ts';
export { type ConnectionDetails, ConnectionError } from './errors/connection-error.ts';
export {
  type DeletionCounts,
  DeletionsAbortedError,
  type DeletionsAbortReason,
} from './errors/deletions-aborted-error.ts';
export { FilterIgnoredError } from './errors/filter-ignored-error.ts';
export { ForbiddenError } from './errors/forbidden-error.ts';
export {
  type AccountingErrorCode,
  type AnyAccountingError,
  type AnyApiError,
  type ApiErrorCode,
  isAccountingError,
  isApiError,
} from './errors/guards.ts';
export { IdempotencyKeyRequiredError } from './errors/idempotency-key-required-error.ts';
export { InvalidInputError } from './errors/invalid-input-error.ts';
export { MalformedRequestError } from './errors/malformed-request-error.ts';
export { NotFoundError } from './errors/not-found-error.ts';
export { PushError } from './errors/push-error.ts';
export { RateLimitedError, type UsedUpQuota } from './errors/rate-limited-error.ts';
export { RedirectError } from './errors/redirect-error.ts';
export { ScopeRequiredError } from './errors/scope-required-error.ts';
export { type CollectionFailure, SyncError, type SyncFailure } from './errors/sync-error.ts';
export { TimeoutError } from './errors/timeout-error.ts';
export { UnauthenticatedError } from './errors/unauthenticated-error.ts';
export {
  type UnexpectedDetails,
  type UnexpectedReason,
  UnexpectedResponseError,
} from './errors/unexpected-response-error.ts';
export { UnknownApiError } from './errors/unknown-api-error.ts';
export { ValidationFailedError } from './errors/validation-failed-error.ts';
export type { Problem, Violation } from './schemas/problem.ts';

// Events.

export type {
  CallErrorEvent,
  CallEvent,
  EndEvent,
  InvalidRecord,
  Listeners,
  Logger,
  RequestEvent,
  ResponseEvent,
  RetryEvent,
  RunEnd,
  RunEvent,
  WaitEvent,
} from './events.ts';
export type { RateLimit } from './schemas/rate-limit.ts';
