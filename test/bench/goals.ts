/** The goals of this package; one part of the bench measures each. */
export interface Goal {
  readonly part: PartName;
  readonly what: string;
  readonly unit: '×' | 'ms' | 'kB' | 'MB' | '%';
  readonly most: number;
}

export const partNames = [
  'lists',
  'request',
  'latency',
  'requests',
  'memory',
  'push',
  'targets',
  'cold',
  'size',
  'rate-limiter',
] as const;

export type PartName = (typeof partNames)[number];

export const goals = {
  list100: {
    part: 'lists',
    what: 'validated list, 100 a page, CPU against a bare ky loop',
    unit: '×',
    most: 1.1,
  },
  list30: {
    part: 'lists',
    what: 'validated list, 30 a page, CPU against a bare ky loop',
    unit: '×',
    most: 1.1,
  },
  request: { part: 'request', what: 'one request, CPU against a bare ky loop', unit: '×', most: 1.15 },
  ahead1: {
    part: 'latency',
    what: 'one page ahead, the worst of three consumers, against N × max(latency, consumer) + one latency',
    unit: '×',
    most: 1.1,
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
    part: 'memory',
    what: 'peak heap over a million records, against the fetch loop',
    unit: '×',
    most: 1.2,
  },
  heapGrowth: {
    part: 'memory',
    what: 'peak heap of a million records against 100,000',
    unit: '×',
    most: 1.2,
  },
  cpuGrowth: {
    part: 'memory',
    what: 'CPU a record: spread over 10,000, 100,000, a million',
    unit: '%',
    most: 15,
  },
  pushRss: {
    part: 'push',
    what: 'peak RSS of a push of 100,000 rows to as many products',
    unit: 'MB',
    most: 150,
  },
  pushHeld: {
    part: 'push',
    what: 'what that push holds, measured after garbage collection',
    unit: 'MB',
    most: 80,
  },
  targetTime: {
    part: 'targets',
    what: 'sync of a million records into SQLite, time against a fetch loop that inserts in batches',
    unit: '×',
    most: 1.5,
  },
  targetMemory: {
    part: 'targets',
    what: 'peak RSS of that sync against a tenth of the records',
    unit: '×',
    most: 1.3,
  },
  import: { part: 'cold', what: 'import of the package over bare Node', unit: 'ms', most: 15 },
  firstPage: {
    part: 'cold',
    what: 'first page from a cold start, against the fetch loop',
    unit: '×',
    most: 1.5,
  },
  atOnce: { part: 'size', what: 'bundle of a list without what loads later, gzip', unit: 'kB', most: 42 },
  all: { part: 'size', what: 'bundle of everything, gzip', unit: 'kB', most: 94 },
  tarball: { part: 'size', what: 'tarball unpacked, with the command', unit: 'kB', most: 1_950 },
  callsOfOneKey: {
    part: 'rate-limiter',
    what: 'CPU of a call among 12,000 at once of one key, against one among 3,000',
    unit: '×',
    most: 2.5,
  },
  callsOfManyKeys: {
    part: 'rate-limiter',
    what: 'the same, each call with a key of its own',
    unit: '×',
    most: 2.5,
  },
} as const satisfies Readonly<Record<string, Goal>>;

export type GoalName = keyof typeof goals;
