/**
 * The sandbox: a faithful service in memory that connectors are tested against.
 *
 * @packageDocumentation
 */

export type { CollectionName } from '../collections/index.ts';
export type { SandboxFetch } from './adapters/fetch.ts';
export type { Listening, ListenOptions } from './adapters/server.ts';
export type { ClockOption, Instant, SandboxClock, TimeSource } from './clock.ts';
export type {
  ContentFault,
  DelayFault,
  DeliveryFault,
  Fault,
  FaultKind,
  SilentFault,
} from './faults/fault.ts';
export type { FaultMatch } from './faults/fault-match.ts';
export type { FaultRule, Faults } from './faults/rules.ts';
export type { KeyGrant, SandboxKeys } from './keys.ts';
export type {
  ContentTypeOptions,
  IdempotencyOptions,
  IdOptions,
  ListOrder,
  ProblemType,
  RateLimitOptions,
  RecordCounts,
  SandboxOptions,
} from './options.ts';
export type { LoggedRequest } from './request-log.ts';
export type { Sandbox, SandboxClientOptions } from './sandbox.ts';
export { createSandbox } from './sandbox.ts';
export type { Commit } from './service/journal.ts';
export type { ServiceRequest } from './service/message.ts';
export type { CompanyName } from './store/company.ts';
export type {
  CollectionStore,
  Fixtures,
  RecordInput,
  RecordOf,
  SandboxStore,
  StoreWriteOptions,
} from './store/sandbox-store.ts';
