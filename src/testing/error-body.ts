import { is } from './checks.ts';
import { encodeText, jsonResponse, type ServiceResponse } from './message.ts';

/** The body of an error that is not a problem document: a string is sent as HTML, an object as JSON. */
export type ErrorBody = string | Readonly<Record<string, unknown>>;

export const errorBody = is.check<ErrorBody>(
  'a string, which is sent as HTML, or an object, which is sent as JSON',
  (body) => is.string.allows(body) || is.object.allows(body),
);

/** A response of a proxy, a gateway or a router. An empty string stands for no body. */
export function foreignResponse(status: number, body: ErrorBody = ''): ServiceResponse {
  if (typeof body === 'object') return jsonResponse(status, body);
  if (body === '') return { status, headers: {}, body: undefined };
  return { status, headers: { 'Content-Type': 'text/html; charset=utf-8' }, body: encodeText(body) };
}
