import { InvalidInputError } from '../errors/invalid-input-error.ts';
import { UnexpectedResponseError } from '../errors/unexpected-response-error.ts';
import { ShapeError } from '../schemas/shape-error.ts';
import { idOf } from '../schemas/validate.ts';
import type { RequestOptions } from '../transport/call-options.ts';
import type { CollectionContext } from './context.ts';
import { castOf, sendOne } from './send-one.ts';

/**
 * Before a write by an id such as `6002-A` or `٣`: a service that casts ids to integers would change or delete record 6002
 * or 3. Such an id is read and compared first. One match of a kind is enough for a collection.
 *
 * @throws InvalidInputError if the service returns another record; what the request for the record throws.
 */
export async function probeId(
  context: CollectionContext,
  id: string,
  options: RequestOptions,
): Promise<void> {
  const { stringIds, definition, checkIds } = context;
  const cast = castOf(id);
  const proven = `${definition.segment} ${cast}`;
  if (!checkIds || cast === undefined || stringIds.has(proven)) return;
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
  stringIds.add(proven);
}
