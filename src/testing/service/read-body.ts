import { decodeText, type ServiceRequest } from '../message.ts';
import type { ResolvedSandboxOptions } from '../options.ts';
import { ProblemError } from './problem.ts';

function parse(body: Uint8Array): unknown {
  try {
    return JSON.parse(decodeText(body));
  } catch {
    throw new ProblemError('malformed_request', 'The body is not JSON in UTF-8.');
  }
}

/** Rejects a content type that the operation does not accept: API Platform with 415, the specification lists only 400. */
function checkContentType(
  { method, headers }: ServiceRequest,
  { contentTypes }: ResolvedSandboxOptions,
): void {
  const [given = ''] = (headers['content-type'] ?? '').split(';');
  const accepted =
    contentTypes === undefined
      ? ['application/json']
      : (contentTypes[method === 'PATCH' ? 'update' : 'create'] ?? ['application/json']);
  if (accepted.includes(given.trim().toLowerCase())) return;

  const error = contentTypes === undefined ? 'malformed_request' : 'unsupported_media_type';
  throw new ProblemError(error, `Content-Type must be ${accepted.join(' or ')}.`);
}

/** The JSON object in a body, or 400 (specification: Create a product, Content-Type and Body). */
export function readJsonObject(
  request: ServiceRequest,
  options: ResolvedSandboxOptions,
): Record<string, unknown> {
  checkContentType(request, options);
  const value = parse(request.body);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new ProblemError('malformed_request', 'The body must be a JSON object.');
  }
  return value as Record<string, unknown>;
}
