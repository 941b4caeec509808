import type { Check } from '../../internal/options.ts';
import type { ServiceRequest, ServiceResponse } from '../message.ts';
import type { ServiceState } from '../service/state.ts';
import type { Delivery } from './delivery.ts';

type Checks = Readonly<Record<string, Check<unknown>>>;

/** The fields of a fault: those without a default, and the others. */
export interface FaultFields<Required extends Checks = Checks, Optional extends Checks = Checks> {
  readonly required: Required;
  readonly optional: Optional;
}

// Mapped types over the keys of a table keep the doc comment of each field in the editor.

/** The values of fields. Not with an empty type for no required ones: a function would then be a value of it. */
export type FieldValues<Required extends Checks, Optional extends Checks> = (keyof Required extends never
  ? unknown
  : { readonly [Name in keyof Required]: Checked<Required[Name]> }) & {
  readonly [Name in keyof Optional]?: Checked<Optional[Name]> | undefined;
};

type Checked<C> = C extends Check<infer Value> ? Value : never;

/** A request that met a fault. */
export interface FaultedRequest {
  readonly request: ServiceRequest;
  readonly state: ServiceState;
  /** Carries the request out. */
  readonly respond: () => ServiceResponse | Promise<ServiceResponse>;
  /** Responds in place of the service, which counts the request and, if `committed`, processes it. */
  readonly respondWith: (
    response: ServiceResponse,
    committed: boolean,
  ) => ServiceResponse | Promise<ServiceResponse>;
  /** Takes the request to the next fault, or else to the service. */
  readonly next: () => Promise<Delivery>;
  /** Waits; rejects if the port is closed meanwhile. */
  readonly wait: (ms: number) => Promise<void>;
}

/** What a fault does to a request that meets it. */
export type FaultEffect<Fault> = (fault: Fault, request: FaultedRequest) => Delivery | Promise<Delivery>;

type None = Record<never, never>;

/** A kind of fault. Its effect is not in the type that users see: `applyFault` alone calls it. */
export function defineFault<Required extends Checks = None, Optional extends Checks = None>(definition: {
  readonly required?: Required;
  readonly optional?: Optional;
  readonly effect: FaultEffect<FieldValues<Required, Optional>>;
}): FaultFields<Required, Optional> {
  return { required: {} as Required, optional: {} as Optional, ...definition };
}
