import { encodeText, jsonResponse, type ServiceResponse } from './message.ts';

/** The body of an error: a problem document, or what a proxy, a gateway or a router sends. */
export const ERROR_BODIES = [
  'problem',
  'html',
  'json',
  'title',
  'detail',
  'symfony',
  'spring',
  'empty',
] as const;
/** The body of an error. Named, so that the declarations list its values in the same order in every build. */
export type ErrorBody = (typeof ERROR_BODIES)[number];

/** An error that is not a problem document. `reason` is a short text such as `Not Found`. */
export function foreignError(
  body: Exclude<ErrorBody, 'problem'>,
  status: number,
  reason = '',
): ServiceResponse {
  switch (body) {
    case 'html': {
      const html = `<!doctype html><html><head><title>${reason}</title></head><body><h1>${reason}</h1></body></html>`;
      return { status, headers: { 'Content-Type': 'text/html; charset=utf-8' }, body: encodeText(html) };
    }
    case 'json':
      return jsonResponse(status, { message: reason });
    case 'title':
      return jsonResponse(status, { title: reason });
    case 'detail':
      return jsonResponse(status, { detail: reason });
    case 'symfony':
      return jsonResponse(status, { title: 'An error occurred', status, detail: reason });
    case 'spring':
      return jsonResponse(status, { status, error: reason, path: '/' });
    case 'empty':
      return { status, headers: {}, body: undefined };
  }
}
