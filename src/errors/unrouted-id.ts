import { describeForm, formOf, type IdForm } from '../schemas/id-form.ts';
import { UnexpectedResponseError } from './unexpected-response-error.ts';

/**
 * Why a 404 does not show that a record does not exist: a record whose id has the same form is listed, and cannot be
 * requested either; or none is listed, so that nothing shows whether it could be.
 */
export function unroutedId(
  segment: string,
  id: string,
  listed: string | undefined,
  cause?: Error,
): UnexpectedResponseError {
  const path = `/${segment}/${encodeURIComponent(id)}`;
  const form: IdForm = formOf(id);
  const why =
    listed === undefined
      ? `no record whose id has ${describeForm(form)} was found by its id`
      : `the record ${JSON.stringify(listed)}, which the service lists, is not found by its id either`;
  const message = `GET ${path} cannot show whether the record exists: ${why}.`;
  const hint =
    'The route of single records may not take such ids: ask the operator of the service, and compare with a list.';
  return new UnexpectedResponseError(
    message,
    { method: 'GET', path, attempts: 1, outcome: 'applied', retryable: false, hint },
    { status: 404, reason: 'unrouted_id' },
    cause && { cause },
  );
}
