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
  heap: { what: 'heap in use in a list of a million records, against the fetch loop', unit: '×', most: 1.5 },
  heapGrowth: { what: 'heap in use in a list of a million records, against 100,000', unit: '×', most: 1.1 },
  rss: { what: 'peak RSS of a list of a million records, against the fetch loop', unit: '×', most: 1.4 },
  cpuGrowth: { what: 'CPU a record: spread over 10,000, 100,000, a million', unit: '%', most: 15 },
  import: { what: 'import of the package over bare Node', unit: 'ms', most: 20 },
  firstPage: { what: 'first page from a cold start, against the fetch loop', unit: '×', most: 1.6 },
  callsOfOneKey: {
    what: 'CPU of a call among 12,000 at once of one key, against one among 3,000',
    unit: '×',
    most: 2.5,
  },
  failedCalls: { what: 'failed calls of all processes that share a quota', unit: '×', most: 0 },
  callsOfManyKeys: { what: 'the same, each call with a key of its own', unit: '×', most: 2.5 },
} as const satisfies Readonly<Record<string, Goal>>;

export type GoalName = keyof typeof goals;
