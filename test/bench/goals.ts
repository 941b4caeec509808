/** What this package is to reach; each is measured by one part of the bench. */
export interface Goal {
  readonly part: PartName;
  readonly what: string;
  readonly unit: '×' | 'µs' | 'ms' | 'kB' | '' | '%';
  readonly most?: number;
  readonly least?: number;
}

export const partNames = [
  'walk',
  'fixed',
  'validation',
  'latency',
  'requests',
  'growth',
  'cold',
  'size',
  'rate-gate',
  'sandbox',
] as const;

export type PartName = (typeof partNames)[number];

export const goals = {
  walk100: {
    part: 'walk',
    what: 'validated walk, 100 a page, CPU against the fetch loop',
    unit: '×',
    most: 1.15,
  },
  walk30: {
    part: 'walk',
    what: 'validated walk, 30 a page, CPU against the fetch loop',
    unit: '×',
    most: 1.25,
  },
  fixed: { part: 'fixed', what: 'fixed cost of a request, CPU against the fetch loop', unit: '×', most: 1.5 },
  validation: {
    part: 'validation',
    what: 'validation of a record on top of JSON.parse',
    unit: 'µs',
    most: 2,
  },
  ahead1: {
    part: 'latency',
    what: 'one page ahead, the worst of three consumers, against N × max(latency, consumer) + one latency',
    unit: '×',
    most: 1.05,
  },
  ahead4: {
    part: 'latency',
    what: 'four pages ahead at 50 ms, against one after another',
    unit: '×',
    most: 0.29,
  },
  ahead8: {
    part: 'latency',
    what: 'eight pages ahead at 50 ms, against one after another',
    unit: '×',
    most: 0.16,
  },
  dense: {
    part: 'requests',
    what: 'keyset list of 3,000 dense ids in id order, requests against pages',
    unit: '×',
    most: 1.35,
  },
  sparse: {
    part: 'requests',
    what: 'keyset list of 3,000 sparse ids in id order, requests against pages',
    unit: '×',
    most: 1.8,
  },
  heap: {
    part: 'growth',
    what: 'peak heap over a million records, against the fetch loop',
    unit: '×',
    most: 1.2,
  },
  heapGrowth: {
    part: 'growth',
    what: 'peak heap of a million records against 100,000',
    unit: '×',
    most: 1.2,
  },
  cpuGrowth: {
    part: 'growth',
    what: 'CPU a record: spread over 10,000, 100,000, a million',
    unit: '%',
    most: 15,
  },
  import: { part: 'cold', what: 'import of the package over bare Node', unit: 'ms', most: 12 },
  firstPage: {
    part: 'cold',
    what: 'first page from a cold start, against the fetch loop',
    unit: '×',
    most: 1.5,
  },
  atOnce: { part: 'size', what: 'bundle without what loads later, gzip', unit: 'kB', most: 15 },
  all: { part: 'size', what: 'bundle of everything, gzip', unit: 'kB', most: 50 },
  tarball: { part: 'size', what: 'tarball unpacked, without the command', unit: 'kB', most: 400 },
  fixedWindows: { part: 'rate-gate', what: 'share of the budget, fixed windows', unit: '', least: 0.97 },
  tokenBucket: { part: 'rate-gate', what: 'share of the budget, token bucket', unit: '', least: 0.95 },
  slidingCounter: { part: 'rate-gate', what: 'share of the budget, sliding counter', unit: '', least: 0.85 },
  twoProcesses: {
    part: 'rate-gate',
    what: 'share of the budget, fixed windows, two processes',
    unit: '',
    least: 0.95,
  },
  failedCalls: { part: 'rate-gate', what: 'failed calls behind a gate', unit: '', most: 0 },
  sandbox: {
    part: 'sandbox',
    what: 'requests a second of the sandbox against bare node:http',
    unit: '×',
    least: 0.5,
  },
} as const satisfies Readonly<Record<string, Goal>>;

export type GoalName = keyof typeof goals;
