/** A module could not be loaded: bundlers put it into a file of its own, which a browser may fail to get. */
export class LoadError extends Error {
  /** The name of the error, such as `TypeError`. Its message may contain the URL of a file. */
  readonly reason: string | undefined;

  constructor(error: unknown) {
    super('a module could not be loaded');
    this.reason = error instanceof Error ? error.name : undefined;
  }
}

/** Loads something with its first use. If that fails, it rejects with a LoadError, and the next use tries again. */
export function loadOnce<Loaded>(load: () => Promise<Loaded>): () => Promise<Loaded> {
  let loading: Promise<Loaded> | undefined;
  return () => {
    loading ??= load().catch((error: unknown) => {
      loading = undefined;
      throw new LoadError(error);
    });
    return loading;
  };
}
