import { type Client, changes, InvalidInputError, isAccountingError } from 'accounting-data-sdk';
import { isCollection } from './config.ts';
import type { Emitter, Stream } from './emitter.ts';

/** A stream that somebody chose. */
export interface ChosenStream extends Stream {
  /** Everything, instead of what changed since the last time. */
  readonly full: boolean;
  /** How far the last read came. */
  readonly checkpoint?: string | undefined;
}

/** Reads one stream after the other. One that fails does not keep the next from being read. Resolves to how many failed. */
export async function read(
  client: Client,
  streams: readonly ChosenStream[],
  emitter: Emitter,
): Promise<number> {
  let failed = 0;
  for (const stream of streams) {
    await emitter.begin(stream);
    try {
      await readStream(client, stream, emitter);
      await emitter.end(stream);
    } catch (error) {
      failed += 1;
      await emitter.fail(stream, error);
      // The key opens nothing any more.
      if (isAccountingError(error, 'unauthenticated')) return failed;
    }
  }
  return failed;
}

async function readStream(client: Client, stream: ChosenStream, emitter: Emitter): Promise<void> {
  const { name, full, checkpoint } = stream;
  if (!isCollection(name)) throw new InvalidInputError('stream', 'is not a collection of the service');
  let told = Promise.resolve();
  let latest = checkpoint;
  const batches = changes(client[name], {
    // The platform keeps the state. It is told when the records of a batch are out.
    store: {
      get: () => latest,
      set: async (_key, value) => {
        latest = value;
        await emitter.checkpoint(stream, value);
      },
    },
    tenant: 'source',
    name,
    mode: full ? 'full' : 'incremental',
    onProgress: ({ waiting, waitingUntil }) => {
      if (waiting) told = told.then(() => emitter.waiting(stream, waitingUntil));
    },
  });
  for await (const { records } of batches) {
    await told;
    await emitter.records(stream, records);
  }
}
