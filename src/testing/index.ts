/**
 * The sandbox: a faithful service in memory for the tests of a connector.
 *
 * @packageDocumentation
 */

export type { CollectionName } from '../collections/index.ts';
export type { ListOrder } from '../schemas/service-forms.ts';
export type { SandboxFetch } from './adapters/fetch.ts';
export type { Listening, ListenOptions } from './adapters/server.ts';
export type { ClockOption, SandboxClock, TimeSource, Timestamp } from './clock.ts';
export type { ProductRow } from './connector/case.ts';
export type { ConnectorTest, ConnectorTestsOptions, ConnectorWrites } from './connector/connector-tests.ts';
export { connectorTests } from './connector/connector-tests.ts';
export type { ConnectorRun } from './connector/run-connector.ts';
export type { WritingRun } from './connector/write.ts';
export type { ErrorBody } from './error-body.ts';
export type { FaultMatch } from './faults/conditions.ts';
export { faultConditions } from './faults/conditions.ts';
export type { Fault, FaultKind } from './faults/fault.ts';
export { sandboxFaults } from './faults/fault.ts';
export type { FaultRule, Faults } from './faults/fault-rules.ts';
export type { FaultyFetchOptions, FaultyFetchRule } from './faulty-fetch.ts';
export { faultyFetch } from './faulty-fetch.ts';
export type { Fixtures, RecordInput, RecordOf } from './fixtures.ts';
export type { KeyGrant, SandboxKeys } from './keys.ts';
export type { LoggedRequest } from './log.ts';
export type { ServiceRequest } from './message.ts';
export type {
  ProblemType,
  RecordCounts,
  RecordSelection,
  SandboxOptions,
} from './options.ts';
export { sandboxOptions } from './options.ts';
export type { Sandbox, SandboxClientOptions } from './sandbox.ts';
export { createSandbox } from './sandbox.ts';
export type { Commit } from './service/state.ts';
export type { CompanyName } from './store/company.ts';
export type {
  CollectionStore,
  SandboxStore,
  StoreWriteOptions,
} from './store/sandbox-store.ts';
