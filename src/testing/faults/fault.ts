import { suggestion } from '../../internal/option-names.ts';
import { checkValues, is, shown } from '../checks.ts';
import { connectionEffects, connectionFaults } from './connection.ts';
import { contentEffects, contentFaults } from './content.ts';
import type { DelayedDelivery, Delivery } from './delivery.ts';
import type { FaultedRequest, FaultFields, FieldValues } from './family.ts';
import { timingEffects, timingFaults } from './timing.ts';

/** Every kind of fault with its fields. A new fault is one entry in the tables of its family. */
export const sandboxFaults = { ...connectionFaults, ...timingFaults, ...contentFaults };

type Faults = typeof sandboxFaults;

/** The kind of a fault. */
export type FaultKind = keyof Faults;

/** What goes wrong with a request. The guide "Sandbox options" lists every kind with its fields. */
export type Fault = { [Kind in FaultKind]: { readonly kind: Kind } & FieldValues<Faults[Kind]> }[FaultKind];

const effects = { ...connectionEffects, ...timingEffects, ...contentEffects };

/** Has a request meet a fault. */
export function applyFault(fault: Fault, request: FaultedRequest): Delivery | DelayedDelivery {
  // Each effect takes the faults of its own kind, which the compiler cannot follow through the union.
  const effect = effects[fault.kind] as (fault: Fault, request: FaultedRequest) => Delivery | DelayedDelivery;
  return effect(fault, request);
}

/** Throws a TypeError for a fault that does not exist, and for fields that are missing, unknown or invalid. */
export function checkFault(fault: Fault): void {
  const kind = fault?.kind;
  const kinds = Object.keys(sandboxFaults);
  if (!kinds.includes(kind)) {
    throw new TypeError(`There is no fault ${shown(kind)}. ${suggestion(String(kind), kinds)}`);
  }
  const { required = {}, optional = {} }: FaultFields = sandboxFaults[kind];
  const checks = { kind: is.string, ...required, ...optional };
  checkValues(fault, checks, { of: `the fault ${kind}`, path: `${kind}.` });
  const missing = Object.keys(required).find((name) => Reflect.get(fault, name) === undefined);
  if (missing !== undefined) throw new TypeError(`The fault ${kind} has no default for ${missing}. Pass it.`);
}
