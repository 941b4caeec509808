import { given } from '../input/checks.ts';
import { is, type OptionInputs, optional } from '../internal/options.ts';
import { listOptions } from '../pagination/list-options.ts';
import { ShapeError } from '../schemas/shape-error.ts';
import { withStringId } from '../schemas/unreadable-id.ts';
import { idOf } from '../schemas/validate.ts';
import { callSettings, type RequestOptions, requestOptions } from '../transport/call-options.ts';
import { checkIdempotencyKey } from '../transport/idempotency-key.ts';
import type { ApiRequest, Expected } from '../transport/request.ts';
import type { CollectionContext } from './context.ts';

const ownOptions = {
  /**
   * Names this intended create, so that repeating it creates no second record: see `idempotencyKeyFor`. Default: a
   * random key, generated before the first attempt and found on the error if the create fails.
   */
  idempotencyKey: optional(is.verified<string>(checkIdempotencyKey)),
};

export const createOptions = { ...requestOptions, ...ownOptions };

/** Options of a create. */
export interface CreateOptions extends RequestOptions, OptionInputs<typeof ownOptions> {}

/** An option of lists has no effect on a call for one record, nor has a create's key on another call. */
export const ELSEWHERE = [
  { names: listOptions, advice: 'It is an option of list.' },
  { names: createOptions, advice: 'It is an option of create.' },
];

/** Checks the options of a call for one record; `of` is the method. */
export function checkedOptions(options: RequestOptions, of: string): RequestOptions {
  return given(requestOptions, options, { of, elsewhere: ELSEWHERE });
}

/** The record that is due in a response. */
export function expectedRecord({
  records,
  definition,
  stringIds,
}: CollectionContext): Expected<{ id: string }> {
  return {
    kind: 'json',
    read(body) {
      const record = records.one(body);
      const cast = castOf(idOf(body));
      if (cast !== undefined) stringIds.add(`${definition.segment} ${cast}`);
      return record;
    },
  };
}

/**
 * How a service could read a number of this id that is another id: by casting a text to it, or by rounding a number that a
 * double does not hold. Undefined if it is neither. What is cast begins with a digit of any script, after blanks, signs and
 * whatever a service drops, so only a letter at the start rules it out.
 */
export function castOf(id: string | undefined): 'text' | 'number' | undefined {
  if (id === undefined || /^[a-z_]/i.test(id)) return undefined;
  if (!/^(?:0|-?[1-9]\d*)$/.test(id)) return 'text';
  return Number.isSafeInteger(Number(id)) ? undefined : 'number';
}

interface RecordRequest<R>
  extends Pick<ApiRequest<R>, 'method' | 'body' | 'idempotencyKey' | 'expected' | 'isResult'> {
  /** Already checked; none for a create. */
  readonly id?: string;
}

/** Sends a request to a collection, or to the record of an id. */
export async function sendOne<R>(
  context: CollectionContext,
  { id, expected, ...request }: RecordRequest<R>,
  options: RequestOptions,
): Promise<R> {
  const { definition, transport, settings, forms } = context;
  const { segment } = definition;
  const { value } = await transport.send({
    ...request,
    expected: ofRecord(expected, id, context),
    path: id === undefined ? [segment] : [segment, id],
    template: id === undefined ? `/${segment}` : `/${segment}/{id}`,
    formWasFound: id === undefined ? undefined : () => forms.wasFound(segment, id),
    settings: callSettings(settings, options),
    options,
  });
  return value;
}

/**
 * A response to a request for one record must be that record: a service that casts ids to numbers returns record 6002 for
 * `6002-A`; it may write the same id in another case. The one check for reads, writes and the look-ups of runs.
 */
function ofRecord<R>(
  expected: Expected<R>,
  id: string | undefined,
  { ids, checkIds, forms, definition }: CollectionContext,
): Expected<R> {
  const isChecked = checkIds && id !== undefined;
  const check = (body: unknown) => {
    if (ids === 'numbers') withStringId(body);
    const found = idOf(body);
    if (isChecked && found !== undefined && found.toLowerCase() !== id.toLowerCase()) {
      const issue = `id: expected the one requested, not ${JSON.stringify(found)}`;
      throw new ShapeError('wrong_record', [issue], { recordId: found });
    }
    if (found !== undefined && id !== undefined) forms.found(definition.segment, found);
    return found;
  };
  if (expected.kind === 'json') {
    const read = (body: unknown) => {
      check(body);
      return expected.read(body);
    };
    return { ...expected, read };
  }
  // The response to a delete may have no body, or the record that was deleted.
  const checkDeleted = (body: unknown) => {
    if (check(body) === undefined && isChecked)
      throw new ShapeError('wrong_shape', ['id: expected the one requested']);
  };
  return { ...expected, check: checkDeleted };
}
