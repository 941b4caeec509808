/** What a client of the bench reads: an origin that serves records in pages. */
export interface Source {
  readonly origin: string;
  readonly pageSize: number;
}

/** Called for each record; returns false to stop. */
type Visit = (record: { readonly id: string }) => boolean;

/** Reads all records, page after page, as users of the client do. */
export type ReadAll = (source: Source, visit: Visit) => Promise<void>;

export const API_KEY = 'key-of-the-bench';
