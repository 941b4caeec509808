/**
 * Tools that ask the live service what its contract does not show: how it answers, and what its records look like.
 *
 * @packageDocumentation
 */

export type { ListBody, ListOrder, ProblemTypeForm } from '../schemas/service-forms.ts';
export type { SchemaChange } from './discover/changes.ts';
export {
  type DiscoveredCollection,
  type DiscoverOptions,
  type DiscoverProgress,
  type Discovery,
  discover,
} from './discover/discover.ts';
export type { Reference } from './discover/references.ts';
export type { FieldShape, Kind, Shape, Shapes } from './discover/shape.ts';
export type { IdForm } from './id-form.ts';
export type { BudgetFindings } from './probe/budget.ts';
export type { ClockOffset } from './probe/clock.ts';
export type { Finding } from './probe/finding.ts';
export type { ProbePlan } from './probe/plan.ts';
export { type ProbeOptions, type ProbeProgress, probe } from './probe/probe.ts';
export type { ProblemForm } from './probe/problem-forms.ts';
export type {
  BetweenFindings,
  CollectionDetails,
  CollectionFindings,
  ConfigurationLine,
  FilterVerdict,
  IdFilterFindings,
  InstantForm,
  ProbeReport,
  UpdatedSinceFindings,
} from './probe/report.ts';
export type { WriteFindings } from './probe/write-findings.ts';
export type { ToolsClient } from './tools-client.ts';
