import { nearest, printable, suggestion } from '../../internal/suggestion.ts';
import { at, checkValues, is, shown } from '../checks.ts';
import { faultConditions } from './conditions.ts';
import { connectionFaults } from './connection.ts';
import { contentFaults } from './content.ts';
import type { FaultEffect, FaultedRequest, FaultFields, FieldValues } from './define-fault.ts';
import { type Delivery, whole } from './delivery.ts';
import { timingFaults } from './timing.ts';

// Not inferred from the value: the declarations of the package would lose the comments of the fields.
type Faults = typeof connectionFaults & typeof timingFaults & typeof contentFaults;

/** Every kind of fault with its fields. */
export const sandboxFaults: Faults = { ...connectionFaults, ...timingFaults, ...contentFaults };

/** The kind of a fault. */
export type FaultKind = keyof Faults;

type FieldsOf<Kind extends FaultKind> =
  Faults[Kind] extends FaultFields<infer Required, infer Optional> ? FieldValues<Required, Optional> : never;

/**
 * What goes wrong with a request. The guide "Sandbox options" lists every kind with its fields.
 *
 * ```ts
 * sandbox.faults.next({ kind: 'lost-response', committed: true });
 * ```
 */
export type Fault = { [Kind in FaultKind]: { readonly kind: Kind } & FieldsOf<Kind> }[FaultKind];

/** Has a request meet some faults, one within the other. */
export async function applyFaults(
  [fault, ...others]: readonly Fault[],
  request: Omit<FaultedRequest, 'next'>,
): Promise<Delivery> {
  if (fault === undefined) return whole(await request.respond());
  const { effect } = sandboxFaults[fault.kind] as FaultFields & { readonly effect: FaultEffect<Fault> };
  return await effect(fault, { ...request, next: () => applyFaults(others, request) });
}

/** Throws a TypeError for a fault that does not exist, and for fields that are missing, unknown or invalid. */
export function checkFault(fault: Fault): void {
  const kind = fault?.kind;
  const kinds = Object.keys(sandboxFaults);
  if (!kinds.includes(kind)) {
    throw at('kind', new TypeError(`There is no fault ${shown(kind)}. ${suggestion(String(kind), kinds)}`));
  }
  const { required, optional }: FaultFields = sandboxFaults[kind];
  const checks = { kind: is.string, ...required, ...optional };
  checkNoCondition(fault, checks);
  checkValues(fault, checks, `the fault ${kind}`, `${kind}.`);
  const missing = Object.keys(required).find((name) => Reflect.get(fault, name) === undefined);
  if (missing === undefined) return;
  throw at(missing, new TypeError(`The fault ${kind} has no default for ${missing}. Pass it.`));
}

/** Throws a TypeError for a field that looks like a condition: JSON has both in one object. */
function checkNoCondition(fault: Fault, fields: object): void {
  const conditions = Object.keys(faultConditions);
  for (const name of Object.keys(fault)) {
    if (Object.hasOwn(fields, name)) continue;
    const meant = nearest(name, [...Object.keys(fields), ...conditions]);
    if (meant === undefined || !conditions.includes(meant)) continue;
    const advice =
      meant === name ? `${name} is a condition.` : `Did you mean ${meant}, which is a condition?`;
    throw at(name, new TypeError(`${printable(name)} is not a field of the fault ${fault.kind}. ${advice}`));
  }
}
