import { at } from '../checks.ts';
import { type FaultMatch, faultConditions } from '../faults/conditions.ts';
import type { FaultFields } from '../faults/define-fault.ts';
import { checkFault, type Fault, sandboxFaults } from '../faults/fault.ts';
import { closesPort, type FaultRules } from '../faults/fault-rules.ts';
import { ProblemError } from '../service/problem.ts';
import { type ControlCall, type ControlResponse, json, NOTHING } from './call.ts';

/** A rule as JSON: `rule` is what a POST adds again. */
type Rule = FaultRules['all'][number];

const isCondition = (name: string) => Object.hasOwn(faultConditions, name);

/** The rules that requests can meet, and the last ones that have ended. */
export function ruleList({ all }: FaultRules): readonly object[] {
  return all.map(ruleJson);
}

function ruleJson({ id, active, hits, fault, match }: Rule) {
  const rule = { ...fault, ...match };
  return { id, active, hits, rule: Object.fromEntries(Object.entries(rule).map(inJson)) };
}

/** A test in the same process can use values that JSON does not have. */
function inJson([name, value]: readonly [string, unknown]): readonly [string, unknown] {
  if (typeof value === 'function') return [name, 'a function'];
  if (value instanceof RegExp) return [name, String(value)];
  return [name, value instanceof Uint8Array ? `${value.byteLength} bytes` : value];
}

/** `GET /faults`: the rules, and what a POST accepts. */
export function listFaults({ core }: ControlCall): ControlResponse {
  const kinds = Object.entries<FaultFields>(sandboxFaults).map(([kind, { required, optional }]) => [
    kind,
    { required: checksJson(required), optional: checksJson(optional) },
  ]);
  // A function cannot be written as JSON.
  const { when: _, ...conditions } = faultConditions;
  return json({
    faults: ruleList(core.faults),
    kinds: Object.fromEntries(kinds),
    conditions: checksJson(conditions),
  });
}

function checksJson(checks: FaultFields['required']): object {
  return Object.fromEntries(
    Object.entries(checks).map(([name, { expected, values }]) => [name, { expected, values }]),
  );
}

/** `POST /faults`: a fault and its match conditions in one object. */
export function addFault(call: ControlCall): ControlResponse {
  const entries = Object.entries(call.body);
  const fault = Object.fromEntries(entries.filter(([name]) => !isCondition(name))) as unknown as Fault;
  const match: FaultMatch = Object.fromEntries(entries.filter(([name]) => isCondition(name)));
  checkFault(fault);
  const { forMs = Infinity } = match;
  if (closesPort(fault, match) && forMs === Infinity) {
    const message = `The fault ${fault.kind} closes the port, for its control too. Pass forMs, after which it opens again.`;
    throw at('forMs', new TypeError(message));
  }
  return json(ruleJson(call.core.faults.add(fault, match)), 201);
}

/** `DELETE /faults/:id`. */
export function removeFault(call: ControlCall): ControlResponse {
  const { id } = call.parameters;
  const rule = call.core.faults.all.find((one) => String(one.id) === id);
  if (rule === undefined) throw new ProblemError('not_found', `There is no fault ${id}.`);
  rule.remove();
  return NOTHING;
}

/** `DELETE /faults`: ends all of them. */
export function removeFaults(call: ControlCall): ControlResponse {
  call.core.faults.clear();
  return NOTHING;
}
