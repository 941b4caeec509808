import type { FaultyFetchRule, SandboxOptions } from 'accounting-data-sdk/testing';
import { LIST_ORDERS } from '../../../schemas/service-forms.ts';

/** What the controls say about the sandbox of the page. */
export interface Settings {
  readonly seed: number;
  readonly records: number;
  readonly pageSize: number;
  readonly order: NonNullable<SandboxOptions['order']>;
  /** Requests in three seconds; 0 for no limit. */
  readonly quota: number;
  /** How long a response takes. */
  readonly responseMs: number;
  readonly fault: FaultName;
}

export type FaultName = keyof typeof FAULTS;

/** One fault to choose. */
export const FAULTS = {
  none: undefined,
  'lost response': { fault: { kind: 'lost-response', committed: true }, method: 'POST', times: 1 },
  'two times 503': { fault: { kind: 'status', status: 503 }, skip: 1, times: 2 },
  'cut body': { fault: { kind: 'disconnect', in: 'body' }, method: 'GET', times: 1 },
  'stalled response': { fault: { kind: 'stall' }, method: 'GET', skip: 1, times: 1 },
} as const satisfies Readonly<Record<string, FaultyFetchRule | undefined>>;

/** Those of the tests of the guides, so that a snippet prints here what it prints there. */
export const DEFAULTS: Settings = {
  seed: 3,
  records: 140,
  pageSize: 30,
  order: 'id-asc',
  quota: 0,
  responseMs: 0,
  fault: 'none',
};

/** The options of the page's own sandbox. */
export function sandboxOptions({ seed, records, pageSize, order, quota }: Settings): SandboxOptions {
  return {
    seed,
    records,
    pageSize,
    order,
    requiredFields: ['name'],
    ...(quota > 0 && { rateLimit: { limit: quota, windowMs: 3_000, kind: 'fixed-from-first' } }),
  };
}

/** Settings from a link, with the default for what is missing or invalid. */
export function settingsOf(given: unknown): Settings {
  const { seed, records, pageSize, order, quota, responseMs, fault } = (
    typeof given === 'object' && given !== null ? given : {}
  ) as Partial<Record<keyof Settings, unknown>>;
  const whole = (value: unknown, usual: number, least: number, most: number) =>
    Number.isSafeInteger(value) ? Math.min(most, Math.max(least, value as number)) : usual;
  return {
    seed: whole(seed, DEFAULTS.seed, 0, 1_000_000),
    records: whole(records, DEFAULTS.records, 0, 20_000),
    pageSize: whole(pageSize, DEFAULTS.pageSize, 1, 1_000),
    order: LIST_ORDERS.find((name) => name === order) ?? DEFAULTS.order,
    quota: whole(quota, DEFAULTS.quota, 0, 10_000),
    responseMs: whole(responseMs, DEFAULTS.responseMs, 0, 10_000),
    fault: (Object.keys(FAULTS) as FaultName[]).find((name) => name === fault) ?? DEFAULTS.fault,
  };
}
