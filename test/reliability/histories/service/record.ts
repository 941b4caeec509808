/** A record of the model of the service. Its id and its version name a state of it. */
export type SimRecord = {
  readonly id: string;
  /** Counts the writes to this record. */
  readonly version: number;
  /** When it was written, to the second; not when it became visible. */
  readonly updatedAt: string;
};

/** Names a version of a record. */
export const versionOf = ({ id, version }: SimRecord): string => `${id}@${version}`;
