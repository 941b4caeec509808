import type { Check, Checks } from '../checks.ts';
import type { ServiceRequest, ServiceResponse } from '../service/message.ts';
import type { ServiceState } from '../service/state.ts';
import type { DelayedDelivery, Delivery } from './delivery.ts';

/** The fields of a fault: those without a default, and the others. */
export interface FaultFields {
  readonly required?: Checks;
  readonly optional?: Checks;
}

// Mapped types over the keys of a table keep the doc comment of each field in the editor.

/** The values of fields. */
export type FieldValues<Fields extends FaultFields> = (Fields extends { required: infer Required }
  ? { readonly [Name in keyof Required]: Checked<Required[Name]> }
  : unknown) &
  (Fields extends { optional: infer Optional }
    ? { readonly [Name in keyof Optional]?: Checked<Optional[Name]> | undefined }
    : unknown);

type Checked<C> = C extends Check<infer Value> ? Value : never;

/** A request that met a fault. */
export interface FaultedRequest {
  readonly request: ServiceRequest;
  readonly state: ServiceState;
  /** Carries the request out. With `instead`, the service only counts the request, and that is its response. */
  readonly respond: (instead?: ServiceResponse) => ServiceResponse;
}

/** What each fault of a family does to a request. */
export type Effects<Family extends Readonly<Record<string, FaultFields>>> = {
  readonly [Kind in keyof Family]: (
    fault: FieldValues<Family[Kind]>,
    request: FaultedRequest,
  ) => Delivery | DelayedDelivery;
};
