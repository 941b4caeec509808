/** A goal of this package, which one part of the bench measures. */
export interface Goal {
  readonly what: string;
  readonly unit: '×' | 'ms' | 'MB' | '%';
  readonly most: number;
}

export const goals = {
  list100: { what: 'validated list, 100 a page, CPU against a bare ky loop', unit: '×', most: 1.15 },
  list30: { what: 'validated list, 30 a page, CPU against a bare ky loop', unit: '×', most: 1.15 },
  request: { what: 'one request, CPU against a bare ky loop', unit: '×', most: 1.1 },
  ahead1: {
    what: 'one page ahead, the worst of three consumers, against N × max(latency, consumer) + one latency',
    unit: '×',
    most: 1.1,
  },
  ahead4: { what: 'four pages ahead at 50 ms, against one after another', unit: '×', most: 0.29 },
  ahead8: { what: 'eight pages ahead at 50 ms, against one after another', unit: '×', most: 0.16 },
  keysetAhead4: {
    what: 'keyset, 60 pages, four ahead at 50 ms, against one after another',
    unit: '×',
    most: 0.33,
  },
  keysetAhead4Long: { what: 'the same with 300 pages', unit: '×', most: 0.3 },
  keysetAhead4Deleted: { what: 'the same with 60 pages and 30 % of the ids deleted', unit: '×', most: 0.4 },
  keysetRequests: { what: 'requests of these reads with dense ids, against by page', unit: '×', most: 1.45 },
  keysetRequestsDeleted: { what: 'requests with 30 % of the ids deleted', unit: '×', most: 1.65 },
  heap: { what: 'heap in use in a list of a million records, against the fetch loop', unit: '×', most: 1.5 },
  heapGrowth: { what: 'heap in use in a list of a million records, against 100,000', unit: '×', most: 1.1 },
  rss: { what: 'peak RSS of a list of a million records, against the fetch loop', unit: '×', most: 1.4 },
  cpuGrowth: { what: 'CPU a record: spread over 10,000, 100,000, a million', unit: '%', most: 15 },
  pushRss: {
    what: 'peak RSS of a push of 100,000 rows to as many products, against the list of these alone',
    unit: '×',
    most: 2,
  },
  pushHeld: { what: 'what that push holds, measured after garbage collection', unit: 'MB', most: 80 },
  targetTime: {
    what: 'sync of a million records into SQLite, time against a fetch loop that inserts in batches',
    unit: '×',
    most: 1.5,
  },
  marksTime: { what: 'full read into that copy with marks, time against one without', unit: '×', most: 1.3 },
  targetMemory: { what: 'peak RSS of that sync against a tenth of the records', unit: '×', most: 1.3 },
  import: { what: 'import of the package over bare Node', unit: 'ms', most: 20 },
  firstPage: { what: 'first page from a cold start, against the fetch loop', unit: '×', most: 1.6 },
  callsOfOneKey: {
    what: 'CPU of a call among 12,000 at once of one key, against one among 3,000',
    unit: '×',
    most: 2.5,
  },
  callsOfManyKeys: { what: 'the same, each call with a key of its own', unit: '×', most: 2.5 },
} as const satisfies Readonly<Record<string, Goal>>;

export type GoalName = keyof typeof goals;
