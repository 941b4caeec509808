import { InvalidInputError } from '../errors/invalid-input-error.ts';
import { UnexpectedResponseError } from '../errors/unexpected-response-error.ts';
import { ShapeError } from '../schemas/shape-error.ts';
import { idOf } from '../schemas/validate.ts';
import type { RequestOptions } from '../transport/call-options.ts';
import type { CollectionContext } from './context.ts';
import { isCastable, sendOne } from './send-one.ts';

/**
 * Before a write by an id such as `6002-A`: a service that casts ids to integers would change or delete record 6002.
 * Such an id is read and compared first. One match is enough for a collection: its service compares ids as strings.
 *
 * @throws InvalidInputError if the service returns another record; what the request for the record throws.
 */
export async function probeId(
  context: CollectionContext,
  id: string,
  options: RequestOptions,
): Promise<void> {
  const { stringIds, definition, checkIds } = context;
  if (!checkIds || !isCastable(id) || stringIds.has(definition.segment)) return;
  const read = (body: unknown) => {
    if (idOf(body) === undefined) throw new ShapeError('wrong_shape', ['id: expected a string']);
  };
  try {
    // `onResponse` is for the response to the write.
    const { onResponse: _, ...others } = options;
    await sendOne(context, { method: 'GET', id, expected: { kind: 'json', read } }, others);
  } catch (error) {
    if (!(error instanceof UnexpectedResponseError) || error.reason !== 'wrong_record') throw error;
    throw new InvalidInputError(
      'id',
      `is not the id of a record: the service returned record ${JSON.stringify(error.recordId)} for it, so the write would change that one`,
    );
  }
  stringIds.add(definition.segment);
}
