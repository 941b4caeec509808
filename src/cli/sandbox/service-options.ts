import { InvalidArgumentError } from 'commander';
import { checkNames } from '../../testing/checks.ts';
import type { FaultFields } from '../../testing/faults/family.ts';
import { type Fault, sandboxFaults } from '../../testing/faults/fault.ts';
import { type FaultMatch, faultConditions } from '../../testing/faults/fault-rules.ts';
import type { SandboxOptions } from '../../testing/options.ts';
import { createSandbox, type Sandbox } from '../../testing/sandbox.ts';
import { jsonObject } from '../json-object.ts';
import type { Rate } from '../values.ts';

/** What the flags of the command say of the service that it plays. */
export interface ServiceFlags {
  readonly records: number;
  readonly seed: number;
  readonly rate: Rate;
  readonly pageSize: number;
  readonly order: NonNullable<SandboxOptions['order']>;
  /** Options without a flag of their own, which win over those that have one. */
  readonly options?: SandboxOptions;
}

/** The options that flags stand for. A budget that is given in part keeps the rest of `--rate`. */
export function serviceOptions(flags: ServiceFlags): SandboxOptions {
  const { seed, records, pageSize, order, rate, options = {} } = flags;
  const { rateLimit = rate, ...others } = options;
  return {
    seed,
    records,
    otherRecords: Math.min(records, 500),
    pageSize,
    order,
    ...others,
    rateLimit: rate && rateLimit ? { ...rate, ...rateLimit } : rateLimit,
  };
}

/** What is served, in a line. */
export function aboutService({ records = 0, seed, rateLimit }: SandboxOptions): string {
  const count = typeof records === 'number' ? records : Object.values(records).reduce((a, b) => a + b, 0);
  const budget = rateLimit
    ? `${rateLimit.limit} requests in ${(rateLimit.windowMs ?? 0) / 1000} s for each key`
    : 'no rate limit';
  return `Sandbox of the public accounting data API: ${count} records from seed ${seed}, ${budget}.`;
}

/** Options of `createSandbox` as JSON. */
export function sandboxOptions(text: string): SandboxOptions {
  return tried(jsonObject(text), (options) => void createSandbox(options));
}

/** A fault, and beside its own fields the conditions under which it meets a request. */
export interface FaultFlag {
  readonly fault: Fault;
  readonly match: FaultMatch;
}

/** One more fault, as JSON: `{"kind":"status","status":503,"probability":0.1}`. */
export function faultList(text: string, before: readonly FaultFlag[] = []): FaultFlag[] {
  const given = jsonObject(text);
  const entries = Object.entries(given);
  const isCondition = ([name]: [string, unknown]) => Object.hasOwn(faultConditions, name);
  const flag = {
    fault: Object.fromEntries(entries.filter((entry) => !isCondition(entry))) as unknown as Fault,
    match: Object.fromEntries(entries.filter(isCondition)) as FaultMatch,
  };
  return [
    ...before,
    tried(flag, (one) => {
      // The fields of the fault and the conditions are in one object here, so an unknown name may resemble either.
      if (Object.hasOwn(sandboxFaults, one.fault.kind)) {
        const { required, optional }: FaultFields = sandboxFaults[one.fault.kind];
        const names = Object.keys({ kind: true, ...required, ...optional, ...faultConditions });
        checkNames('a fault', given, names);
      }
      addFaults(createSandbox(), [one]);
    }),
  ];
}

export function addFaults({ faults }: Sandbox, flags: readonly FaultFlag[]): void {
  for (const { fault, match } of flags) faults.add(fault, match);
}

/** What the sandbox says to a value, as an error of the argument that holds it. */
function tried<T>(value: T, use: (value: T) => void): T {
  try {
    use(value);
    return value;
  } catch (error) {
    throw new InvalidArgumentError(error instanceof Error ? error.message : String(error));
  }
}
