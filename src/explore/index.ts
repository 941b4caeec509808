/**
 * Tools that find out from a live service what its API documentation leaves open: how it behaves, what its records look
 * like, what a key may read.
 *
 * @packageDocumentation
 */

export type { ListBody, ListOrder } from '../schemas/service-forms.ts';
export {
  type DiscoveredCollection,
  type DiscoverOptions,
  type Discovery,
  discover,
} from './discover/discover.ts';
export type { Reference } from './discover/references.ts';
export type { FieldShape, Kind, Shape, Shapes } from './discover/shape.ts';
export type { ExploreClient, ExploreProgress } from './explore-client.ts';
export type { IdForm } from './ids.ts';
export { type ProbeOptions, type ProbePlan, probe } from './probe/probe.ts';
export type {
  CollectionDetails,
  CollectionFindings,
  FilterVerdict,
  Finding,
  IdFilterFindings,
  ProbeReport,
  ProfileLine,
  ServiceProfile,
  TimestampForm,
  UpdatedSinceFindings,
  WriteFindings,
} from './probe/report.ts';
export { type WhoamiOptions, type WhoamiReport, whoami } from './whoami.ts';
