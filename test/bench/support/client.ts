/** What a client of the bench reads: an origin that serves records, so many a page. */
export interface Source {
  readonly origin: string;
  readonly pageSize: number;
}

/** Told of each record; false ends the walk. */
export type Visit = (record: { readonly id: string }) => boolean;

/** Walks all records, page after page, as users of the client do. */
export type WalkClient = (source: Source, visit: Visit) => Promise<void>;

export const API_KEY = 'key-of-the-bench';
